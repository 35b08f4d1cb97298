//! Definitions by name.

use hashline_syntax::SymbolName;

use crate::samples::*;
use crate::{budget, parse};
use hashline_syntax::language_of;

/// `path first-last` of the definitions with a name.
fn found(file: &str, text: &str, name: &str) -> Vec<String> {
    let name = SymbolName::parse(name).unwrap();
    let symbols = parse(file, text).symbols(&name, &budget()).unwrap();
    symbols.iter().map(|one| format!("{} {}-{}", one.path, one.first, one.last)).collect()
}

#[test]
fn definitions_are_found_by_their_names() {
    for (file, text, name, expected) in [
        ("a.js", JAVASCRIPT, "Queue.push", &["Queue.push 7-18"][..]),
        ("a.js", JAVASCRIPT, "Queue#push()", &["Queue.push 7-18"]),
        ("a.js", JAVASCRIPT, "load", &["load 21-26"]),
        ("a.js", JAVASCRIPT, "takes items", &["Queue.takes items 47-49"]),
        ("a.ts", TYPESCRIPT, "Store", &["Store 3-17"]),
        ("a.ts", TYPESCRIPT, "Inner.cast", &["Inner.cast 34-36"]),
        ("a.py", PYTHON, "Ledger", &["Ledger 6-35"]),
        ("a.py", PYTHON, "Ledger.add", &["Ledger.add 16-24"]),
        ("a.py", PYTHON, "test_total", &["test_total 45-46"]),
        ("a.rs", RUST, "Pool::take", &["Pool.take 16-26"]),
        ("a.rs", RUST, "From.from", &["Pool.from 37-43"]),
        ("a.go", GO, "Router.Find", &["Router.Find 15-30"]),
        ("A.java", JAVA, "Basket.iterator", &["Basket.iterator 12-21"]),
        ("a.json", JSON, "scripts", &["scripts 3-6"]),
        ("a.css", CSS, ".wide::after", &["@media (min-width: 40em).wide.after 11-13"]),
        ("a.toml", TOML, "target.linux", &["target.linux 4-10"]),
    ] {
        assert_eq!(found(file, text, name), expected, "{file} {name}");
    }
}

#[test]
fn every_definition_of_an_outline_is_found() {
    for (file, text) in SAMPLES {
        let source = parse(file, text);
        let definitions = source.outline(&budget()).unwrap().definitions;
        for one in &definitions {
            let Some(name) = SymbolName::parse(&one.name) else { continue };
            // Tests and secondary definitions count only if nothing else has the name.
            let rank = (one.is_secondary, one.is_test);
            let others = definitions.iter().filter(|other| other.name == one.name);
            if others.map(|other| (other.is_secondary, other.is_test)).min() != Some(rank) {
                continue;
            }
            let symbols = source.symbols(&name, &budget()).unwrap();
            let has_it =
                symbols.iter().any(|symbol| (symbol.start..=symbol.last).contains(&one.first));
            assert!(has_it, "{file}: {} in line {}: {symbols:?}", one.name, one.first);
        }
    }
}

#[test]
fn only_nodes_with_the_name_are_visited_and_tests_are_known() {
    let text =
        "fn aba() {}\nmod m {\n    // ababa\n    #[test]\n    // Why.\n    fn ababa() {}\n}\n";
    assert_eq!(found("a.rs", text, "aba"), ["aba 1-1"]);
    assert_eq!(found("a.rs", text, "ababa"), ["m.ababa 3-6"]);
    let text = format!("{text}mod n {{\n    fn ababa() {{}}\n}}\n");
    assert_eq!(found("a.rs", &text, "ababa"), ["n.ababa 9-9"]);
}

#[test]
fn names_are_compared_as_wholes() {
    for name in ["Que", "queue", "ush", "push.Queue", "Stack.push", "Queue.push.push", "items"] {
        assert_eq!(found("a.js", JAVASCRIPT, name), [] as [&str; 0], "{name}");
    }
    for nothing in ["", " ", ".", "()", "::", "[]"] {
        assert_eq!(SymbolName::parse(nothing), None, "{nothing}");
    }
}

#[test]
fn a_class_is_preferred_to_its_tests_and_extensions() {
    assert_eq!(found("a.js", JAVASCRIPT, "Queue"), ["Queue 3-19"]);
    assert_eq!(found("a.rs", RUST, "Pool"), ["Pool 5-13"]);
    let only = "impl A for Pool {\n    fn a() {\n    }\n}\n\nimpl Pool {\n    fn b() {\n    }\n}\n";
    assert_eq!(found("a.rs", only, "Pool"), ["Pool 1-4", "Pool 6-9"]);
}

