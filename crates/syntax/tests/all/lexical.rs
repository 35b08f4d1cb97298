//! Languages without a grammar: errors, blocks, outlines.

use std::collections::BTreeMap;

use hashline_syntax::{Definition, Fault, NoBlockReason};

use crate::lexical_samples::*;
use crate::samples::{CPP, SAMPLES};
use crate::{budget, parse};

fn new_fault(name: &str, before: &str, after: &str) -> Option<Fault> {
    let old = parse(name, before);
    let new = old.reparse(after, &budget()).expect("it is short");
    new.new_fault(&old, &budget())
}

/// Lines of closing brackets, words and tags that are not in a text, by the languages' samples.
fn closing_lines(text: &str) -> impl Iterator<Item = usize> {
    let is_closing = |line: &str| {
        let line = line.trim();
        matches!(line, "end" | "fi" | "done" | "esac" | "fi)")
            || line.starts_with("</") && !line.contains("li>") && !line.contains("html>")
            || line.contains([')', ']', '}']) && line.chars().all(|one| ")]};,".contains(one))
    };
    let lines: Vec<bool> = text.lines().map(is_closing).collect();
    (0..lines.len()).filter(move |&at| lines[at])
}

/// The indentation of a line.
fn indent(text: &str, line: usize) -> usize {
    let line = text.lines().nth(line).unwrap_or_default();
    line.len() - line.trim_start().len()
}

/// The text with a line removed or repeated.
fn changed(text: &str, line: usize, is_repeated: bool) -> String {
    let lines = text.split_inclusive('\n').enumerate();
    let count = |at| match (at == line, is_repeated) {
        (true, false) => 0,
        (true, true) => 2,
        _ => 1,
    };
    lines.map(|(at, one)| one.repeat(count(at))).collect()
}

#[test]
fn a_closing_line_that_is_missing_or_repeated_is_reported() {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let is_grammar = |(name, _): &&(&str, &str)| *name != "ring.c";
    for (name, text) in SAMPLES.iter().skip_while(is_grammar) {
        // Optional tags, and a branch of the preprocessor.
        let is_excepted = |line: usize| {
            *name == "page.html"
                && text
                    .lines()
                    .nth(line)
                    .is_some_and(|one| one.contains("</head") || one.contains("</body"))
        };
        if parse(name, text).language().is_indented {
            continue;
        }
        for line in closing_lines(text).filter(|&line| !is_excepted(line)) {
            for is_repeated in [false, true] {
                let after = changed(text, line, is_repeated);
                let place = format!("{name}:{} {is_repeated}", line + 1);
                let fault = new_fault(name, text, &after).expect(&place);
                // What is in a namespace is not indented, so any of its blocks may end it.
                let is_flat = *name == "shape.cpp";
                if is_repeated {
                    let expected = if is_flat { 18 } else { line + 2 };
                    assert_eq!(fault.line as usize, expected, "{place} {fault:?}");
                } else {
                    let opened = fault.opened.unwrap_or(fault.line) as usize - 1;
                    assert!(opened < line, "{place} {fault:?}");
                    assert_eq!(indent(text, opened), indent(text, line), "{place} {fault:?}");
                }
                *counts.entry(*name).or_default() += 1;
            }
        }
    }
    assert!(counts.values().sum::<usize>() > 150, "{counts:?}");
    assert!(counts.values().all(|&count| count >= 2), "{counts:?}");
    let all = SAMPLES.iter().skip_while(is_grammar);
    let without: Vec<_> =
        all.map(|(name, _)| *name).filter(|one| !counts.contains_key(one)).collect();
    assert_eq!(without, ["Basket.scala"], "indentation decides in it");
}

/// The first line, own line and last line of a block.
fn block(name: &str, text: &str, line: u32) -> Result<(u32, u32, u32), NoBlockReason> {
    let found = parse(name, text).block(line, &budget());
    found.map(|block| (block.first, block.start, block.last)).map_err(|none| none.reason)
}

/// The number of the line that contains a text.
fn line_of(text: &str, part: &str) -> u32 {
    text[..text.find(part).unwrap_or_else(|| panic!("{part}"))].matches('\n').count() as u32 + 1
}

