//! Every definition that the parser finds passes the filter of searches, which does not parse.

use std::fs;
use std::path::Path;

use hashline_syntax::{SymbolName, language_of};
use proptest::prelude::*;

use crate::samples::SAMPLES;
use crate::{budget, parse};

/// The definitions of a text without errors that the filter hides. In a text with errors, the parser
/// takes other words for names.
fn hidden(file: &str, text: &str) -> Vec<String> {
    let source = parse(file, text);
    if !source.is_clean() {
        return Vec::new();
    }
    let language = language_of(file, text.as_bytes()).unwrap();
    let definitions = source.definitions(&budget()).unwrap();
    let mut hidden = Vec::new();
    for definition in definitions.iter().filter(|one| !one.is_secondary) {
        // A longer name is cut.
        let is_whole = definition.name.chars().count() < 100;
        let Some(name) = SymbolName::parse(&definition.name).filter(|_| is_whole) else { continue };
        if !name.may_be_defined_in(text.as_bytes(), language) {
            hidden.push(format!("{file}:{} {}", definition.first, definition.name));
        }
    }
    hidden
}

/// Declarations of `NAME`. Whitespace and comments can be at each blank, and whitespace without a
/// newline at each `~`.
const FORMS: &[(&str, &[&str])] = &[
    (
        "a.ts",
        &[
            "function NAME ( a : B ) { }",
            "async function * NAME ( ) { }",
            "export default class NAME < T > extends B . C { }",
            "abstract class K { abstract NAME ( ) : void ; }",
            "class K { constructor ( a , public NAME ) { } }",
            "class K { constructor ( private readonly NAME : B , c ) { } }",
            "class K { static readonly NAME : number = 1 ; }",
            "class K { NAME ; b = 1 ; }",
            "class K { a ; NAME ; }",
            "interface K { a ; NAME ; b }",
            "class K { #NAME = 1 ; }",
            "class K { get NAME ( ) { return 1 } }",
            "class K { 'a.NAME' ( ) { } }",
            "class K { @ A ( ) NAME ! : B ; }",
            "enum K { A , NAME , C }",
            "enum K { A = 1 , NAME = 2 }",
            "const enum NAME { A }",
            "const { a , NAME } = f ( ) ;",
            "const { a : { b : NAME = 1 } , ... c } = f ( ) ;",
            "const [ a , [ NAME ] ] = f ( ) ;",
            "let a , NAME = 1 , c ;",
            "var NAME ;",
            "export const NAME = ( a ) => { } ;",
            "interface K { NAME ? : string ; }",
            "interface K { NAME ( ) : void }",
            "type NAME = { a : string } ;",
            "type K = { readonly NAME : string , b : 1 } ;",
            "namespace A.NAME.B { }",
            "declare module NAME { }",
            "const a = { b : { NAME ( ) { } } } ;",
            "const a = { NAME : ( ) => 1 , b : 2 } ;",
            "exports.NAME = function ( ) { } ;",
        ],
    ),
    (
        "a.py",
        &[
            "def~NAME ( a ) : pass",
            "class~NAME~: pass",
            "NAME~=~1",
            "NAME~:~int",
            "a~=~NAME~=~1",
            "a~=~1~;~NAME~=~2",
            "if~f(a)~==~1~:~NAME~=~2",
            "( a , NAME ) ~=~ f ( )",
            "[ a , [ b , NAME ] , c ] ~=~ f ( )",
            "a~,~NAME~=~1~,~2",
            "a~,~*~NAME~=~b",
            "type~NAME~=~int",
        ],
    ),
    (
        "a.rs",
        &[
            "pub fn NAME < T > ( a : T ) { }",
            "pub ( crate ) struct NAME { a : u8 }",
            "enum K { A ( u8 ) , NAME { a : u8 } , C }",
            "enum K { # [ a ] NAME = 1 , }",
            "trait K { type NAME ; }",
            "const NAME : u8 = 1 ;",
            "static mut NAME : u8 = 1 ;",
            "macro_rules! NAME { ( ) => { } ; }",
            "mod NAME { }",
            "type NAME < T > = Vec < T > ;",
        ],
    ),
    (
        "a.go",
        &[
            "package p\nfunc NAME ( a int ) { }",
            "package p\nfunc ( r * R ) NAME ( ) { }",
            "package p\ntype NAME struct { }",
            "package p\nvar a~, NAME = 1~, 2",
            "package p\nconst (\n\tNAME~=~1\n)",
            "package p\ntype K interface { NAME ( ) }",
        ],
    ),
    (
        "A.java",
        &[
            "class NAME < T > { }",
            "class K { List < A > NAME = b , c ; }",
            "class K { int a , NAME ; }",
            "class K { @ A public static void NAME ( int a ) { } }",
            "class K { K [ ] NAME ; }",
            "enum K { A , NAME ( 1 ) { } , C ; int a ; }",
            "record NAME ( int a ) { }",
            "@interface K { String NAME ( ) default \"a\" ; }",
            "interface K { int NAME = 1 ; }",
        ],
    ),
    (
        "a.c",
        &[
            "int NAME ( int a ) { return a ; }",
            "static const char * NAME = \"a\" ;",
            "struct NAME { int a ; } ;",
            "typedef struct { int a ; } B , * NAME ;",
            "typedef int ( * NAME ) ( int ) ;",
            "enum K { A , NAME = 2 , C } ;",
            "void ( * NAME ) ( int ) ;",
            "int a , * NAME [ 2 ] ;",
            "extern int NAME ( void ) ;",
            "\n#define~NAME~1\n",
            "\n#define~NAME(a)~a\n",
        ],
    ),
];

