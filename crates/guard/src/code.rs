//! Analyses code on the command line of an interpreter: whether it writes files, or prints their
//! contents.
//!
//! Code is not parsed; the usual calls of each interpreter are recognized. A path is known if it
//! appears in the call, or in an assignment to the name in the call. Contents of files are followed
//! through assignments and loops, line by line.

use std::cell::Cell;
use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

use super::FindingKind;
use super::literal::{Syntax, prints_texts};
use super::paths::{Paths, Scope};

/// How code accesses files that the tools serve. The inner value is the path, if it is known.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Found {
    pub written: Option<Option<String>>,
    pub shown: Option<Option<String>>,
    /// Whether it prints only string literals.
    pub prints_texts: bool,
}

/// The calls of a language. The first group that participates in a match is the path.
struct Language {
    /// The prefixes of the names of its interpreters.
    names: &'static [&'static str],
    writes: LazyLock<Option<Regex>>,
    reads: LazyLock<Option<Regex>>,
    prints: LazyLock<Option<Regex>>,
    /// Whether contents are followed through names to a print; otherwise any print counts.
    follows: bool,
    /// The syntax of code that prints only string literals.
    texts: Syntax,
}

/// An argument up to a comma or bracket; it may contain one call.
macro_rules! argument {
    () => {
        r"([^,()]*(?:\([^()]*\))?[^,()]*?)"
    };
}

macro_rules! pattern {
    ($($part:expr),*) => {
        LazyLock::new(|| Regex::new(concat!($($part),*)).ok())
    };
}