#[test]
fn a_block_has_its_comments_and_attributes() {
    for (name, text, start, first, last) in [
        ("a.cs", CSHARP, "public class Basket", "/// <summary>", "    }\n}\n"),
        ("a.cs", CSHARP, "public int Count", "[Obsolete", "        }\n\n        public string"),
        ("a.cs", CSHARP, "public string Name", "public string Name", ".Trim()"),
        ("a.php", PHP, "final class", "/**", "}\n?>"),
        ("a.php", PHP, "private array", "// It's", "];"),
        ("a.rb", RUBY, "class Basket", "# Counts", "  end\nend"),
        ("a.rb", RUBY, "def text", "def text", "    end\n  end\nend"),
        ("a.rb", RUBY, "unless @items", "unless @items", "      end\n      <<~TEXT"),
        ("a.kt", KOTLIN, "class Basket(", "/* Counts", "}\n-EOF-"),
        ("a.kt", KOTLIN, "fun count", "/** Its size", "    }\n\n    fun `is"),
        ("a.swift", SWIFT, "init(", "/// From", "    }\n\n    #if"),
        ("a.sh", SHELL, "build() {", "# Builds", "}\n\ncat"),
        ("a.sh", SHELL, "for target", "for target", "  done\n}"),
        ("a.sh", SHELL, "build \"$@\"", "build \"$@\"", "| sort"),
        ("a.scss", SCSS, "@mixin row", "// It's", "}\n\n.list"),
        ("a.html", HTML, "<div id", "<!-- <div>", "</div>\n  </body"),
        ("a.xml", XML, "<target name", "<!-- <target>", "</target>\n</project"),
        ("a.lua", LUA, "function M.count", "--[[ Counts", "end\n\nM.options"),
        ("a.lua", LUA, "M.options", "M.options", "}\n\nreturn"),
        ("a.tf", TERRAFORM, "resource", "# It's", "}\n-EOF-"),
        ("a.sql", SQL, "CREATE FUNCTION", "CREATE FUNCTION", "$$ LANGUAGE"),
        ("a.sql", SQL, "CREATE TABLE", "-- It's", ");\n\nCREATE"),
        ("Dockerfile", DOCKERFILE, "RUN", "RUN", "    fi\n"),
        ("a.dart", DART, "Widget build", "@override", "  }\n}\n"),
        ("a.scala", SCALA, "final case class", "/** Counts", "}\n\nobject"),
        ("a.scala", SCALA, "val empty", "val empty", "Basket(Nil)"),
        ("a.ex", ELIXIR, "def count", "@doc", "  end\n\n  def empty"),
        ("a.gradle", GROOVY, "def shout", "// It's", "}\n\ntasks"),
        ("a.zig", ZIG, "pub fn", "/// Counts", "}\n\ntest"),
        ("a.proto", PROTOBUF, "message", "// It's", "}\n\nservice"),
        ("a.graphql", GRAPHQL, "query", "query", "}\n-EOF-"),
        ("a.ps1", POWERSHELL, "function", "<# Builds", "}\n-EOF-"),
        ("a.cpp", CPP, "class Circle", "// A circle", "};\n\n}"),
    ] {
        let whole = format!("{text}-EOF-");
        let expected = (line_of(text, first), line_of(text, start), line_of(&whole, last));
        assert_eq!(block(name, text, line_of(text, start)), Ok(expected), "{name} {start}");
        assert_eq!(block(name, text, expected.0), Ok(expected), "{name} {first}");
    }
}

