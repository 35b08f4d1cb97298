//! The words of a command → its options and its operands.

use std::rc::Rc;

use super::{CommandSpan, Finding};

/// A word that a command is given.
#[derive(Clone, Debug)]
pub struct Arg {
    /// Without quotes. What is known at run time alone stands in it as it is written.
    pub value: String,
    /// Whether nothing is left to run time.
    pub is_static: bool,
    /// Its place in the command line.
    pub span: CommandSpan,
    /// Where the value stands in the command line letter by letter, if it does.
    pub letters: Option<usize>,
    /// The files whose contents are in it.
    pub sources: Vec<Rc<Finding>>,
}

impl Arg {
    /// An operand that is known at run time alone, such as those that `xargs` adds: a path below
    /// `directory`, or anywhere.
    pub fn unknown(span: CommandSpan, directory: Option<&str>) -> Arg {
        let value =
            directory.map_or_else(|| "$_".to_owned(), |directory| format!("{directory}/$_"));
        Arg { value, is_static: false, span, letters: None, sources: Vec::new() }
    }
}

/// Which options of a command take a value.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spec {
    /// Letters whose value is the rest of the word, or the next word.
    pub letters: &'static str,
    /// Letters whose value, if any, is the rest of the word.
    pub attached: &'static str,
    /// Long options whose value may be the next word.
    pub names: &'static [&'static str],
    /// Whether options end at the first operand.
    pub operand_ends: bool,
    /// Whether long options may begin with a single dash, and letters do not cluster.
    pub single_dash: bool,
}

/// An option: a letter, or a name, with its value.
#[derive(Debug)]
pub struct Opt<'a> {
    pub name: &'a str,
    pub value: Option<&'a str>,
}

/// The words of a command, told apart.
#[derive(Debug, Default)]
pub struct Parsed<'a> {
    pub options: Vec<Opt<'a>>,
    pub operands: Vec<&'a Arg>,
    /// Where the operands begin, for those that end the options.
    pub rest: usize,
}

impl<'a> Parsed<'a> {
    /// Whether one of these options is given.
    pub fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|option| names.contains(&option.name))
    }

    /// The values of these options.
    pub fn values(&self, names: &'static [&'static str]) -> impl Iterator<Item = &'a str> {
        let given = self.options.iter().filter(move |option| names.contains(&option.name));
        given.filter_map(|option| option.value)
    }
}

/// Tells options and operands apart; `args` are those after the name of the command.
pub fn parse<'a>(args: &'a [Arg], spec: &Spec) -> Parsed<'a> {
    let mut parsed = Parsed { rest: args.len(), ..Parsed::default() };
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        let value = arg.value.as_str();
        at += 1;
        if value == "--" {
            parsed.rest = at;
            parsed.operands.extend(&args[at..]);
            break;
        }
        if value.len() < 2 || !value.starts_with('-') {
            if spec.operand_ends {
                parsed.rest = at - 1;
                parsed.operands.extend(&args[at - 1..]);
                break;
            }
            parsed.operands.push(arg);
            continue;
        }
        let wants_next = option(value, spec, &mut parsed.options);
        if wants_next && let (Some(next), Some(last)) = (args.get(at), parsed.options.last_mut()) {
            last.value = Some(&next.value);
            at += 1;
        }
    }
    parsed
}

/// Takes the options of a word; whether the last one has its value in the next word.
fn option<'a>(word: &'a str, spec: &Spec, options: &mut Vec<Opt<'a>>) -> bool {
    let long = word.strip_prefix("--").or(word.strip_prefix('-').filter(|_| spec.single_dash));
    if let Some(long) = long {
        let (name, value) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (long, None),
        };
        options.push(Opt { name, value });
        return value.is_none() && spec.names.contains(&name);
    }
    let letters = &word[1..];
    for (place, letter) in letters.char_indices() {
        let end = place + letter.len_utf8();
        let (name, rest) = (&letters[place..end], &letters[end..]);
        if spec.letters.contains(letter) {
            options.push(Opt { name, value: (!rest.is_empty()).then_some(rest) });
            return rest.is_empty();
        }
        options.push(Opt { name, value: None });
        if spec.attached.contains(letter) {
            if let Some(last) = options.last_mut() {
                last.value = Some(rest);
            }
            return false;
        }
    }
    false
}

/// The name of a command without its directory; `None` when it is known at run time alone.
pub fn name_of(arg: &Arg) -> Option<&str> {
    arg.is_static.then(|| arg.value.rsplit('/').next().unwrap_or_default())
}

/// Whether a word is `name=value`.
pub fn is_assignment(text: &str) -> bool {
    let name = text.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    })
}
