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
        let value = unknown_name(directory);
        Arg { value, is_static: false, span, letters: None, sources: Vec::new() }
    }
}

/// What stands for a name that is known at run time alone.
pub fn unknown_name(directory: Option<&str>) -> String {
    directory.map_or_else(|| "$_".to_owned(), |directory| format!("{directory}/$_"))
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
}

/// An option: a letter, or a name, with its value.
#[derive(Debug)]
pub struct Opt<'a> {
    pub name: &'a str,
    pub value: Option<&'a str>,
    /// The word that the value stands in.
    word: &'a Arg,
}

impl Opt<'_> {
    /// Whether nothing of the value is left to run time.
    pub fn is_static(&self) -> bool {
        self.word.is_static
    }
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
    /// Those of the options that are given.
    fn given(&self, names: &[&str]) -> impl Iterator<Item = &Opt<'a>> {
        self.options.iter().filter(move |option| names.contains(&option.name))
    }

    /// Whether one of these options is given.
    pub fn has(&self, names: &[&str]) -> bool {
        self.given(names).next().is_some()
    }

    /// The values of these options.
    pub fn values(&self, names: &[&str]) -> impl Iterator<Item = &'a str> {
        self.given(names).filter_map(|option| option.value)
    }

    /// The value of the first of these options, as a word.
    pub fn word(&self, names: &[&str]) -> Option<Arg> {
        let (value, word) =
            self.given(names).find_map(|option| Some((option.value?, option.word)))?;
        let letters = word.letters.filter(|_| word.value == value);
        Some(Arg { value: value.to_owned(), letters, ..word.clone() })
    }
}

/// Tells options and operands apart; `args` are those after the name of the command.
pub fn parse<'a>(args: &'a [Arg], spec: &Spec) -> Parsed<'a> {
    let mut parsed = Parsed { rest: args.len(), ..Parsed::default() };
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        let value = arg.value.as_str();
        let is_operand = value.len() < 2 || !value.starts_with('-');
        if value == "--" || (is_operand && spec.operand_ends) {
            parsed.rest = at + usize::from(!is_operand);
            parsed.operands.extend(&args[parsed.rest..]);
            break;
        }
        at += 1;
        if is_operand {
            parsed.operands.push(arg);
            continue;
        }
        let wants_next = option(arg, spec, &mut parsed.options);
        if wants_next && let (Some(next), Some(last)) = (args.get(at), parsed.options.last_mut()) {
            (last.value, last.word) = (Some(next.value.as_str()), next);
            at += 1;
        }
    }
    parsed
}

/// Takes the options of a word; whether the last one has its value in the next word.
fn option<'a>(word: &'a Arg, spec: &Spec, options: &mut Vec<Opt<'a>>) -> bool {
    let text = word.value.as_str();
    if let Some(long) = text.strip_prefix("--") {
        let value = long.split_once('=');
        let name = value.map_or(long, |(name, _)| name);
        options.push(Opt { name, value: value.map(|(_, value)| value), word });
        return value.is_none() && spec.names.contains(&name);
    }
    let mut letters = text[1..].chars();
    let mut rest = letters.as_str();
    while let Some(letter) = letters.next() {
        let name = &rest[..letter.len_utf8()];
        rest = letters.as_str();
        let wants = spec.letters.contains(letter);
        let is_valued = (wants && !rest.is_empty()) || (!wants && spec.attached.contains(letter));
        options.push(Opt { name, value: is_valued.then_some(rest), word });
        if is_valued || wants {
            return !is_valued;
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

/// From the first of these words to the last.
pub fn whole(args: &[Arg]) -> CommandSpan {
    let start = args.first().map_or(0, |arg| arg.span.start);
    CommandSpan { start, end: args.iter().map(|arg| arg.span.end).max().unwrap_or(start) }
}