#[test]
fn overloads_are_one_definition_and_others_are_listed() {
    let overloads =
        "// All.\nfunction f(a: 1): 1\nfunction f(a: 2): 2\nfunction f(a) {\n  return a\n}\n";
    assert_eq!(found("a.ts", overloads, "f"), ["f 1-6"]);
    let two =
        "class A {\n  f() {\n    return 1\n  }\n}\nclass B {\n  f() {\n    return 2\n  }\n}\n";
    assert_eq!(found("a.js", two, "f"), ["A.f 2-4", "B.f 7-9"]);
    assert_eq!(found("a.js", two, "B.f"), ["B.f 7-9"]);
    let java = "class Box {\n  Box() {\n  }\n}\n";
    assert_eq!(found("Box.java", java, "Box"), ["Box 1-4"]);
    assert_eq!(found("Box.java", java, "Box.Box"), ["Box.Box 2-3"]);
}

#[test]
fn every_definition_is_seen_without_parsing() {
    let others = [
        (
            "a.h",
            "typedef struct {\n  int a;\n} Point, *PointRef;\ntypedef void (*Done)(int);\n#define MAX(a) a\n",
        ),
        ("b.go", "package a\n\ntype (\n\tBox struct {\n\t}\n)\n\nfunc Map[T any](a T) {\n}\n"),
        (
            "c.ts",
            "export default class {\n  'a-b'() {\n  }\n  get size() {\n    return 1\n  }\n  *walk() {\n  }\n  on?: () => void = () => {\n  }\n}\n",
        ),
        ("b.h", "struct __attribute__((packed)) Pair {\n  int a;\n};\n"),
        ("d.rs", "macro_rules! all {\n    () => {};\n}\nstatic mut A: u8 = 1;\nconst fn b() {}\n"),
        #[cfg(feature = "cpp")]
        (
            "e.cpp",
            "template <class T>\nint Box<T>::size() const {\n  return 1;\n}\nBox::~Box() {\n}\n",
        ),
        ("f.py", "add: F = lambda a: a\nasync def g():\n    pass\n"),
    ];
    for (file, text) in SAMPLES.iter().chain(&others) {
        let outline = parse(file, text).outline(&budget()).unwrap();
        let language = language_of(file, text.as_bytes()).unwrap();
        for definition in outline.definitions.iter().filter(|one| !one.is_secondary) {
            let Some(name) = SymbolName::parse(&definition.name) else { continue };
            assert!(name.is_in(text.as_bytes()), "{file} {name:?}");
            assert!(name.may_be_defined_in(text.as_bytes(), language), "{file} {name:?}");
        }
    }
}

#[test]
fn uses_of_a_name_are_not_definitions() {
    for (file, text) in [
        (
            "a.rs",
            "use a::load;\nfn main() {\n    a.load();\n    load(1);\n    let b = Self::load;\n}\n",
        ),
        ("a.py", "from a import load\nload(1)\na.load(b)\n"),
        (
            "a.ts",
            "import { load, Other } from 'a'\nreturn load(1)\na.load(1)\nf(load(1))\nconst b = load(1)\n",
        ),
        ("A.java", "import a.load;\nclass A {\n  load x;\n  int y = a.load(1) + load(2);\n}\n"),
        ("a.go", "package a\n\nfunc f() {\n\tx := load(1)\n\ta.load(x)\n}\n"),
        ("a.c", "int main(void) {\n  return load(a.load);\n}\n"),
        ("a.js", "const reload = loads => downloaded\n"),
    ] {
        let language = language_of(file, text.as_bytes()).unwrap();
        let name = SymbolName::parse("load").unwrap();
        assert!(!name.may_be_defined_in(text.as_bytes(), language), "{file}");
    }
}

#[test]
fn comments_and_attributes_belong_to_a_definition_of_any_length() {
    for (file, text, name, expected) in [
        ("a.rs", "use a;\n\n#[derive(Debug)]\npub struct B;\n", "B", "B 3-4"),
        ("a.rs", "/// One.\nfn b() {}\n", "b", "b 1-2"),
        ("a.ts", "/** One. */\nexport class B {}\n", "B", "B 1-2"),
        (
            "a.ts",
            "class A {\n  x = 1\n\n  /** One. */\n  @Host('c')\n  on() {}\n}\n",
            "A.on",
            "A.on 4-6",
        ),
        ("a.go", "package a\n\n// One.\nfunc B() {}\n", "B", "B 3-4"),
        ("a.py", "# One.\n@cached\ndef b(): pass\n", "b", "b 1-3"),
    ] {
        assert_eq!(found(file, text, name), [expected], "{text}");
    }
    let overloads =
        "class A {\n  f(a: string): void\n  f(a: number): void\n  f(a: any) { return a }\n}\n";
    assert_eq!(found("a.ts", overloads, "A.f"), ["A.f 2-4"]);
    assert_eq!(found("a.ts", "interface I {\n  m(): void\n}\n", "I.m"), ["I.m 2-2"]);
}

#[test]
fn sections_are_found_by_their_titles() {
    let text = "# Guide v1.2\n\n## Install the tool\n\nRun it.\n\n## Next\n\nEnd.\n";
    assert_eq!(found("a.md", text, "Install the tool"), ["Guide v1.2.Install the tool 3-5"]);
    assert_eq!(found("a.md", text, "Guide v1.2"), ["Guide v1.2 1-9"]);
    assert_eq!(found("a.md", text, "tool"), [] as [&str; 0]);
}
