//! Definitions by name.

use hashline_syntax::{Definition, Source, SymbolName};

use crate::samples::*;
use crate::{budget, parse};
use hashline_syntax::language_of;

const VARIABLES_JAVASCRIPT: &str = "\
/** All. */
export const config = {
  port: 1,
}
const Button = forwardRef((a, b) => a), other = 2
export const slice = createSlice({
  reducers: {
    add(state) {
      const local = 1
    },
  },
})
let late
var old = 1
const { a, b: renamed, c = 3, ...rest } = use(), [x, , y = 2] = pair
const { readFile } = require('fs'), path = await import('path')
const debug = require('debug')('app')
exports.helper = 5
exports.again = config
slice.late = 2
for (let i = 0; i < 1; i++) {}
function f(param, { field }) {
  const inside = 1
  var { deep } = param
}
export default function main() {}
";

const VARIABLES_TYPESCRIPT: &str = "\
export const limit: number = 1
declare const version: string
declare global {
  var shared: number
}
export namespace Space {
  export const inner = 1
}
const enum Kind {
  First,
  // Why.
  Second = 2,
  'third-one',
}
class Store {
  static max = 3
  #secret: string
  readonly name?: string
  @Input() on: () => void
  constructor(private readonly api: Api, plain: number) {}
}
interface Options {
  /** In ms. */
  timeout?: number
}
type Props = {
  title: string
}
function f(a: { nested: number }) {}
";

const VARIABLES_PYTHON: &str = "\
# The limit.
LIMIT = 10
LIMIT = 20
LIMIT: int = 30
first, (second, *others) = make()
one = two = 3
os.path = None
table['key'] = 1
total += 1
type Alias[T] = list[T]
try:
    import fast
    HAS_FAST = True
except ImportError:
    HAS_FAST = False
class Item:
    name: str
    size = 1
    size = 2
    def run(self):
        local = 1
        self.state = 2
        class Inner:
            flag = True
    run = wrap(run)
def run(): pass
";

const VARIABLES_GO: &str = "\
package a

// Why.
var Default = New()

const (
	// One.
	First, Second = 1, 2
	_ = 3
)

var a, b int

type Reader interface {
	Read(p []byte) (int, error)
}

type box struct {
	field int
}

func f() {
	var local = 1
	const inner = 2
}
";

