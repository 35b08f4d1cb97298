//! A small source of each language, as one meets them.

use crate::lexical_samples::*;

/// File name and text; all of them are clean.
pub const SAMPLES: &[(&str, &str)] = &[
    ("queue.js", JAVASCRIPT),
    ("store.ts", TYPESCRIPT),
    ("panel.tsx", TSX),
    ("ledger.py", PYTHON),
    ("pool.rs", RUST),
    ("router.go", GO),
    ("Basket.java", JAVA),
    ("config.json", JSON),
    ("page.css", CSS),
    ("build.toml", TOML),
    ("deploy.yaml", YAML),
    ("ring.c", C),
    ("shape.cpp", CPP),
    ("Counter.vue", VUE),
    ("Toggle.svelte", SVELTE),
    ("Basket.cs", CSHARP),
    ("Basket.php", PHP),
    ("basket.rb", RUBY),
    ("Basket.kt", KOTLIN),
    ("Basket.swift", SWIFT),
    ("release.sh", SHELL),
    ("page.scss", SCSS),
    ("page.less", LESS),
    ("page.html", HTML),
    ("build.xml", XML),
    ("basket.lua", LUA),
    ("main.tf", TERRAFORM),
    ("schema.sql", SQL),
    ("Dockerfile", DOCKERFILE),
    ("basket.dart", DART),
    ("Basket.scala", SCALA),
    ("basket.ex", ELIXIR),
    ("build.gradle", GROOVY),
    ("basket.zig", ZIG),
    ("basket.proto", PROTOBUF),
    ("schema.graphql", GRAPHQL),
    ("release.ps1", POWERSHELL),
];

pub const JAVASCRIPT: &str = r#"import { readFile } from 'node:fs/promises'

// Waits for room.
export class Queue {
  #items = []

  /**
   * Adds one.
   */
  push(item) {
    if (this.#items.length > 10) {
      throw new Error(`full: ${this.#items.length} items`)
    } else if (item === undefined) {
      return
    } else {
      this.#items.push(item)
    }
  }
}

export const load = async (path) => {
  const text = await readFile(path, 'utf8')
  return text
    .split('\n')
    .filter((line) => line !== '')
}

const routes = {
  home: {
    path: '/',
    run() {
      return 1
    },
  },
  about: { path: '/about' },
}

switch (routes.home.path) {
  case '/':
    load('a')
    break
  default:
    load('b')
}

describe('Queue', () => {
  it('takes items', () => {
    new Queue().push(1)
  })
})
"#;

pub const TYPESCRIPT: &str = r#"import type { Item } from './item'

@Injectable({
  scope: 'request',
})
export class Store<T extends Item> {
  @Input()
  name = ''

  private readonly items = new Map<string, T>()

  @Hook() find(
    key: string,
  ): T | undefined {
    return this.items.get(key)
  }
}

export interface Options {
  limit?: number
  keys: readonly string[]
}

export type Result<T> =
  | { ok: true; value: T }
  | { ok: false; error: string }

enum Level {
  Low = 1,
  High,
}

namespace Inner {
  export function cast<T>(value: unknown): T {
    return value as T
  }
}
"#;

pub const TSX: &str = r#"import { useState } from 'react'

export function Panel({ title }: { title: string }) {
  const [open, setOpen] = useState(false)
  return (
    <section
      className="panel"
    >
      <h2 onClick={() => setOpen(!open)}>{title}</h2>
      {open && (
        <p>
          Some text
          in two lines
        </p>
      )}
    </section>
  )
}
"#;

pub const PYTHON: &str = r#"#!/usr/bin/env python3
# What a ledger is.
import os


@dataclass
@register(
    "ledger",
)
class Ledger:
    """A ledger.

    With several lines.
    """

    # The entries.
    def add(self, entry, *, when=None):
        if entry is None:
            return
        elif when:
            self.late.append(entry)
        else:
            self.entries.append(entry)
            # Sorted later.

    async def total(self):
        try:
            return sum(
                entry.amount
                for entry in self.entries
            )
        except (TypeError, ValueError) as error:
            raise LedgerError(f"bad: {error!r}") from error
        finally:
            self.close()


match os.name:
    case "nt":
        SEP = "\\"
    case _:
        SEP = "/"


def test_total():
    assert Ledger().total() == 0