/// A form with something at each of its blanks.
fn filled(form: &str, fillers: &[usize], is_python: bool) -> String {
    let anywhere: &[&str] = match is_python {
        false => &[
            " ",
            "\n",
            "  \t",
            " /* a { ( */ ",
            " // a } ) 'b\n",
            "\n\n  ",
            " /* \"a\"\n * }\n */\n",
        ],
        true => &[" ", "\n    ", "  ", "  # a ) b\n  ", "\t", "\n\n", " \\\n  "],
    };
    let (mut text, mut at, mut depth) = (String::new(), 0, 0);
    for next in form.chars() {
        at += usize::from(matches!(next, ' ' | '~'));
        let filler = fillers[at % fillers.len()];
        match next {
            '~' => text += [" ", "  ", "\t"][filler % 3],
            // A line of Python ends outside of brackets.
            ' ' if is_python && depth == 0 => text += [" ", "  "][filler % 2],
            ' ' => text += anywhere[filler % anywhere.len()],
            _ => text.push(next),
        }
        match next {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
    }
    text + "\n"
}

/// The form itself has a definition `NAME`, so that the tests test something.
#[test]
fn forms_define_their_name() {
    for (file, forms) in FORMS {
        for form in *forms {
            let text = filled(form, &[0], *file == "a.py");
            let source = parse(file, &text);
            let name = SymbolName::parse("NAME").unwrap();
            assert!(source.is_clean(), "{text}");
            assert!(!source.symbols(&name, &budget()).unwrap().is_empty(), "{text}");
        }
    }
}

#[test]
fn regression_every_definition_of_this_project_passes_the_filter() {
    for (file, text) in SAMPLES {
        assert_eq!(hidden(file, text), [] as [&str; 0]);
    }
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (mut count, mut missed) = (0, Vec::new());
    let mut open: Vec<_> = ["crates", "src", "js", "integrations", "bench", "examples"]
        .map(|dir| top.join(dir))
        .into();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            let is_installed = path.ends_with("node_modules") || path.ends_with("target");
            let entries = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path());
            open.extend(entries.filter(|_| !is_installed));
            continue;
        }
        let file = path.to_string_lossy();
        let Ok(text) = fs::read_to_string(&path) else { continue };
        if language_of(&file, text.as_bytes()).is_some() && text.len() < 100_000 {
            count += 1;
            missed.extend(hidden(&file, &text));
        }
    }
    assert!(count > 100, "{count}");
    assert_eq!(missed, [] as [&str; 0]);
}

proptest! {
    #[test]
    fn regression_every_definition_in_generated_texts_passes_the_filter(
        picks in prop::collection::vec((0usize..1_000, prop::collection::vec(0usize..7, 1..12)), 1..4),
        language in 0..FORMS.len(),
    ) {
        let (file, forms) = FORMS[language];
        let form = |(form, fillers): &(usize, Vec<usize>)| {
            filled(forms[form % forms.len()], fillers, file == "a.py")
        };
        let text: String = picks.iter().map(form).collect();
        prop_assert_eq!(hidden(file, &text), [] as [&str; 0], "{}", text);
    }
}