#[test]
fn a_block_whose_end_is_not_certain_is_refused() {
    use NoBlockReason::{Error, Nothing, Shared, Unclear};
    for (name, text, line, reason) in [
        // The indentation shows another end than the brackets.
        ("a.cs", "class A\n{\n    void B()\n    {\n}\n    }\n", 3, Unclear),
        ("a.cpp", "void a() {\n  b();\n}\n  c();\n", 1, Unclear),
        ("a.cpp", "#if A\nif (b) {\n#else\nif (c) {\n#endif\n  d();\n}\n", 2, Unclear),
        ("a.sql", "CREATE PROCEDURE a()\nBEGIN\n  SELECT 1;\nEND;\n", 1, Unclear),
        ("a.sql", "DO $$\nBEGIN\n  a;\n  IF b THEN\n    c;\n  END IF;\nEND;\n$$;\n", 4, Unclear),
        ("a.php", "<?php\nif (a):\n    b();\nendif;\n", 2, Unclear),
        ("a.rb", "a do\n  b\nend; c\n", 1, Shared),
        ("a.rb", "def a\n  b\nend\nend\n", 1, Error),
        // A part of a statement.
        ("a.rb", "x = [\n  1,\n].map do |a|\n  a\nend\n", 3, Nothing),
        ("a.swift", "a\n    .b {\n        c()\n    }\n", 2, Nothing),
        ("a.cpp", "if (a)\n{\n  b();\n}\nelse\n{\n  c();\n}\n", 5, Nothing),
        ("a.scss", "a,\nb {\n  c: d;\n}\n", 2, Nothing),
        ("a.kt", "class A\nprivate constructor(b: Int) {\n    c()\n}\n", 2, Nothing),
    ] {
        assert_eq!(block(name, text, line), Err(reason), "{text}");
    }
}

#[test]
fn a_statement_of_several_parts_is_one_block() {
    for (name, text, last) in [
        ("a.cpp", "if (a)\n  b();\nelse\n  c();\n", 4),
        ("a.cpp", "do {\n  a();\n}\nwhile (b);\n", 4),
        ("a.cpp", "template <class T>\nclass A : B {\n};\n", 3),
        ("a.kt", "val a = if (b) {\n    c\n} else {\n    d\n}\n", 5),
        ("a.swift", "a\n    .b {\n        c()\n    }\n    .d()\n", 5),
        ("a.lua", "for a in b\ndo\n  c()\nend\n", 4),
        ("a.sh", "for a in b; do\n  c\ndone | sort\n", 3),
        ("a.ps1", "Try\n{\n    a\n}\nCatch\n{\n    b\n}\n", 8),
        ("a.ex", "x =\n  case a do\n    1 -> 2\n  end\n", 4),
        ("a.swift", "func a(b: C)\n    -> D\n{\n    e\n}\n", 5),
        ("a.kt", "if (a) {\n    b++\n}\nelse {\n    c\n}\n", 6),
        ("a.rb", "a do |b|\n  c\nend.d do\n  e\nend\n", 5),
        ("a.scala", "object Main:\n  def a =\n    b\n\nend Main\n", 5),
        ("a.scala", "for\n  a <- b\nyield\n  a\nc\n", 4),
        ("a.scala", "val a = b match\n  case 1 =>\n    2\n  case _ => 3\nval c = 4\n", 4),
        ("a.gradle", "default {\n    a = 1\n}\n", 3),
    ] {
        assert_eq!(block(name, text, 1), Ok((1, 1, last)), "{text}");
    }
}

/// The first statement of indented lines had no block.
#[test]
fn indented_lines_begin_with_a_block() {
    let text = "object Main:\n  def a(b: Int) =\n    b match\n      case 1 =>\n        c\n      case _ => d\n\n  \
                def e =\n    try\n      f()\n    catch case g => h\n    if i then\n      j\n    else\n      k\nend Main\n";
    let lines = [(1, 16), (2, 6), (3, 6), (8, 15), (9, 11), (12, 15)];
    for (line, last) in lines {
        assert_eq!(block("a.scala", text, line), Ok((line, line, last)), "{line}");
    }
    for line in (1..=16).filter(|line| !lines.iter().any(|one| one.0 == *line)) {
        assert!(block("a.scala", text, line).is_err(), "{line}");
    }
}

/// One wrong tag refused all blocks of a page.
#[test]
fn an_element_away_from_a_fault_is_a_block() {
    let text =
        "<div>\n  <ul>\n    <li>a</li>\n  </ul>\n  <b>\n</div>\n</p>\n<div>\n  <i>\n</div>\n";
    assert_eq!(block("a.html", text, 2), Ok((2, 2, 4)));
    for line in [1, 5, 8, 9] {
        assert_eq!(block("a.html", text, line), Err(NoBlockReason::Error), "{line}");
    }
}

/// A name for each definition, with its lines, indented by depth.
fn definitions(name: &str, text: &str) -> Vec<String> {
    let outline = parse(name, text).outline(&budget()).unwrap();
    let row = |one: &Definition| {
        format!("{}{} {}-{}", " ".repeat(one.depth as usize), one.name, one.first, one.last)
    };
    outline.definitions.iter().map(row).collect()
}

