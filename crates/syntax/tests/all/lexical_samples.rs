//! A small source of each language without a grammar.

pub const CSHARP: &str = r##"using System;

namespace Shop
{
    /// <summary>Counts items.</summary>
    [Serializable]
    public class Basket : List<string>
    {
        private readonly string _path = @"C:\";

        [Obsolete("use Add")]
        public int Count(int from, char mark = '{')
        {
            #if DEBUG
            if (from > 0)
            {
            #else
            if (from > 1)
            {
            #endif
                Console.WriteLine($"{from} {{ {Name("a}")}");
            }
            return from;
        }

        public string Name(string text) => text
            .Trim();
    }
}
"##;

pub const PHP: &str = r##"<html>
<?php

namespace Shop;

/**
 * Counts items.
 */
#[Attribute]
final class Basket extends Base
{
    // It's "here" {
    private array $items = [
        'a' => 1,
        'b' => [2, 3],
    ];

    public function count(int $from): int
    {
        if ($from > 1) {
            echo "{$this->items['a']} }";
        } else {
            echo <<<EOT
                Text } with '
                EOT;
        }
        return count($this->items); # }
    }
}
?>
</html>
"##;

pub const RUBY: &str = r##"require 'set'

module Shop
  # Counts items.
  class Basket
    MARKS = %w[end { do].freeze

    def initialize(items = {})
      @items = items
      return if items.empty?

      @size = items.map do |name, count|
        "#{name.tr('"', "}")} #{count / 2} end"
      end
    end

    def empty? = @items.empty?

    def text
      unless @items.any? { |item| item =~ /[\/"]+ end/ }
        x = if @size then 1 else 2 end
        while x < 3 do
          x += 1 if x
        end
      end
      <<~TEXT
        if "this
      TEXT
    end
  end
end
"##;

pub const KOTLIN: &str = r##"package shop

/* Counts /* nested */ { items. */
@Serializable
class Basket(
    private val items: List<String>,
) : Base() {
    /** Its size. */
    @Deprecated("use size")
    fun count(from: Int = 0, mark: Char = '{'): Int {
        val text = """
            { "${items.joinToString("}") { it.trim() }}
        """.trimIndent()
        return when (from) {
            0 -> text.length
            else -> items
                .filter { it != "a" }
                .size
        }
    }

    fun `is empty`() = items.isEmpty()
}
"##;

pub const SWIFT: &str = r##"import Foundation

/// Counts items.
@objc
final class Basket: NSObject {
    private let items: [String]

    /// From a list.
    init(items: [String]) {
        self.items = items
    }

    #if DEBUG
    func count(from: Int) -> Int {
    #else
    func count(from: Int, to: Int) -> Int {
    #endif
        let text = """
        { "\(items.map { "\($0)}" }.joined())
        """
        guard from > 0 else {
            return #"\{"#.count
        }
        return text.count
    }
}
"##;

pub const SHELL: &str = r##"#!/usr/bin/env bash
set -euo pipefail

# Builds all of it.
build() {
  local name=${1:-"}"} # a } comment
  for target in "$@"; do
    if [[ $target == *[!a-z]* ]]; then
      echo "bad: $(basename "$target" ")") if" >&2
    elif (( ${#target} > 3 )); then
      case $target in
        linux|mac) echo done ;;
        *)
          return 1
          ;;
      esac
    fi
  done
}

cat <<-'EOF'
	if { it's
	EOF
build "$@" \
  | sort
"##;

pub const SCSS: &str = r##"@use 'sass:math';

$space: 4px;

// It's a mixin {
@mixin row($gap: $space) {
  display: flex;

  &:hover > .item {
    background: url(http://a.b/c.png);
  }
}

.list-#{$space} {
  @include row;
  width: math.div(100%, 3);
}
"##;

pub const LESS: &str = r##"@space: 4px;

.row(@gap: @space) when (@gap > 1px) {
  margin: ~"calc(1px + @{gap})";

  // }
  .item {
    .mixin();
  }
}
"##;

pub const HTML: &str = r##"<!DOCTYPE html>
<html>
  <head>
    <meta charset="utf-8">
    <style>
      a { color: red }
    </style>
    <script>
      if (a < b) { c("</div>") }
    </script>
  </head>
  <body>
    <!-- <div> -->
    <div id="main" class="a > b">
      <p>One
      <p>Two {{ if (a) { "<b>" } }}
      <img src="a.png">
      <ul>
        <li>1
        <li>2</li>
      </ul>
    </div>
  </body>
</html>
"##;

pub const XML: &str = r##"<?xml version="1.0"?>
<!DOCTYPE project [<!ENTITY a "b">]>
<project name="shop">
  <!-- <target> -->
  <target name="build"
          depends="init">
    <exec a="x > y"/>
    <![CDATA[ </target> ]]>
  </target>
</project>
"##;

pub const LUA: &str = r##"local M = {}

--[[ Counts
end ]]
--- Its size.
function M.count(items)
  local text = [==[ end ]] ]==]
  for _, item in ipairs(items) do
    if item == "end" then
      return 1
    elseif not item then
      text = text .. 'x'
    end
  end
  repeat
    local f = function() return 1 end
  until f() == 1
  return #text
end

M.options = {
  a = 1,
  b = {
    c = 2,
  },
}

return M
"##;

pub const TERRAFORM: &str = r##"variable "name" {
  type    = string
  default = "a-${lookup({ a = "}" }, "a")}"
}

# It's a bucket {
resource "aws_s3_bucket" "main" {
  bucket = var.name

  tags = {
    Name = "x"
  }
  policy = <<-EOT
    { "a": "
  EOT
}
"##;

pub const SQL: &str = r##"-- It's a table (
CREATE TABLE items (
  id integer NOT NULL,
  name text DEFAULT 'it''s (',
  note text DEFAULT 'it\'s'
);

CREATE FUNCTION count_items() RETURNS integer AS $$
BEGIN
  RETURN (SELECT count(*) FROM items);
END;
$$ LANGUAGE plpgsql;

INSERT INTO items (id, name)
VALUES (1, 'a'),
       (2, 'b');
"##;

pub const DOCKERFILE: &str = r##"# It's an image
FROM debian:12 AS build

RUN set -eux; \
    apt-get update; \
    # A comment (
    if [ "$(uname -m)" = "x86_64" ]; then \
      echo "a)"; \
    fi

CMD ["sh", "-c", "true"]
"##;

pub const DART: &str = r##"import 'dart:io';

/// Counts items.
@immutable
class Basket extends StatelessWidget {
  const Basket({super.key, required this.items});

  final List<String> items;

  @override
  Widget build(BuildContext context) {
    final text = '''
      { ${items.map((item) => "}$item").join()}
    ''';
    return Column(
      children: [
        Text(r'\'),
        Text("$text }"),
      ],
    );
  }
}
"##;

pub const SCALA: &str = r##"package shop

/** Counts items. */
final case class Basket(items: List[String]) extends Base with Other {
  // It's {
  def count(from: Int, mark: Char = '{'): Int = {
    val text = s"""${items.map(item => s"}$item").mkString} "{ """
    from match {
      case 0 => 1
      case _ =>
        items
          .map(_.length)
          .sum
    }
  }
}

object Basket {
  val empty: Basket =
    Basket(Nil)
}
"##;

pub const ELIXIR: &str = r##"defmodule Shop.Basket do
  @moduledoc """
  Counts "items". end
  """

  @doc "Its size."
  @spec count(list(), integer()) :: integer()
  def count(items, from \\ 0) when is_list(items) do
    mark = ?"
    size = Enum.map(items, fn item -> "#{item |> f("}")} do" end)

    if from > 0, do: size, else: mark
    ~r/end "{/
  end

  def empty?(%{items: items}), do: items == []

  defp run(items) do
    case items do
      [] ->
        :end

      _ ->
        items
        |> Enum.map(& &1)
    end
  end
end
"##;

pub const GROOVY: &str = r##"plugins {
    id 'java'
}

// It's {
def shout(String text) {
    return text.replaceAll(/[{"]/, "${text + '}'}")
}

tasks.register('check') {
    doLast {
        println """
            { "
        """
    }
}
"##;

pub const ZIG: &str = r##"const std = @import("std");

/// Counts items {
pub fn count(items: []const u8) usize {
    const text =
        \\ { "
        \\ }
    ;
    if (items.len > '{') {
        return text.len;
    }
    return 0;
}

test "count" {
    try std.testing.expect(count("}") == 0);
}
"##;

pub const PROTOBUF: &str = r##"syntax = "proto3";

// It's {
message Basket {
  repeated string items = 1;

  enum Kind {
    SMALL = 0;
  }
}

service Shop {
  rpc Count(Basket) returns (Basket) {
    option a = "}";
  }
}
"##;

pub const GRAPHQL: &str = r##""""
Counts "items" {
"""
type Basket {
  items(first: Int = 10): [String!]! # }
}

query Items {
  basket {
    items
  }
}
"##;

pub const POWERSHELL: &str = r##"<# Builds {
#>
function Build-All {
    param(
        [string]$Name = "a`"}",
        [switch]$Force
    )
    if ($Force) {
        Write-Host "$(Get-Item "}") {" # }
    }
    else {
        Write-Host @"
        { "it's
"@
    }
}
"##;