#[rustfmt::skip]
static LANGUAGES: [Language; 5] = [
    Language {
        names: &["python", "pypy"],
        writes: pattern!(
            r"\bos\.open\s*\(\s*", argument!(), r"\s*,[^()\n]*\bO_(?:WRONLY|RDWR)",
            r"|\bopen\s*\(\s*", argument!(), r#"\s*,\s*(?:[^()\n]*?\bmode\s*=\s*)?["'][rbt]*[wax+][wbt+]*["']"#,
            r#"|\bopen\s*\([^\n]*?,\s*["'][rbt]*[wax+][wbt+]*["']\s*[,)]"#,
            r"|([\w.\[\]]+(?:\([^()]*\))?)\.write_(?:text|bytes)\s*\(|\)\.write_(?:text|bytes)\s*\(",
            r#"|([\w.\[\]]+(?:\([^()]*\))?)\.open\s*\(\s*(?:mode\s*=\s*)?["'][rbt]*[wax+][wbt+]*["']"#,
            r"|\bfileinput\.\w+\s*\(([^)]*)inplace\s*=\s*(?:True|1)"
        ),
        reads: pattern!(
            r"\bopen\s*\(\s*", argument!(), r"\s*[,)]|\bopen\s*\(",
            r"|([\w.\[\]]+(?:\([^()]*\))?)\.(?:read_text|read_bytes|open)\s*\(|\)\.read_(?:text|bytes)\s*\(",
            r"|\b(?:fileinput\.input|linecache\.getlines?)\s*\(\s*", argument!(), r"\s*[,)]"
        ),
        prints: pattern!(r"\b(?:print|pprint|sys\.stdout\.write(?:lines)?)\s*\("),
        follows: true,
        texts: Syntax {
            prints: &["print", "sys.stdout.write", "sys.stdout.buffer.write"],
            plain: &["import", "from", "sys", "json", "textwrap", "dedent", "True", "False", "None", "json.dumps", "textwrap.dedent", ".join", ".strip", ".lstrip", ".rstrip"],
            comments: &["#"],
            quotes: &[('"', &[]), ('\'', &[])],
            has_triple_quotes: true,
            joins_by_dot: false,
            has_keys: false,
        },
    },
    Language {
        names: &["node", "bun", "tsx", "ts-node", "deno"],
        writes: pattern!(
            r"\b(?:(?:write|append)(?:Text)?File|createWriteStream|output(?:File|Json)|writeJson)(?:Sync)?\s*\((?:\s*", argument!(), r"\s*[,)])?",
            r"|\bBun\.write\s*\((?:\s*", argument!(), r"\s*[,)])?",
            r"|\bopenSync\s*\(\s*", argument!(), r#"\s*,\s*["'][wax]"#
        ),
        reads: pattern!(
            r"\b(?:read(?:Text)?File|createReadStream|readJson)(?:Sync)?\s*\((?:\s*", argument!(), r"\s*[,)])?",
            r"|\bBun\.file\s*\((?:\s*", argument!(), r"\s*[,)])?"
        ),
        prints: pattern!(r"\b(?:console\.(?:log|info|table|dir)|process\.stdout\.write)\s*\("),
        follows: true,
        texts: Syntax {
            prints: &["console.log", "console.info", "process.stdout.write"],
            plain: &["const", "let", "var", "null", "true", "false", "JSON.stringify", ".join", ".trim"],
            comments: &["//"],
            quotes: &[('"', &[]), ('\'', &[]), ('`', &["${"])],
            has_triple_quotes: false,
            joins_by_dot: false,
            has_keys: true,
        },
    },
    Language {
        names: &["ruby"],
        writes: pattern!(
            r"\b(?:File|IO)\.(?:bin)?write[\s(]+", argument!(), r"\s*[,)]",
            r"|\bFile\.(?:open|new)[\s(]+", argument!(), r#"\s*,\s*["'][rb]*[wa+]"#
        ),
        reads: pattern!(
            r"\b(?:File|IO)\.(?:read|readlines|foreach|open|binread)[\s(]+", argument!(), r"\s*(?:[,)\n;{.]|$)"
        ),
        prints: pattern!(r"(?:\b(?:puts|pp|print|p)\b|\$stdout\.(?:puts|write|print))"),
        follows: true,
        texts: Syntax {
            prints: &["puts", "print", "$stdout.puts", "$stdout.print", "$stdout.write", "STDOUT.puts", "STDOUT.write"],
            plain: &["require", "true", "false", "nil", "JSON.generate", "JSON.pretty_generate", ".join", ".strip"],
            comments: &["#"],
            quotes: &[('"', &["#{"]), ('\'', &[])],
            has_triple_quotes: false,
            joins_by_dot: false,
            has_keys: true,
        },
    },
    Language {
        names: &["php"],
        writes: pattern!(
            r"\bfile_put_contents\s*\(\s*", argument!(), r"\s*[,)]",
            r"|\bfopen\s*\(\s*", argument!(), r#"\s*,\s*["'][wacx]"#
        ),
        reads: pattern!(r"\b(?:file_get_contents|readfile|file|fopen)\s*\(\s*", argument!(), r"\s*[,)]"),
        prints: pattern!(r"\b(?:echo|print|print_r|var_dump|readfile)\b"),
        follows: true,
        texts: Syntax {
            prints: &["echo", "print", "printf"],
            plain: &["PHP_EOL", "true", "false", "null", "implode", "json_encode", "JSON_PRETTY_PRINT"],
            comments: &["#", "//"],
            quotes: &[('"', &["$", "{$"]), ('\'', &[])],
            has_triple_quotes: false,
            joins_by_dot: true,
            has_keys: false,
        },
    },
    Language {
        names: &["perl"],
        writes: pattern!(
            r#"\bopen\b[^;]*?["']\s*\+?>{1,2}(?::[\w()-]+)?\s*(?:["']\s*,\s*)?([^"',;)]*["']?[^"',;)]*)"#,
            r"|\b(?:write_file|write_text)\s*\(\s*", argument!(), r"\s*[,)]|->spew(?:_\w+)?\s*\("
        ),
        reads: pattern!(r"\bpath\s*\(\s*", argument!(), r"\s*\)\s*->\s*(?:slurp|lines)", r#"|\bopen\b[^;]*?["']\s*<(?::[\w()-]+)?\s*(?:["']\s*,\s*)?([^"',;)]*["']?[^"',;)]*)"#),
        prints: pattern!(r"\b(?:print|say|printf)\b"),
        follows: false,
        texts: Syntax {
            prints: &["print", "say", "printf"],
            plain: &["use", "strict", "warnings", "utf8", "my", "our", "STDOUT", "join"],
            comments: &["#"],
            quotes: &[('"', &["$", "@"]), ('\'', &[])],
            has_triple_quotes: false,
            joins_by_dot: true,
            has_keys: false,
        },
    },
];

/// The limit on lookups of names in one text.
const LOOKUPS_LIMIT: usize = 100;

/// The limit on calls of one kind: finding each may search to the end of the text, because an
/// earlier match attempt can fail there.
const CALLS_LIMIT: usize = 32;

/// Analyses the texts that an interpreter is given.
pub fn read(name: &str, texts: &[impl AsRef<str>], paths: &Paths<'_>) -> Found {
    let language =
        LANGUAGES.iter().find(|one| one.names.iter().any(|known| name.starts_with(known)));
    let mut found = Found::default();
    let Some(language) = language else { return found };
    for text in texts {
        let lookups = Cell::new(LOOKUPS_LIMIT);
        let code = Code { lookups, text: text.as_ref(), language, paths };
        let written = || code.called(FindingKind::Write, language.writes.as_ref()?, code.text);
        found.written = found.written.or_else(written);
        found.shown = found.shown.or_else(|| code.shown());
    }
    let own = |text: &_| prints_texts(AsRef::<str>::as_ref(text), &language.texts);
    found.prints_texts = !texts.is_empty() && texts.iter().all(own);
    found
}

struct Code<'a> {
    /// The remaining number of lookups: each searches the whole text.
    lookups: Cell<usize>,
    text: &'a str,
    language: &'a Language,
    paths: &'a Paths<'a>,
}