#[test]
fn names_of_definitions() {
    for (name, text, expected) in [
        ("a.cpp", CPP, &["shape 1-17", " Circle 4-15", "  Circle 6-7", "  area 9-11"][..]),
        ("a.cs", CSHARP, &["Shop 3-29", " Basket 7-28", "  Count 12-24", "  Name 26-27"][..]),
        ("a.php", PHP, &["Basket 10-29", " count 18-28"][..]),
        (
            "a.rb",
            RUBY,
            &["Shop 3-31", " Basket 5-30", "  initialize 8-15", "  empty? 17-17", "  text 19-29"][..],
        ),
        ("a.kt", KOTLIN, &["Basket 5-23", " count 10-20", " is empty 22-22"][..]),
        ("a.swift", SWIFT, &["Basket 5-26", " init 9-11", " count 14-25", "  count 16-16"][..]),
        ("a.sh", SHELL, &["build 5-19"][..]),
        ("a.scss", SCSS, &["row 6-12", " &:hover > .item 9-11", ".list-#{$space} 14-17"][..]),
        ("a.html", HTML, &["div#main 14-22"][..]),
        ("a.xml", XML, &["shop 3-10", " build 5-9"][..]),
        ("a.lua", LUA, &["M.count 6-19", " f 16-16"][..]),
        ("a.tf", TERRAFORM, &["name 1-4", "aws_s3_bucket.main 7-16"][..]),
        ("a.sql", SQL, &["items 2-6", "count_items 8-12"][..]),
        ("Dockerfile", DOCKERFILE, &["build 2-2"][..]),
        ("a.dart", DART, &["Basket 5-22", " build 11-21"][..]),
        ("a.scala", SCALA, &["Basket 4-16", " count 6-15", "Basket 18-21"][..]),
        ("a.ex", ELIXIR, &["Shop.Basket 1-28", " count 8-14", " empty? 16-16", " run 18-27"][..]),
        ("a.gradle", GROOVY, &["shout 6-8"][..]),
        ("a.zig", ZIG, &["count 4-13", "count 15-17"][..]),
        ("a.proto", PROTOBUF, &["Basket 4-10", " Kind 7-9", "Shop 12-16", " Count 13-15"][..]),
        ("a.graphql", GRAPHQL, &["Basket 4-6", "Items 8-12"][..]),
        ("a.ps1", POWERSHELL, &["Build-All 3-16"][..]),
    ] {
        assert_eq!(definitions(name, text), expected, "{name}");
    }
}

/// A component with a script had no outline of its template.
#[test]
fn an_outline_has_the_template_next_to_a_script() {
    let script = "<script>\nfunction add(a) {\n  a()\n  b()\n  c()\n}\n</script>\n";
    let element = "<ul id=\"list\">\n  <li>a</li>\n  <li>b</li>\n  <li>c</li>\n</ul>\n";
    for (name, text) in [
        ("a.svelte", format!("{script}{element}")),
        ("a.vue", format!("<template>\n{element}</template>\n{script}")),
    ] {
        let outline = parse(name, &text).outline(&budget()).unwrap();
        let folds: Vec<_> = outline.folds.iter().map(|fold| (fold.first, fold.last)).collect();
        let names = definitions(name, &text);
        if name == "a.vue" {
            assert_eq!(names, ["ul#list 2-6", "add 9-13"]);
            assert_eq!(folds, [(2, 6), (3, 5), (10, 12)]);
        } else {
            assert_eq!(names, ["add 2-6", "ul#list 8-12"]);
            assert_eq!(folds, [(3, 5), (9, 11)]);
        }
        let last = outline.folds.last().unwrap();
        assert_eq!(outline.definitions[last.definition.unwrap() as usize].last, last.last + 1);
    }
}

/// A `+` at the end of a line continues it, but `++` does not.
#[test]
fn regression_a_statement_ends_with_an_increment() {
    let text = "fun a() {\n    b++\n    c {\n        d\n    }\n}\n";
    assert_eq!(block("a.kt", text, 2), Err(NoBlockReason::Nothing));
    assert_eq!(block("a.kt", text, 3), Ok((3, 3, 5)));
}

