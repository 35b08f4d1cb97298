//! Valid forms of texts, comments and tags that a scanner may mistake for an error.

use hashline_syntax::Fault;

use crate::{budget, parse};

fn new_fault(name: &str, before: &str, after: &str) -> Option<Fault> {
    let old = parse(name, before);
    let new = old.reparse(after, &budget()).expect("it is short");
    new.new_fault(&old, &budget())
}

/// The names of files whose valid text has a fault, with it.
fn faults<'t>(texts: &[(&'t str, &'t str)]) -> Vec<(&'t str, String)> {
    let both = texts.iter().flat_map(|(name, text)| {
        [(*name, *text, text.to_string()), (*name, *text, text.replace('\n', "\r\n"))]
    });
    both.filter_map(|(name, text, own)| {
        let fault = parse(name, &own).fault(&budget())?;
        Some((text, format!("{name}: {fault:?}")))
    })
    .collect()
}

#[test]
fn texts_with_any_number_of_marks_and_quotes() {
    let texts = [
        ("a.cs", "class A { string k = \"\"\"\"\n   \"\"\" {\n   \"\"\"\"; }\n"),
        ("a.cs", "class A { string k = $$\"\"\"\n  raw {{X}} { \" }\n  \"\"\"; }\n"),
        ("a.cs", "class A { string k = $$\"\"\"{{X(\"}\")}} {{{Y}}} {\"\"\"; }\n"),
        ("a.cs", "class A { string k = $$$\"\"\"\"{ {{ {{{X}}} \"\"\" \"\"\"\"; }\n"),
        ("a.cs", "class A { string k = $\"\"\"\n  {X(\"\"\"}\"\"\")} \" }\n  \"\"\"; }\n"),
        ("a.swift", "let b = ##\"raw \"# { \"##\n"),
        ("a.swift", "let c = #\"a \\#(b.map { \"}\" }) \\( \"#\n"),
        ("a.swift", "let d = \"\\(a.map { \"\\(b[\"c\"] ?? \"{\")\" })\"\n"),
        ("a.swift", "let e = ##\"\"\"\n  {\" \\##(x(\")\")) \"# \"\"\"\n  \"\"\"##\n"),
        ("a.swift", "let f = ###\"\"\"\n a \"\"\"## {\n \"\"\"###\n"),
        (
            "a.swift",
            "x = y.wholeMatch(of: /it's \"(\\d+)[/)]/)\nlet z = a.reduce(1, /) / b.reduce(2, /)\n",
        ),
        (
            "a.scala",
            "val a = \"${\"; val b = \"\"\"${\"\"\"; val c = s\"${if (d) \"}\" else e\"{\"}\"\n",
        ),
        ("a.kt", "val a = $$\"{\\\"$b\\\": \\\"c\\\"}\"; val d = \"\\${\"\n"),
        ("a.gradle", "def a = \"${b - ~/\\.c}$/}.d\"\n"),
        ("a.kt", "val a = $$\"\"\"{ $b ${ $${c.map { \"}\" }} \"\"\"\n"),
    ];
    assert_eq!(faults(&texts), []);
}

#[test]
fn comments_and_branches_of_the_preprocessor() {
    let texts = [
        ("a.cpp", "// comment \\\n { still\nint a;\n"),
        ("a.cpp", "int a; // '\\\n \"\nint b;\n"),
        ("a.cpp", "#if 0\nit's { (\n#elif 0\n don't (\n#else\nint x;\n#endif\n"),
        ("a.c", "#ifdef NOPE\nit's { (\n#endif\nint a(void) {\n  return 'b';\n}\n"),
        ("a.c", "#ifdef B\nint b;\n#else\nit's a { (\n#endif\nint a;\n"),
        ("a.c", "#ifdef B\nwchar_t b = L'\\'';\n#else\nint c = u'd' + 1'000;\n#endif\nint a;\n"),
        ("a.cs", "#if false\n it's garbage {\n#endif\nclass A { }\n"),
    ];
    assert_eq!(faults(&texts), []);
}

#[test]
fn attributes_elements_and_expressions_of_markup() {
    let texts = [
        ("a.html", "<p><a href=/x/>y</a> <a href=x/>y</a> <img src=x/> <b class='c'/></p>\n"),
        ("a.html", "<div><iframe><b></iframe><noembed><i></noembed><xmp><u></xmp></div>\n"),
        ("a.svelte", "<p>{/* } */ a}</p>\n<b>{`${c ? `}` : \"{\"}}`}</b>\n"),
        ("a.svelte", "<p on:click={() => {\n  // it's }\n  a(\"//\")\n}}>b</p>\n"),
    ];
    assert_eq!(faults(&texts), []);
}

