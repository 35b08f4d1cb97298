//! The block at a line, with one test for each special case.

use hashline_syntax::NoBlockReason::{Blank, Error, Nothing, Shared};
use hashline_syntax::{NoBlock, NoBlockReason, Source};

use crate::budget;
use crate::parse;
use crate::samples::*;

/// The first line including comments and attributes above, the line where the block itself starts,
/// and the last line.
fn block(name: &str, text: &str, line: u32) -> (u32, u32, u32) {
    let block = parse(name, text).block(line, &budget());
    let block = block.unwrap_or_else(|none| panic!("{name}:{line}: {none:?}"));
    (block.first, block.start, block.last)
}

fn none(name: &str, text: &str, line: u32) -> NoBlockReason {
    match parse(name, text).block(line, &budget()) {
        Err(none) => none.reason,
        Ok(block) => panic!("{name}:{line}: {block:?}"),
    }
}

#[test]
fn blocks_include_comments_and_attributes_above() {
    assert_eq!(block("a.js", JAVASCRIPT, 4), (3, 4, 19));
    assert_eq!(block("a.js", JAVASCRIPT, 10), (7, 10, 18));
    assert_eq!(block("a.ts", TYPESCRIPT, 6), (3, 6, 17));
    assert_eq!(block("a.ts", TYPESCRIPT, 8), (7, 8, 8));
    assert_eq!(block("a.py", PYTHON, 10), (6, 10, 35));
    assert_eq!(block("a.py", PYTHON, 17), (16, 17, 24));
    assert_eq!(block("a.rs", RUST, 11), (5, 11, 13));
    assert_eq!(block("a.rs", RUST, 51), (50, 51, 53));
    assert_eq!(block("a.go", GO, 16), (15, 16, 30));
    assert_eq!(block("A.java", JAVA, 9), (5, 9, 32));
    assert_eq!(block("A.java", JAVA, 14), (12, 14, 21));
    assert_eq!(block("a.css", CSS, 4), (3, 4, 8));
    assert_eq!(block("a.c", C, 4), (3, 4, 7));
    assert_eq!(block("a.cpp", CPP, 4), (3, 4, 15));
}

#[test]
fn a_comment_or_attribute_means_the_block_below() {
    for line in 5..=11 {
        assert_eq!(block("a.rs", RUST, line).0, 5, "{line}");
    }
    for line in 3..=6 {
        assert_eq!(block("a.ts", TYPESCRIPT, line), (3, 6, 17));
    }
    for line in 12..=14 {
        assert_eq!(block("A.java", JAVA, line), (12, 14, 21));
    }
    for line in 7..=9 {
        assert_eq!(block("a.js", JAVASCRIPT, line), (7, 10, 18));
    }
}

#[test]
fn an_attribute_in_the_same_line() {
    assert_eq!(block("a.ts", TYPESCRIPT, 12), (12, 12, 16));
    assert_eq!(block("a.rs", "#[test] fn a() {\n    b()\n}\n", 1), (1, 1, 3));
    assert_eq!(block("a.rs", "#[a] #[b]\nfn a() {\n    b()\n}\n", 2), (1, 2, 4));
}

#[test]
fn an_empty_line_separates_a_comment() {
    let text = "// Of the file.\n\n// Of it.\nfunction a() {\n  b()\n}\n";
    assert_eq!(block("a.js", text, 4), (3, 4, 6));
    assert_eq!(none("a.js", text, 1), Nothing);
}

#[test]
fn a_comment_after_code_or_at_another_depth_is_not_included() {
    let text = "let a // of a\nfunction b() {\n  c()\n}\n";
    assert_eq!(block("a.js", text, 2), (2, 2, 4));
    let text = "def a():\n    pass\n    # of a\ndef b():\n    pass\n";
    assert_eq!(block("a.py", text, 4), (4, 4, 5));
    assert_eq!(block("a.py", text, 1), (1, 1, 3));
}

#[test]
fn comments_of_the_file_are_not_included() {
    let text = "#!/usr/bin/env python3\ndef a():\n    pass\n";
    assert_eq!(block("a.py", text, 2), (2, 2, 3));
    let text = "mod a {\n    //! Of the module.\n    fn b() {\n        c()\n    }\n}\n";
    assert_eq!(block("a.rs", text, 3), (3, 3, 5));
}

#[test]
fn a_long_comment_alone_is_a_block() {
    let text = "/*\n a\n*/\n\nlet b\n";
    assert_eq!(block("a.js", text, 1), (1, 1, 3));
    assert_eq!(none("a.js", text, 2), Nothing);
}