#[test]
fn an_edit_of_an_unbalanced_text_is_compared_with_it() {
    let before = "void a() {\n  MACRO {\n}\n\nvoid b() {\n  c();\n}\n";
    assert!(!parse("a.cpp", before).is_clean());
    assert_eq!(new_fault("a.cpp", before, &before.replace("c()", "d()")), None);
    assert_eq!(new_fault("a.cpp", before, &before.replace("MACRO", "OTHER")), None);
    let fault = new_fault("a.cpp", before, &before.replace("c();\n}", "c();")).unwrap();
    assert_eq!(&*fault.what, "`}` is missing: the block opened at line 5");
    let fault = new_fault("a.cpp", before, &before.replace("c();", "c());")).unwrap();
    assert_eq!((fault.line, &*fault.what), (6, "`)` closes nothing"));
}

#[test]
fn branches_of_the_preprocessor_are_alternatives() {
    for text in [
        "#if A\nif (b) {\n#else\nif (c) {\n#endif\n  d();\n}\n",
        "#ifdef A\nvoid a() {\n#endif\n  d();\n#ifdef A\n}\n#endif\n",
        "#if 0\n{{{ don't\n#endif\nint a;\n",
        "#if A\n}\n#else\n#endif\n",
        "#if A\nint b() {\n}\n#else\nint b() {\n#endif\n",
        "#if A\nint b() {\n}\n#else\nint b() {\n}\n}\n#endif\n",
    ] {
        for name in ["a.c", "a.cpp"] {
            let fault = parse(name, text).fault(&budget());
            let is_wrong = text.starts_with("#if A\n}") || text.starts_with("#if A\nint");
            assert_eq!(fault.is_some(), is_wrong, "{name} {text}: {fault:?}");
        }
    }
}

#[test]
fn a_script_whose_parse_is_stopped_is_not_clean() {
    let code = "function add(a) {\n  if (a) {\n    return [a, 1]\n  }\n}\n";
    let before = format!("<script>\n{}</script>\n<p>a</p>\n", code.repeat(1_600));
    let old = parse("a.vue", &before);
    assert!(old.is_clean());
    assert!(!old.would_be_clean(&before, &mut 0, &budget()), "without reports, it is not known");
    let after = before.replacen("return [a, 1]\n  }\n", "return [a, 1]\n", 1);
    assert!(!old.would_be_clean(&after, &mut 1_000, &budget()));
    match old.reparse(&*after, &budget()) {
        Ok(new) => assert!(new.new_fault(&old, &budget()).is_some()),
        Err(fault) => assert_eq!(fault.expect("there is an error").line, 5),
    }
}

/// The first fault of the text was reported, which is older.
#[test]
fn regression_a_new_fault_of_a_script_below_an_old_one_of_a_tag() {
    let before = "<template>\n<p>\n</template>\n<script>\nif (a) {\n  b()\n}\nc()\n</script>\n";
    assert!(!parse("a.vue", before).is_clean());
    let fault = new_fault("a.vue", before, &before.replace("}\n", "")).unwrap();
    assert_eq!((fault.opened, &fault.what[..14]), (Some(5), "`}` is missing"));
}

/// The kind of a fault was its description up to the first `:`.
#[test]
fn regression_a_tag_with_a_prefix_is_compared_by_its_whole_name() {
    let before = "<r>\n<x:a>\n</r>\n";
    let fault = new_fault("a.xml", before, &before.replace("<x:a>", "</x:zz>")).unwrap();
    assert_eq!((fault.line, &*fault.what), (2, "`</x:zz>` closes nothing"));
}

/// One text without an end hid the brackets of the whole file.
#[test]
fn regression_brackets_are_compared_around_a_text_that_does_not_end() {
    let before = "MACRO(don't)\nvoid a() {\n  if (b) {\n    c();\n  }\n}\n";
    for name in ["a.c", "a.cpp"] {
        assert!(!parse(name, before).is_clean());
        let fault = new_fault(name, before, &before.replace("  }\n", "")).unwrap();
        assert_eq!(fault.opened, Some(3), "{name}: {}", fault.what);
        assert_eq!(new_fault(name, before, &before.replace("c()", "d()")), None);
        // The brackets above a comment that does not end are known, those around it are not.
        let torn = format!("{before}void d() {{\n/* e\n}}\n").replace("don't", "do");
        let found = parse(name, &torn).fault(&budget()).map(|fault| fault.line);
        assert_eq!(found, Some(8), "{name}");
        let fault = new_fault(name, &torn, &torn.replace("c();", "c());")).unwrap();
        assert_eq!((fault.line, &*fault.what), (4, "`)` closes nothing"), "{name}");
        assert_eq!(new_fault(name, &torn, &torn.replace("e\n}", "e\n")), None);
    }
}