impl<'a> Code<'a> {
    /// The file of the first of these calls that accesses a file that the tools serve.
    fn called(&self, kind: FindingKind, calls: &Regex, text: &str) -> Option<Option<String>> {
        #[cfg(test)]
        super::steps::count(text.len());
        calls.captures_iter(text).take(CALLS_LIMIT).find_map(|captures| {
            #[cfg(test)]
            super::steps::count(text.len());
            let expression = captures.iter().skip(1).flatten().next();
            self.served(kind, expression.map_or("", |group| group.as_str()))
        })
    }

    /// The path of an expression, if the tools serve it or it is unknown.
    fn served(&self, kind: FindingKind, expression: &str) -> Option<Option<String>> {
        let Some(path) = self.path(expression, 3) else { return Some(None) };
        // An interpolated value is only known at run time.
        let is_static = !path.contains('{') && !path.contains('$');
        let spelled = path.replace('{', "${");
        match self.paths.used(kind, &spelled, is_static) {
            Scope::Outside => None,
            Scope::Inside if is_static => Some(Some(path)),
            Scope::Inside | Scope::Unknown => Some(None),
        }
    }

    /// The first string in an expression, or in the values of its names, following up to `steps`
    /// assignments.
    fn path(&self, expression: &str, steps: usize) -> Option<String> {
        if expression.contains("tempfile") || expression.contains("tmpdir") {
            return Some("/tmp/file".to_owned());
        }
        if let Some(start) = expression.find(['"', '\'']) {
            let quote = &expression[start..=start];
            let inside = &expression[start + 1..];
            // The string started before the expression: `'>a.txt'`.
            if inside.trim().is_empty() {
                return Some(expression[..start].trim().to_owned());
            }
            let end = inside.find(quote).unwrap_or(inside.len());
            return Some(inside[..end].to_owned());
        }
        let name = expression
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .find(|word| !word.is_empty())?;
        let value = self.given(name)?;
        if steps == 0 { None } else { self.path(value, steps - 1) }
    }