"#;

pub const RUST: &str = r##"//! A pool of buffers.

use std::sync::Mutex;

/// Buffers that are kept.
#[derive(Debug, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize)
)]
pub struct Pool {
    free: Mutex<Vec<Vec<u8>>>,
}

impl Pool {
    /// Takes one.
    pub fn take(&self, size: usize) -> Vec<u8> {
        let mut free = self.free.lock().unwrap();
        match free.pop() {
            Some(mut buffer) => {
                buffer.clear();
                buffer
            }
            None => Vec::with_capacity(size),
        }
    }

    fn text() -> &'static str {
        r#"
        fn inner() {
        }
        "#
    }
}

impl<T: Into<Vec<u8>>> From<T> for Pool {
    fn from(first: T) -> Self {
        if true {
            Pool { free: Mutex::new(vec![first.into()]) }
        } else {
            Pool::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes() {
        assert!(Pool::default().take(1).is_empty());
    }
}
"##;

pub const GO: &str = r#"package router

import (
	"errors"
	"net/http"
)

// Router finds handlers.
type Router struct {
	routes map[string]http.Handler
}

var errMissing = errors.New("missing")

// Find returns one.
func (r *Router) Find(path string) (http.Handler, error) {
	handler, ok := r.routes[path]
	if !ok {
		return nil, errMissing
	}
	switch path {
	case "/":
		return handler, nil
	default:
	}
	go func() {
		handler.ServeHTTP(nil, nil)
	}()
	return handler, nil
}

func TestFind(t *testing.T) {
	t.Skip()
}
"#;

pub const JAVA: &str = r#"package shop;

import java.util.List;

/**
 * What is bought.
 */
@Deprecated
public class Basket<T extends Item> implements Iterable<T> {
    private final List<T> items;

    @Override
    @SuppressWarnings("unchecked")
    public Iterator<T> iterator() {
        for (T item : items) {
            if (item == null) {
                continue;
            }
        }
        return items.iterator();
    }

    @Test
    void isEmpty() {
        assertTrue(new Basket<>().items.isEmpty());
    }

    enum Size {
        SMALL,
        LARGE
    }
}
"#;

pub const JSON: &str = r#"{
  "name": "shop",
  "scripts": {
    "build": "make",
    "test": "make test"
  },
  "files": [
    {
      "path": "a"
    },
    {
      "path": "b"
    }
  ],
  "private": true
}
"#;

pub const CSS: &str = r#"@import url("base.css");

/* The page. */
body,
main > p {
  color: #333;
  margin: 0 auto;
}

@media (min-width: 40em) {
  .wide::after {
    content: ">";
  }
}
"#;

pub const TOML: &str = r#"# Settings of the build.
title = "shop"

# Where it is built.
[target.linux]
flags = [
  "-O2",
  "-g",
]
# strip = true

# What goes in.
[[file]]
path = "a"

[[file]]
path = "b"
"#;

pub const YAML: &str = r#"# How it is deployed.
name: deploy
on:
  push:
    branches: [main]
  # By hand, too.
  manual:
    inputs:
      - name: stage
        default: test
      - name: force

jobs:
  build:
    runs-on: linux
    script: |
      make
        -j2

      make install
  empty: {}
"#;

pub const C: &str = r#"#include <stdlib.h>

/* A ring. */
struct ring {
    int *items;
    size_t length;
};

static int ring_push(struct ring *ring, int item)
{
    if (ring->length == 0) {
        return -1;
    }
    else
    {
        ring->items[0] = item;
    }
    return 0;
}
"#;

pub const CPP: &str = r#"namespace shape {

// A circle.
class Circle : public Shape {
public:
    explicit Circle(double radius) : radius_(radius) {
    }

    double area() const override {
        return 3.14 * radius_ * radius_;
    }

private:
    double radius_;
};

} // namespace shape
"#;

pub const VUE: &str = r#"<template>
  <button @click="add">{{ count }}</button>
</template>

<script setup lang="ts">
import { ref } from 'vue'

const count = ref<number>(0)

function add(): void {
  count.value += 1
}
</script>

<style>
button { color: red }
</style>
"#;

pub const SVELTE: &str = r#"<script>
  let open = false

  const toggle = () => {
    open = !open
  }
</script>

<button on:click={toggle}>{open}</button>
"#;