#[test]
fn a_trailing_comma_or_semicolon_is_included() {
    assert_eq!(block("a.json", JSON, 3), (3, 3, 6));
    assert_eq!(block("a.json", JSON, 8), (8, 8, 10));
    assert_eq!(block("a.c", C, 4), (3, 4, 7));
    assert_eq!(block("a.js", "f({\n  a,\n}) ; // so\n", 1), (1, 1, 3));
}

#[test]
fn no_block_starts_at_a_line_with_a_closing_bracket() {
    for line in [13, 15, 17, 18, 19] {
        assert_eq!(none("a.js", JAVASCRIPT, line), Nothing);
    }
    assert_eq!(none("a.js", "f()\n  .then(() => {\n    g()\n  })\n", 2), Nothing);
    assert_eq!(none("a.rs", RUST, 40), Nothing);
    assert_eq!(none("a.go", GO, 28), Nothing);
}

#[test]
fn clauses_are_blocks_of_their_own() {
    assert_eq!(block("a.py", PYTHON, 18), (18, 18, 24));
    assert_eq!(block("a.py", PYTHON, 20), (20, 20, 21));
    assert_eq!(block("a.py", PYTHON, 22), (22, 22, 24));
    assert_eq!(block("a.py", PYTHON, 32), (32, 32, 33));
    assert_eq!(block("a.py", PYTHON, 34), (34, 34, 35));
    assert_eq!(block("a.py", PYTHON, 39), (39, 39, 40));
    assert_eq!(block("a.js", JAVASCRIPT, 39), (39, 39, 41));
    assert_eq!(block("a.go", GO, 22), (22, 22, 23));
    assert_eq!(block("a.rs", RUST, 20), (20, 20, 23));
}

#[test]
fn an_else_ends_before_the_next_one() {
    let text = "if (a) {\n  b()\n}\nelse if (c) {\n  d()\n}\nelse {\n  e()\n}\n";
    assert_eq!(block("a.js", text, 1), (1, 1, 9));
    assert_eq!(block("a.js", text, 4), (4, 4, 6));
    assert_eq!(block("a.js", text, 7), (7, 7, 9));
    assert_eq!(block("a.c", C, 14), (14, 14, 17));
}

#[test]
fn no_block_starts_with_a_plain_list() {
    assert_eq!(none("a.c", C, 10), Nothing);
    assert_eq!(none("a.yaml", YAML, 2), Nothing);
    assert_eq!(none("a.yaml", YAML, 15), Nothing);
    assert_eq!(none("a.py", "def f():\n    a()\n    b()\n", 2), Nothing);
    assert_eq!(none("a.py", "a()\nb()\n", 1), Nothing);
    assert_eq!(none("a.go", GO, 17), Nothing);
    assert_eq!(none("a.toml", TOML, 2), Nothing);
}

#[test]
fn nodes_that_end_in_column_0_end_on_the_line_before() {
    assert_eq!(block("a.yaml", YAML, 16), (16, 16, 20));
    assert_eq!(block("a.yaml", "a: |\n  b\n\n\nc: 1\n", 1), (1, 1, 2));
    assert_eq!(block("a.go", GO, 22), (22, 22, 23));
    assert_eq!(block("a.py", "def f():\n    a()\n\n\n", 1), (1, 1, 2));
}

#[test]
fn mappings_and_items_of_yaml() {
    assert_eq!(block("a.yaml", YAML, 3), (3, 3, 11));
    // The comment below belongs to the next key, although the parser attaches it here.
    assert_eq!(block("a.yaml", YAML, 4), (4, 4, 5));
    assert_eq!(block("a.yaml", YAML, 7), (6, 7, 11));
    assert_eq!(block("a.yaml", YAML, 9), (9, 9, 10));
    assert_eq!(none("a.yaml", YAML, 11), Nothing);
}

#[test]
fn tables_of_toml_run_to_the_next() {
    assert_eq!(block("a.toml", TOML, 5), (4, 5, 10));
    assert_eq!(block("a.toml", TOML, 13), (12, 13, 14));
    assert_eq!(block("a.toml", TOML, 16), (16, 16, 17));
    assert_eq!(block("a.toml", TOML, 6), (6, 6, 9));
}