const VARIABLES_JAVA: &str = "\
class Box {
  /** One. */
  @Inject
  private static final int LIMIT = 1, OTHER = 2;
  int size;
  enum Kind { SMALL, LARGE(2) { } }
  int size() { int local = 1; return size; }
}
interface Names { String NAME = \"a\"; }
@interface Mark { String value() default \"\"; }
";

const VARIABLES_RUST: &str = "\
enum Token {
    // One.
    Word(String),
    End,
}
trait Walk {
    type Item;
}
struct Word {
    field: u8,
}
fn f() {
    let local = 1;
}
";

const VARIABLES_C: &str = "\
#define LIMIT 10
#define MAX(a) a
typedef int (*Done)(int);
typedef struct Node {
  int field;
} Node, *NodeRef;
enum Kind { SMALL, LARGE = 2 };
/* All. */
static const struct Kind table[] = {
  1,
};
int first, *second = 0;
void (*callback)(int);
extern int shared;
int shared = 1;
int declared(int);
static int
both(int a,
     int b);
struct Node *make(void);
int both(int a, int b) {
  int local = 1;
  return local;
}
";

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
    for name in ["Que", "queue", "ush", "push.Queue", "Stack.push", "Queue.push.push", "item"] {
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
        (
            "e.cpp",
            "template <class T>\nint Box<T>::size() const {\n  return 1;\n}\nBox::~Box() {\n}\n",
        ),
        ("f.py", "add: F = lambda a: a\nasync def g():\n    pass\n"),
        (
            "i.rs",
            "enum E {\n    /// A `}` without a `{`: `{{a}}`.\n    /// And '\\' or \"{\".\n    A,\n    /// `{`\n    B,\n}\n",
        ),
        ("i.go", "package a\n\nfunc f() {\n\tx, ok := y.(interface{ Name() string })\n}\n"),
        ("g.js", VARIABLES_JAVASCRIPT),
        ("g.ts", VARIABLES_TYPESCRIPT),
        ("g.py", VARIABLES_PYTHON),
        ("g.go", VARIABLES_GO),
        ("G.java", VARIABLES_JAVA),
        ("g.rs", VARIABLES_RUST),
        ("g.c", VARIABLES_C),
        ("h.js", "var a,\n    b,\n    c\nlet d\nconst {\n  e,\n  f: { g, h: [i] },\n} = j\n"),
    ];
    for (file, text) in SAMPLES.iter().chain(&others) {
        let definitions = parse(file, text).definitions(&budget()).unwrap();
        let language = language_of(file, text.as_bytes()).unwrap();
        for definition in definitions.iter().filter(|one| !one.is_secondary) {
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

#[test]
fn regression_sections_with_equal_titles_are_several() {
    let text = "# Guide\ntext\n## Notes\nx\n## Notes\ny\n# Other\n## Notes\nz\n";
    assert_found(
        "a.md",
        text,
        &[
            ("Notes", "Guide.Notes 3-4, Guide.Notes 5-6, Other.Notes 8-9"),
            ("Guide.Notes", "Guide.Notes 3-4, Guide.Notes 5-6"),
            ("Other.Notes", "Other.Notes 8-9"),
        ],
    );
    let nested = "# Guide v1.2\n## Install the tool\nx\n# Next\n## Install the tool\ny\n";
    let name = "Guide v1.2.Install the tool";
    assert_found("a.md", nested, &[(name, "Guide v1.2.Install the tool 2-3")]);
}

/// `path` of the definitions with a name, each with its lines, for a table.
fn assert_found(file: &str, text: &str, expected: &[(&str, &str)]) {
    for &(name, places) in expected {
        assert_eq!(found(file, text, name).join(", "), places, "{file} {name}");
    }
}

#[test]
fn regression_variables_of_a_module_are_definitions() {
    assert_found(
        "a.js",
        VARIABLES_JAVASCRIPT,
        &[
            ("config", "config 1-4"),
            ("Button", "Button 5-5"),
            ("other", "other 5-5"),
            ("slice", "slice 6-12"),
            ("slice.add", "slice.add 8-10"),
            ("late", "late 13-13"),
            ("old", "old 14-14"),
            ("a", "a 15-15"),
            ("b", ""),
            ("renamed", "renamed 15-15"),
            ("c", "c 15-15"),
            ("rest", "rest 15-15"),
            ("x", "x 15-15"),
            ("y", "y 15-15"),
            ("readFile", ""),
            ("path", ""),
            ("debug", "debug 17-17"),
            ("helper", "helper 18-18"),
            ("again", ""),
            ("i", ""),
            ("local", ""),
            ("param", ""),
            ("field", ""),
            ("inside", ""),
            ("deep", ""),
            ("main", "main 26-26"),
        ],
    );
    assert_found(
        "a.ts",
        VARIABLES_TYPESCRIPT,
        &[
            ("limit", "limit 1-1"),
            ("version", "version 2-2"),
            ("shared", "shared 4-4"),
            ("Space.inner", "Space.inner 7-7"),
            ("Kind.First", "Kind.First 10-10"),
            ("Second", "Kind.Second 11-12"),
            ("third-one", "Kind.third-one 13-13"),
            ("Store.max", "Store.max 16-16"),
            ("#secret", "Store.secret 17-17"),
            ("name", "Store.name 18-18"),
            ("on", "Store.on 19-19"),
            ("Store.api", "Store.constructor.api 20-20"),
            ("plain", ""),
            ("Options.timeout", "Options.timeout 23-24"),
            ("Props.title", "Props.title 27-27"),
            ("nested", ""),
        ],
    );
}

#[test]
fn regression_the_first_assignment_of_a_module_or_class_is_a_definition() {
    assert_found(
        "a.py",
        VARIABLES_PYTHON,
        &[
            ("LIMIT", "LIMIT 1-2"),
            ("first", "first 5-5"),
            ("second", "second 5-5"),
            ("others", "others 5-5"),
            ("one", "one 6-6"),
            ("two", "two 6-6"),
            ("path", ""),
            ("key", ""),
            ("total", ""),
            ("Alias", "Alias 10-10"),
            ("HAS_FAST", "HAS_FAST 13-13"),
            ("Item.name", "Item.name 17-17"),
            ("size", "Item.size 18-18"),
            ("local", ""),
            ("state", ""),
            ("flag", "Item.run.Inner.flag 24-24"),
            ("Item.run", "Item.run 20-24"),
        ],
    );
}

#[test]
fn regression_variables_and_members_are_definitions_in_other_languages() {
    assert_found(
        "a.go",
        VARIABLES_GO,
        &[
            ("Default", "Default 3-4"),
            ("First", "First 7-8"),
            ("Second", "Second 7-8"),
            ("_", ""),
            ("b", "b 12-12"),
            ("Reader.Read", "Reader.Read 15-15"),
            ("field", ""),
            ("local", ""),
            ("inner", ""),
        ],
    );
    assert_found(
        "A.java",
        VARIABLES_JAVA,
        &[
            ("Box.LIMIT", "Box.LIMIT 2-4"),
            ("OTHER", "Box.OTHER 2-4"),
            ("size", "Box.size 7-7"),
            ("Kind.SMALL", "Box.Kind.SMALL 6-6"),
            ("LARGE", "Box.Kind.LARGE 6-6"),
            ("local", ""),
            ("NAME", "Names.NAME 9-9"),
            ("Mark.value", "Mark.value 10-10"),
        ],
    );
    assert_found(
        "a.rs",
        VARIABLES_RUST,
        &[
            ("Token::End", "Token.End 4-4"),
            ("Token::Word", "Token.Word 2-3"),
            ("Word", "Word 9-11"),
            ("Walk::Item", "Walk.Item 7-7"),
            ("field", ""),
            ("local", ""),
        ],
    );
}

#[test]
fn regression_declarations_of_c_are_definitions() {
    assert_found(
        "a.c",
        VARIABLES_C,
        &[
            ("LIMIT", "LIMIT 1-1"),
            ("MAX", "MAX 2-2"),
            ("Done", "Done 3-3"),
            ("Node", "Node 4-6"),
            ("NodeRef", "NodeRef 4-6"),
            ("field", ""),
            ("Kind.LARGE", "Kind.LARGE 7-7"),
            ("table", "table 8-11"),
            ("first", "first 12-12"),
            ("second", "second 12-12"),
            ("callback", "callback 13-13"),
            ("shared", "shared 15-15"),
            ("declared", "declared 16-16"),
            ("both", "both 21-24"),
            ("make", "make 20-20"),
            ("local", ""),
        ],
    );
    assert_found(
        "a.cpp",
        "namespace n {\nclass A {\n  int size() const {\n    return 1;\n  }\n  int field_;\n};\n}\nint n::A::area() {\n  return 2;\n}\n",
        &[
            ("n", "n 1-8"),
            ("A::size", "n.A.size 3-5"),
            ("A::area", "n.A.area 9-11"),
            ("field_", ""),
        ],
    );
    let css = ":root {\n  --accent: red;\n}\na {\n  color: var(--accent);\n}\n";
    assert_found("a.css", css, &[("--accent", ":root.--accent 2-2"), ("color", "")]);
}

#[test]
fn outlines_have_no_variables() {
    let text = "const a = 1\nclass B {\n  c = 2\n}\n";
    let source = parse("a.js", text);
    let names = |definitions: Vec<Definition>| -> Vec<String> {
        definitions.into_iter().map(|one| one.name).collect()
    };
    assert_eq!(names(source.outline(&budget()).unwrap().definitions), ["B"]);
    assert_eq!(names(source.definitions(&budget()).unwrap()), ["a", "B", "c"]);
}

#[test]
fn definitions_in_items_are_those_of_the_whole_text() {
    let others = [
        ("a.rs", "/*\n}\n*/\nfn name() {\n}\n/* fn name() {\n}\nfn b() {}\n*/\nfn c() {}\n"),
        ("b.rs", "const A: &str = \"\nfn name() {\n}\nfn b() {}\n\";\nfn name() {\n}\nfn c() {}\n"),
        ("c.rs", "fn name() {\n}\n\nfn broken( {\n}\n\nfn name() {\n}\n\nfn d() {}\n"),
        (
            "e.rs",
            "mod a {\nfn name() {\n}\n\n#[cfg(test)]\nmod tests {\n    fn name() {\n    }\n}\n}\n\nmod b {\n    fn name() {}\n}\n",
        ),
        (
            "f.rs",
            "const A: u8 = if true {\n    1\n} else {\n    fn name() {}\n    2\n};\nfn name() {}\n",
        ),
        ("g.rs", VARIABLES_RUST),
        ("d.go", "package a\n\nfunc name() {\n}\n\nvar x = `\n}\nname\n}\na`\n\nfunc b() {\n}\n"),
    ];
    for (file, text) in SAMPLES.iter().chain(&others) {
        let source = parse(file, text);
        let names = source.definitions(&budget()).unwrap().into_iter().map(|one| one.name);
        for name in names.chain(["name".to_owned()]) {
            let Some(name) = SymbolName::parse(&name) else { continue };
            let mut whole = source.symbols(&name, &budget()).unwrap();
            whole.retain(|symbol| !symbol.is_secondary);
            let language = language_of(file, text.as_bytes()).unwrap();
            let found = Source::symbols_in(language, text.as_bytes(), &name, &budget());
            assert_eq!(found, Some(whole), "{file} {name:?}");
        }
    }
}

#[test]
fn a_text_with_too_many_uses_is_parsed() {
    let name = SymbolName::parse("load").unwrap();
    for (file, line) in
        [("a.rs", "a.load();\n"), ("a.js", "f(a, load, b)\n"), ("a.py", "load(1)\n")]
    {
        let may_be_defined = |lines: usize| {
            let text = line.repeat(lines);
            name.may_be_defined_in(text.as_bytes(), language_of(file, text.as_bytes()).unwrap())
        };
        assert_eq!((may_be_defined(10), may_be_defined(3_000)), (false, true), "{file}");
    }
}

#[test]
fn regression_tables_of_toml_are_found_by_their_keys() {
    let long = format!("[target.'cfg(all({}))'.dependencies.a]\nb = 1\n", "unix, ".repeat(30));
    assert_eq!(found("a.toml", &long, "dependencies.a").len(), 1);
    let text = "[package] # Why.\nname = \"a\"\n\n[ \"a.b\" ]\nx = 1\n\n[tool.\"my pkg\".'x y']\nz = 1\n\n[[bin.\"two\"]]\ny = 1\n";
    assert_found(
        "a.toml",
        text,
        &[
            ("package", "package 1-2"),
            ("[package]", "package 1-2"),
            ("a.b", "a.b 4-5"),
            ("\"a.b\"", "a.b 4-5"),
            ("tool.\"my pkg\".'x y'", "tool.my pkg.x y 7-8"),
            ("x y", "tool.my pkg.x y 7-8"),
            ("bin.two", "bin.two 10-11"),
            ("two", "bin.two 10-11"),
            ("b", ""),
            ("Why", ""),
        ],
    );
}

#[test]
fn regression_each_selector_of_a_list_and_keyframes_are_found() {
    let text = ".a,\n.b > i,\n:is(.c, .d) {\n  color: red;\n\n  &.e {\n    color: blue;\n  }\n}\n\n@keyframes spin { /* x */\n  from {\n    top: 0;\n  }\n}\n\n.f, .g {\n  top: 0;\n}\n\n.h, .i { top: 0; }\n";
    assert_found(
        "a.css",
        text,
        &[
            (".a", "a 1-9"),
            ("a", "a 1-9"),
            (".b > i", ".b > i 1-9"),
            (":is(.c, .d)", ":is(.c, .d) 1-9"),
            ("&.e", "a.e 6-8"),
            ("spin", "spin 11-15"),
            ("@keyframes spin", "@keyframes spin 11-15"),
            (".g", "g 17-19"),
            (".f, .g", ".f, .g 17-19"),
            (".h", ""),
        ],
    );
}

#[test]
fn regression_namespaces_with_dots_are_found_by_each_of_their_names() {
    let text = "namespace A.B.C {\n  export function f() {\n  }\n}\nclass D extends B.E {\n}\n";
    assert_found(
        "a.ts",
        text,
        &[
            ("A.B.C", "A.B.C 1-4"),
            ("C", "A.B.C 1-4"),
            ("A", "A 1-4"),
            ("B", "A.B 1-4"),
            ("A.B", "A.B 1-4"),
            ("A.B.C.f", "A.B.C.f 2-3"),
            ("A.C.f", "A.B.C.f 2-3"),
            ("E", ""),
        ],
    );
    let language = language_of("a.ts", text.as_bytes()).unwrap();
    let may_be_defined =
        |name: &str| SymbolName::parse(name).unwrap().may_be_defined_in(text.as_bytes(), language);
    assert!(may_be_defined("A.B") && may_be_defined("C") && !may_be_defined("E"));
}

#[test]
fn regression_titles_of_tests_are_their_names() {
    let text = "it.each([\n  [1, 2],\n])('adds %s', (a) => {\n})\ntest.each`\n  a\n  ${1}\n`('table $a', () => {\n})\nbeforeEach(() => {\n  f()\n})\ndescribe(Parser.name, () => {\n})\ntest(`one ${x}`, () => {})\n";
    let definitions = parse("a.ts", text).outline(&budget()).unwrap().definitions;
    let names: Vec<&str> = definitions.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["adds %s", "table $a", "beforeEach", "Parser.name", "one ${x}"]);
    assert!(definitions.iter().all(|one| one.is_test && one.is_secondary));
}

#[test]
fn regression_any_script_can_be_typescript() {
    for (open, second) in [
        ("<script>", "<script setup lang=\"ts\">"),
        ("<script>", "<script lang=ts setup>"),
        ("<script lang='ts'>", "<script>"),
    ] {
        let text = format!(
            "{open}\nexport default {{}}\n</script>\n\n{second}\ninterface Props {{\n  a: string\n}}\nfunction f(a: number): a is 1 {{\n}}\n</script>\n"
        );
        for file in ["a.vue", "a.svelte"] {
            assert!(parse(file, &text).is_clean(), "{text}");
            assert_found(file, &text, &[("Props", "Props 6-8"), ("f", "f 9-10")]);
        }
    }
    assert!(!parse("a.vue", "<script lang=\"js\">\ninterface A {\n}\n</script>\n").is_clean());
}

#[test]
fn regression_methods_of_lua_are_found_by_each_of_their_names() {
    let text = "\
local M = {}
function M:meth()
  return 1
end
function M.run() return 2 end
function a.b:deep() return 3 end
M.f = function() return 4 end
return M
";
    assert_found(
        "a.lua",
        text,
        &[
            ("meth", "M.meth 2-4"),
            ("M.meth", "M.meth 2-4"),
            ("M:meth", "M.meth 2-4"),
            ("M:meth()", "M.meth 2-4"),
            ("N.meth", ""),
            ("N:meth", ""),
            ("M:run", "M.run 5-5"),
            ("M:f", "M.f 7-7"),
            ("deep", "a.b.deep 6-6"),
            ("b:deep", "a.b.deep 6-6"),
            ("a.b.deep", "a.b.deep 6-6"),
            ("a.b:deep", "a.b.deep 6-6"),
        ],
    );
    let keys = "{\n  \"a\": {\n    \"ci:test\": {\n      \"b\": 1\n    }\n  }\n}\n";
    assert_found(
        "a.json",
        keys,
        &[("a.ci:test", "a.ci:test 3-5"), ("ci:test", "a.ci:test 3-5"), ("test", "")],
    );
}

#[test]
fn regression_a_base_without_a_blank_is_not_part_of_a_name() {
    for file in ["a.swift", "a.kt", "a.cs", "a.cpp"] {
        let text = "class Box:Base {\n  int a;\n}\n";
        assert_found(file, text, &[("Box", "Box 1-3"), ("Base", "")]);
    }
}

#[test]
fn regression_methods_of_go_are_found_by_their_receivers() {
    let text = "package a\n\nfunc (s *S) Run() {\n}\n\nfunc (b Box[T]) Run() {\n}\n";
    for name in ["S.Run", "(*S).Run", "(*S).Run()", "*S.Run", "(s *S) Run", "(*S) Run"] {
        assert_found("a.go", text, &[(name, "S.Run 3-4")]);
    }
    for name in ["Box.Run", "(Box).Run", "(b Box[T]) Run", "(Box[T]).Run"] {
        assert_found("a.go", text, &[(name, "Box.Run 6-7")]);
    }
    assert_found("a.go", text, &[("(*X).Run", "")]);
    assert_found(
        "a.md",
        "# (Optional) Install\n\nx\n",
        &[("(Optional) Install", "(Optional) Install 1-3")],
    );
}

#[test]
fn regression_a_class_of_cpp_is_preferred_to_its_constructors() {
    let class = "class Box {\npublic:\n  Box();\n  ~Box();\n  int size();\n};\n";
    let bodies =
        "Box::Box() : a(1) {\n}\n\nBox::~Box() {\n}\n\nint Box::size() {\n  return 1;\n}\n";
    let text = format!("{class}\n{bodies}");
    assert_found(
        "a.cpp",
        &text,
        &[
            ("Box", "Box 1-6"),
            ("Box::Box", "Box.Box 8-9"),
            ("Box.Box", "Box.Box 8-9"),
            ("~Box", "Box.~Box 11-12"),
            ("Box::size", "Box.size 14-16"),
        ],
    );
    // Nothing else in this text has the name.
    assert_found("a.cpp", bodies, &[("Box", "Box.Box 1-2")]);
    let template = "template <class T>\nclass Box {\n  Box();\n};\n\ntemplate <class T>\nBox<T>::Box() {\n}\n\ntemplate <class T>\nint Box<T>::size() const {\n}\n";
    assert_found(
        "a.cpp",
        template,
        &[
            ("Box", "Box 1-4"),
            ("Box::Box", "Box.Box 6-8"),
            ("Box::size", "Box.size 10-12"),
            ("T", ""),
        ],
    );
}

#[test]
fn regression_a_search_for_a_class_of_cpp_excludes_its_constructors() {
    let found = |name: &str| {
        let text = b"Box::Box() {\n}\n";
        let language = language_of("a.cpp", text).unwrap();
        let name = SymbolName::parse(name).unwrap();
        Source::symbols_in(language, text, &name, &budget()).unwrap().len()
    };
    assert_eq!((found("Box"), found("Box::Box")), (0, 1));
}