/// `\\` at the end of a line with CRLF escaped only the CR.
#[test]
fn regression_samples_with_crlf() {
    let continued = [("a.cpp", "a = \"b\\\nc\";\n"), ("a.sh", "a=\"b\\\nc\"\n")];
    for (name, text) in SAMPLES.iter().copied().chain(continued) {
        let source = parse(name, &text.replace('\n', "\r\n"));
        assert_eq!(source.fault(&budget()), parse(name, text).fault(&budget()), "{name}");
        assert!(source.is_clean(), "{name}");
        let lines = |source: &hashline_syntax::Source| {
            let found = source.outline(&budget()).unwrap().definitions;
            found.iter().map(|one| (one.name.clone(), one.first, one.last)).collect::<Vec<_>>()
        };
        assert_eq!(lines(&source), lines(&parse(name, text)), "{name}");
    }
}

#[test]
fn names_of_elements_match_in_any_case_in_html_only() {
    let text = "<DIV>\n<p>x\n</div>\n";
    assert!(parse("a.html", text).is_clean());
    assert!(!parse("a.xml", "<DIV>x</div>\n").is_clean());
    let fault = new_fault("a.html", text, &text.replace("</div>\n", "</Span>\n")).unwrap();
    assert_eq!(&*fault.what, "`</span>` closes nothing");
}

/// Words that begin a part of a statement in one language did so in all.
#[test]
fn regression_a_word_is_a_part_only_in_its_language() {
    for (name, text, line, last) in [
        ("a.tf", "variable \"a\" {\n  default = {\n    b = 1\n  }\n}\n", 2, 4),
        ("a.rb", "describe A do\n  after do\n    b\n  end\nend\n", 2, 4),
        ("a.graphql", "query {\n  default {\n    b\n  }\n}\n", 2, 4),
        ("a.ex", "try do\n  a\nafter\n  b\nend\n", 1, 5),
        ("a.rb", "begin\n  a\nrescue B\n  c\nensure\n  d\nend\n", 1, 7),
        ("a.cpp", "class A : B {\nprivate:\n  int c;\nsignals:\n  void d();\n};\n", 1, 6),
    ] {
        assert_eq!(block(name, text, line), Ok((line, line, last)), "{text}");
    }
    assert_eq!(block("a.ex", "try do\n  a\nafter\n  b\nend\n", 3), Err(NoBlockReason::Nothing));
}

#[test]
fn regression_a_block_does_not_omit_or_contain_parts_of_another_statement() {
    for (name, text, line) in [
        ("a.kt", "fun a() {\n    if (b)\n        c()\n    else\n        d()\n}\n", 3),
        ("a.scala", "object A {\n  if x then\n    b()\n    c()\n  else\n    d()\n}\n", 4),
        ("a.scala", "val a =\n  for\n    x <- b\n  yield\n    x\n", 3),
        ("a.scala", "val a =\n  b match\n  case c => d\n", 2),
        (
            "a.scss",
            ".a {\n  @if $b {\n    c: d;\n  } @else if $e {\n    f: g;\n  }\n  @else {\n    h: i;\n  }\n}\n",
            2,
        ),
        ("a.sh", "function a\n{\n  b\n}\n", 2),
        ("a.kt", "class A\n@Inject constructor(\n    val a: Int,\n) {\n    val b = 1\n}\n", 2),
    ] {
        assert!(block(name, text, line).is_err(), "{name}: {:?}", block(name, text, line));
    }
}

/// `RUN` begins a command, which may be a statement of the shell.
#[test]
fn regression_shell_statements_in_a_dockerfile() {
    let text = "FROM a\nRUN if b; then \\\n      c; \\\n    fi\nRUN case $d in e) f ;; esac\n";
    assert!(parse("Dockerfile", text).is_clean());
}