    /// The value in the first assignment to a name.
    fn given(&self, name: &str) -> Option<&'a str> {
        self.lookups.set(self.lookups.get().checked_sub(1)?);
        #[cfg(test)]
        super::steps::count(self.text.len());
        self.text.match_indices(name).take(50).find_map(|(at, _)| {
            let before = self.text[..at].chars().next_back();
            let is_whole =
                before.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '_' && c != '.');
            let rest = self.text[at + name.len()..].trim_start_matches([' ', '\t']);
            let value = rest.strip_prefix('=').filter(|value| !value.starts_with('='));
            let value = value.filter(|_| is_whole)?;
            Some(value.split(['\n', ';']).next().unwrap_or_default())
        })
    }

    /// Whether the contents of a file are printed.
    fn shown(&self) -> Option<Option<String>> {
        let reads = self.language.reads.as_ref()?;
        let prints = self.language.prints.as_ref()?;
        if !reads.is_match(self.text) || !prints.is_match(self.text) {
            return None;
        }
        let mut held: HashSet<String> = HashSet::new();
        let mut file = None;
        for line in self.text.split(['\n', ';']) {
            let read = self.called(FindingKind::Read, reads, line);
            let plain = without_texts(line);
            file = file.or_else(|| read.clone());
            let holds = |text: &str| words(text).any(|word| held.contains(word));
            if !self.language.follows && file.is_some() {
                return file;
            }
            if let Some(print) = prints.find(line) {
                let printed = plain.get(print.end()..).unwrap_or_default();
                let is_shown = read.is_some() || holds(printed) || holds(&plain[..print.start()]);
                if is_shown && !is_count(printed) {
                    return file;
                }
                continue;
            }
            let (names, value) = assignment(line, &plain);
            let is_held = (read.is_some() && reads.is_match(value)) || holds(value);
            if is_held && !is_count(value) {
                held.extend(words(names).take(8).map(str::to_owned));
            }
        }
        None
    }
}

/// The names that a line assigns, and their value.
fn assignment<'l>(line: &'l str, plain: &'l str) -> (&'l str, &'l str) {
    let split =
        |at: usize, length: usize| (&line[..at], plain.get(at + length..).unwrap_or_default());
    // `with open(f) as g`
    if let Some(at) = plain.find(" as ").filter(|_| plain.trim_start().starts_with("with ")) {
        return (&line[at + 4..], &plain[..at]);
    }
    if plain.trim_start().starts_with("for") {
        let found = [" in ", " of "].into_iter().find_map(|word| plain.find(word));
        let (names, rest) = found.map_or(("", ""), |at| split(at, 4));
        let end = rest.find([':', '{']).unwrap_or(rest.len());
        return (names, &rest[..end]);
    }
    let is_sign = |at: &usize| {
        let near = |at: usize| plain.as_bytes().get(at).copied().unwrap_or(b' ');
        !b"=<>!~+".contains(&near(at.wrapping_sub(1))) && !b"=>~".contains(&near(at + 1))
    };
    let sign = plain.match_indices('=').map(|(at, _)| at).find(is_sign);
    // A keyword argument is not an assignment.
    sign.filter(|at| !plain[..*at].contains('(')).map_or(("", ""), |at| split(at, 1))
}

/// Whether the value of an expression is a number, a boolean or a checksum, not content.
fn is_count(text: &str) -> bool {
    let text = text.trim_start();
    let counts = ["len(", "sum(", "any(", "all(", "bool(", "type(", "isinstance("];
    let parts = ["digest(", ".count(", ".find(", ".index(", ".length", ".indexOf(", ".includes("];
    counts.iter().any(|count| text.starts_with(count))
        || parts.iter().any(|part| text.contains(part))
        || (text.contains(" in ") && !text.contains("for "))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| !word.is_empty() && !word.starts_with(|c: char| c.is_ascii_digit()))
}