/// Without the line `} catch {`, the brackets still match.
#[test]
fn a_try_without_its_other_part_is_reported() {
    for (name, text) in [
        (
            "a.kt",
            "fun a() {\n    try {\n        b()\n    } catch (c: D) {\n        e()\n    }\n    f()\n}\n",
        ),
        (
            "a.cs",
            "class A {\n  void B() {\n    try\n    {\n        C();\n    }\n    finally\n    {\n        D();\n    }\n  }\n}\n",
        ),
        ("a.cpp", "void a() {\n  try {\n    b();\n  } catch (...) {\n    c();\n  }\n  d();\n}\n"),
        ("a.php", "<?php\ntry {\n    a();\n} catch (B $c) {\n    d();\n}\n"),
        ("a.dart", "void a() {\n  try {\n    b();\n  } on C {\n    d();\n  }\n}\n"),
        ("a.gradle", "try {\n    a()\n} catch (B c) {\n    d()\n}\n"),
    ] {
        assert!(parse(name, text).is_clean(), "{name}");
        let is_part =
            |line: &str| ["catch", "finally", " on "].iter().any(|part| line.contains(part));
        let lines: Vec<&str> = text.split_inclusive('\n').filter(|line| !is_part(line)).collect();
        let mut after = lines.concat();
        if name == "a.cs" {
            after = after.replace("    }\n    {\n", "");
        }
        let fault = new_fault(name, text, &after).expect(name);
        assert!(fault.what.contains(" is missing after this `try`"), "{fault:?}");
    }
    for (name, text) in [
        ("a.c", "void try(void) {\n}\nvoid b(void) {\n  try {\n  }\n  c();\n}\n"),
        (
            "a.cpp",
            "void a() try { b(); } // c\ncatch (...) { }\nvoid d() { try { e(); } CATCH_ALL(f) }\n",
        ),
        (
            "a.cpp",
            "void a() {\n#if B\n  try {\n#endif\n    c();\n#if B\n  } catch (...) { }\n#endif\n}\n",
        ),
        ("a.scala", "object A {\n  try { b } \n  c\n}\n"),
        ("a.swift", "do {\n    try b()\n}\nlet c = try? d()\n"),
    ] {
        assert_eq!(parse(name, text).fault(&budget()), None, "{text}");
    }
}

#[test]
fn branches_that_do_not_count_are_compared_with_the_first_one() {
    let text = "#if A\nvoid a() {\n#define B 1\n  if (b) {\n    c();\n  }\n}\n#else\n#include <d>\nvoid a() {\n  \
                if (b) {\n#if E\n    c();\n#else\n    d();\n#endif\n  }\n}\n#endif\nvoid f();\n";
    for name in ["a.c", "a.cpp"] {
        assert!(parse(name, text).is_clean());
        for (line, part) in text.split_inclusive('\n').enumerate() {
            if part.trim() != "}" {
                continue;
            }
            for count in [0, 2] {
                let lines = text.split_inclusive('\n').enumerate();
                let after: String =
                    lines.map(|(at, own)| own.repeat(if at == line { count } else { 1 })).collect();
                assert!(new_fault(name, text, &after).is_some(), "{name}:{} {count}", line + 1);
            }
        }
        // It can be valid.
        let text = "#if A\n  if (a) {\n#else\n  b();\n#endif\n  c();\n#if A\n  }\n#endif\n";
        let before = format!("void a() {{\n{text}}}\n");
        assert_eq!(parse(name, &before).fault(&budget()), None);
        assert_eq!(new_fault(name, &before, &before.replace("c()", "d()")), None);
    }
}

/// `</li>` can be omitted, but not in one place of a text that has it in all others.
#[test]
fn an_optional_end_tag_that_an_edit_removes_is_reported() {
    let before = "<ul>\n<li>a\n</li>\n<li>b\n</li>\n</ul>\n<p>c\n";
    let after = before.replacen("</li>\n", "", 1);
    assert!(parse("a.html", &after).is_clean());
    let fault = new_fault("a.html", before, &after).unwrap();
    assert_eq!(&*fault.what, "`</li>` is missing: the element opened at line 2");
    assert_eq!(new_fault("a.html", &after, &after.replacen("</li>\n", "", 1)), None);
    let upper = |text: &str| text.replace("li>", "LI>");
    assert!(new_fault("a.html", &upper(before), &upper(&after)).is_some());
    assert_eq!(new_fault("a.html", "<p>c\n", before), None);
    assert_eq!(new_fault("a.html", before, &before.replace("<p>c\n", "<p>c\n<p>d\n")), None);
}

/// The expression ended at the first bracket that seemed to close it.
#[test]
fn a_surplus_bracket_in_an_expression_of_a_tag_is_reported() {
    let before =
        "<form\n  onsubmit={(e) => {\n    a(e, {\n      b: `${c}`,\n    });\n  }}\n>\n</form>\n";
    assert!(parse("a.svelte", before).is_clean());
    for (line, own) in before.lines().enumerate().filter(|(_, own)| own.trim().starts_with('}')) {
        let after = before.replace(own, &format!("{own}\n{own}"));
        let fault = new_fault("a.svelte", before, &after).expect(own);
        assert!(
            fault.what.ends_with(" closes nothing") && fault.line as usize >= line + 2,
            "{fault:?}"
        );
        assert!(new_fault("a.svelte", before, &before.replace(&format!("{own}\n"), "")).is_some());
    }
}
