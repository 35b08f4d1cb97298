//! Valid forms of texts, comments and tags that a scanner may mistake for an error.

use crate::{budget, parse};

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