/// The line with its strings masked, except for those with interpolated values. Its length does not
/// change.
fn without_texts(line: &str) -> String {
    let mut out = line.as_bytes().to_vec();
    let mut at = 0;
    while let Some(start) = out[at..].iter().position(|byte| b"\"'".contains(byte)) {
        let (_, inside) = out[at..].split_at_mut(start + 1);
        let quote = line.as_bytes()[at + start];
        let end = inside.iter().position(|byte| *byte == quote).unwrap_or(inside.len());
        if !inside[..end].iter().any(|byte| b"{$".contains(byte)) {
            inside[..end].fill(b'_');
        }
        at = (at + start + end + 2).min(line.len());
    }
    String::from_utf8(out).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::paths::Files;
    use super::super::policy::Policy;
    use super::*;

    fn found(name: &str, code: &str) -> Found {
        let policy = Policy::default();
        read(name, &[code], &Paths::new(&policy, Files::new(&policy, &|_| true)))
    }

    #[test]
    fn writes_are_found_with_their_path() {
        for (name, code, path) in [
            ("python3", "open('a.txt', 'w').write('x')", Some("a.txt")),
            ("python3.12", "p = 'a'\nopen(p, mode='r+')", Some("a")),
            ("python", "p = Path('src/a')\ns = p.read_text()\np.write_text(s)", Some("src/a")),
            ("python", "import sys\nopen(sys.argv[1], 'a')", None),
            ("python", "open('a', encoding='utf8', mode='w')", Some("a")),
            ("python", "(Path(d) / 'a').write_text(s)", None),
            ("python", "d = os.open('a', os.O_WRONLY | os.O_CREAT)", Some("a")),
            ("node", "fs.writeFileSync(path.join(a(), b()), x)", None),
            ("python", "f = f'{d}/x'\nopen(f, 'w')", None),
            ("node", "require('fs').writeFileSync('a.json', x)", Some("a.json")),
            ("bun", "await Bun.write(\"a\", x)", Some("a")),
            ("ruby", "File.open('a', 'w') { |f| f.write x }", Some("a")),
            ("php", "file_put_contents('a', $x);", Some("a")),
            ("perl", "open(F, '>', 'a.txt'); print F 1", Some("a.txt")),
            ("perl", "open(F, '>>a.txt')", Some("a.txt")),
        ] {
            assert_eq!(found(name, code).written, Some(path.map(str::to_owned)), "{code}");
        }
        for (name, code) in [
            ("python", "open('/tmp/a', 'w')"),
            ("python", "p = '/tmp/a'\nopen(p, 'w')"),
            ("python", "print(open('a').read())"),
            ("python", "open('a', 'rb')"),
            ("node", "console.log(process.version)"),
            ("perl", "open(F, '<', 'a')"),
            ("cobol", "open('a', 'w')"),
        ] {
            assert_eq!(found(name, code).written, None, "{code}");
        }
    }

    #[test]
    fn a_read_counts_if_its_content_is_printed() {
        for (name, code) in [
            ("python", "print(open('a').read())"),
            ("python", "[print(l) for l in open('a')]"),
            ("perl", "open(F, '<', 'a'); print while <F>"),
            ("perl", "print path('a')->slurp_utf8"),
            ("python", "s = open('a').read()\nprint(s[:100])"),
            ("python", "with open('a') as f:\n  for i, l in enumerate(f):\n    print(i, l)"),
            ("python", "t=Path('a').read_text()\nfor l in t.splitlines(): print(l)"),
            ("python", "d = json.load(open('a'))\nprint(f\"{d['x']}\")"),
            ("node", "console.log(fs.readFileSync('a', 'utf8'))"),
            ("node", "const s = fs.readFileSync('a'); console.log(s.slice(1))"),
            ("ruby", "puts File.read('a')"),
            ("php", "echo file_get_contents('a');"),
        ] {
            assert_eq!(found(name, code).shown, Some(Some("a".to_owned())), "{code}");
        }
        for (name, code) in [
            ("python", "ast.parse(open('a').read()); print('ok')"),
            ("python", "s = open('a').read()\nprint(len(s))"),
            ("python", "s = open('a').read()\nprint('s is fine')"),
            ("python", "print('x' in open('a').read())"),
            ("python", "print(hashlib.sha256(open('a', 'rb').read()).hexdigest())"),
            ("python", "print(open('/tmp/a').read())"),
            ("node", "JSON.parse(fs.readFileSync('a')); console.log('valid')"),
        ] {
            assert_eq!(found(name, code).shown, None, "{code}");
        }
    }
}