#[test]
fn no_block_starts_in_a_string() {
    for line in 29..=32 {
        assert_eq!(none("a.rs", RUST, line), Nothing, "{line}");
    }
    for line in 12..=13 {
        assert_eq!(none("a.tsx", TSX, line), Nothing, "{line}");
    }
    assert_eq!(none("a.py", PYTHON, 13), Nothing);
    assert_eq!(none("a.yaml", YAML, 18), Nothing);
    let text = "let a = `\nfunction b() {\n  ${c({\n    d,\n  })}\n}\n`\n";
    for line in 2..=7 {
        assert_eq!(none("a.js", text, line), Nothing, "{line}");
    }
}

#[test]
fn elements_of_jsx() {
    assert_eq!(block("a.tsx", TSX, 6), (6, 6, 16));
    assert_eq!(block("a.tsx", TSX, 10), (10, 10, 15));
    assert_eq!(block("a.tsx", TSX, 11), (11, 11, 14));
    assert_eq!(none("a.tsx", TSX, 16), Nothing);
}

#[test]
fn sections_of_markdown() {
    let text = "---\ntitle: x\n---\n\n# One\n\ntext\n\n## Two\n\n```\n# no heading\n```\n\n## Three\n\n\
                Four\n====\n\nlast\n\n\n";
    assert_eq!(block("a.md", text, 5), (5, 5, 15));
    assert_eq!(block("a.md", text, 9), (9, 9, 13));
    assert_eq!(block("a.md", text, 17), (17, 17, 20));
    for line in [2, 7, 12, 15, 18] {
        assert_eq!(none("a.md", text, line), Nothing, "{line}");
    }
}

#[test]
fn other_code_in_the_last_line() {
    assert_eq!(none("a.js", "f(() => {\n  g()\n}); h()\n", 1), Shared);
    assert_eq!(none("a.json", "[\n  {\n    \"a\": 1\n  }, {\n    \"b\": 2\n  }\n]\n", 2), Shared);
    assert_eq!(block("a.json", "[\n  {\n    \"a\": 1\n  }\n]\n", 2), (2, 2, 4));
}

#[test]
fn code_with_an_error_is_not_a_block() {
    let text = "function a() {\n  b(\n    c d e,\n  )\n}\n\nfunction f() {\n  g()\n}\n";
    assert_eq!(none("a.js", text, 1), Error);
    assert_eq!(block("a.js", text, 7), (7, 7, 9));
    let text = "function a() {\n  if (b) {\n    c()\n}\n";
    assert_eq!(none("a.js", text, 1), Error);
}

#[test]
fn blank_and_missing_lines_have_no_block() {
    assert_eq!(none("a.js", JAVASCRIPT, 2), Blank);
    assert_eq!(none("a.js", JAVASCRIPT, 0), Blank);
    assert_eq!(none("a.js", JAVASCRIPT, 51), Blank);
    assert_eq!(none("a.js", "", 1), Blank);
}

#[test]
fn the_nearest_lines_that_start_a_block_are_reported() {
    let none = parse("a.js", JAVASCRIPT).block(24, &budget()).unwrap_err();
    assert_eq!(none, NoBlock { reason: Nothing, above: Some(23), below: Some(28) });
    let none = parse("a.js", "a\n").block(1, &budget()).unwrap_err();
    assert_eq!(none, NoBlock { reason: Nothing, above: None, below: None });
}

#[test]
fn carriage_returns_change_nothing() {
    for &(name, text) in SAMPLES {
        let (plain, other) = (parse(name, text), parse(name, &text.replace('\n', "\r\n")));
        for line in 0..=plain.lines() + 1 {
            assert_eq!(plain.block(line, &budget()), other.block(line, &budget()), "{name}:{line}");
            assert_eq!(
                plain.enclosing(line, &budget()),
                other.enclosing(line, &budget()),
                "{name}:{line}"
            );
        }
        let outline = |source: &Source| {
            let mut outline = source.outline(&budget()).unwrap();
            outline.definitions.iter_mut().for_each(|definition| definition.bytes = 0..0);
            outline
        };
        assert_eq!(outline(&plain), outline(&other), "{name}");
    }
}

#[test]
fn a_component_has_blocks_of_its_script_and_its_tags() {
    assert_eq!(block("a.vue", VUE, 10), (10, 10, 12));
    assert_eq!(block("a.svelte", SVELTE, 4), (4, 4, 6));
    assert_eq!(block("a.vue", VUE, 1), (1, 1, 3));
    assert_eq!(block("a.vue", VUE, 5), (5, 5, 13));
    for line in [2, 13, 16] {
        assert_eq!(none("a.vue", VUE, line), Nothing, "{line}");
    }
}
