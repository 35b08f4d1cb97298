//! Valid constructs that the grammars lack.

use crate::{budget, parse};

/// The name of a file, a valid text, and a bracket in it whose loss must be found.
const VALID: &[(&str, &str, &str)] = &[
    ("a.ts", "export type * from './a'\nexport type * as b from './b'\nf({ a: 1 })\n", " })"),
    ("a.ts", "interface A {\n  <K extends B>(k: K): C[K]\n  <K extends D>(k: K): E[K]\n}\n", "]"),
    ("a.d.ts", "export declare const a: import(\"b\").C<{ d: 1 }>;\n", "}"),
    ("a.d.ts", "declare module \"a\" {\n  global {\n    var b: () => c\n  }\n}\n", ")"),
    ("a.d.ts", "interface A {\n  [K in keyof readonly any[]]?: boolean\n}\n", "}"),
    ("a.tsx", "export type * from './a'\nconst b = <p>{c}</p>\nd()\n", ")"),
    ("a.vue", "<script lang=\"ts\">\nexport type * from './a'\nf({ a: 1 })\n</script>\n", "})"),
    ("a.rs", "fn a() {\n    f(str![[r#\"b\"#]], u16!(c))\n}\n", ")\n"),
    ("a.rs", "fn a<'b>(c: &'b D) -> impl E + use<'b> {\n    g(c)\n}\n", ")\n"),
    ("a.rs", "unsafe extern \"C\" {\n    safe fn a(b: i32) -> i32;\n}\n", ")"),
    ("a.rs", "const A: char = '\\u{10_FFFF}';\nfn b() { c(try!(d())) }\n", ")) "),
    ("a.rs", "macro_rules! a {\n    ($b:ident, $) => { [~] };\n}\n", "]"),
    ("a.rs", "struct A\nwhere\n    B: C;\nfn d() {}\n", "}"),
    ("a.rs", "fn a() {\n    let b = [\n        #[cfg(c)]\n        d,\n    ];\n}\n", "]"),
    ("A.java", "class A {\n  void b(C c) {\n    for (int _ : c) d(_ -> 1);\n  }\n}\n", "}"),
    ("A.java", "class A {\n  A(int b) {\n    c(b);\n    super(b);\n  }\n}\n", "}"),
    ("a.css", ".a{background:url(../b/c.png) no-repeat}.d{e:f;;g:h}\n", "}."),
    ("a.css", "@media (400px <= width <= 700px) {\n  .a { b: c }\n}\n", ") {"),
    ("a.css", "@source \"../**/*.{a,b}\";\n.c { *d: e }\n", "}\n"),
    (
        "a.yaml",
        "{{- /*\nA chart. :)\n*/}}\n{{- if .a }}\na: {{ .b | quote }}\nlabels: {{- toYaml .c | nindent 2 }}\n  d: [1, 2]\n  {{- with .e }}\n  {{ . }}: |\n      {{- if f }}\n    g\n  {{- end }}\n  {{- end }}\n{{- end }}\n",
        "]",
    ),
    ("a.yml", "a:\n{% for b in c %}\n  - {{ b }}: {d: 1}\n{% endfor %}\n", ": 1}"),
];

#[test]
fn valid_constructs_are_clean() {
    for (name, text, _) in VALID {
        for text in [(*text).to_owned(), text.replace('\n', "\r\n")] {
            let source = parse(name, &text);
            assert!(source.is_clean(), "{text}: {:?}", source.fault(&budget()));
            assert_eq!(source.text(), text.as_bytes());
        }
    }
}

#[test]
fn a_missing_bracket_is_found_next_to_such_constructs() {
    for (name, text, bracket) in VALID {
        let broken = text.replacen(bracket, &" ".repeat(bracket.len()), 1);
        assert_ne!(broken, *text);
        let source = parse(name, text).reparse(broken.as_str(), &budget()).unwrap();
        assert!(!source.is_clean(), "{broken}");
        assert!(source.fault(&budget()).is_some(), "{broken}");
    }
}

#[test]
fn blocks_are_those_of_the_text() {
    let text = "{{- if .a }}\na:\n  {{- /*\n  two lines */}}\n  b:\n    c: {{ .d }}\n    e: 1\nf: 2\n{{- end }}\n";
    let block = parse("a.yaml", text).block(5, &budget()).unwrap();
    assert_eq!((block.first, block.last), (5, 7));
}

#[test]
fn what_no_compiler_accepts_is_an_error() {
    for (name, text) in
        [("a.rs", "fn a(x: u32) -> u32 { ~x }\n"), ("a.yaml", "a: {{ b }\nc: [1, 2\nd: {{ e }}\n")]
    {
        let source = parse(name, text);
        assert!(!source.is_clean() && source.fault(&budget()).is_some(), "{text}");
    }
}
