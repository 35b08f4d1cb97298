//! Splits the words of a command into options and operands.

use std::rc::Rc;

use super::{CommandSpan, Finding};

/// A word of a command.
#[derive(Clone, Debug)]
pub struct Arg {
    /// The value without quotes. Parts that are only known at run time are kept as written.
    pub value: String,
    /// Whether the whole value is known before run time.
    pub is_static: bool,
    /// Its span in the command line.
    pub span: CommandSpan,
    /// The offset of the value in the command line, if it appears there verbatim.
    pub letters: Option<usize>,
    /// The files whose contents are part of the word.
    pub sources: Vec<Rc<Finding>>,
}

impl Arg {
    /// An operand that is only known at run time, such as those that `xargs` adds: a path below
    /// `directory`, or any path.
    pub fn unknown(span: CommandSpan, directory: Option<&str>) -> Arg {
        let value = unknown_name(directory);
        Arg { value, is_static: false, span, letters: None, sources: Vec::new() }
    }
}

/// A placeholder for a name that is only known at run time.
pub fn unknown_name(directory: Option<&str>) -> String {
    directory.map_or_else(|| "$_".to_owned(), |directory| format!("{directory}/$_"))
}

/// The options of a command that take a value.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spec {
    /// Letters that require a value: the rest of the word, or the next word.
    pub letters: &'static str,
    /// Letters with an optional value: the rest of the word.
    pub attached: &'static str,
    /// Long options whose value may be the next word.
    pub names: &'static [&'static str],
    /// Whether the first operand ends the options.
    pub operand_ends: bool,
}

/// An option: a letter or a name, and its value.
#[derive(Debug)]
pub struct Opt<'a> {
    pub name: &'a str,
    pub value: Option<&'a str>,
    /// The word that contains the value.
    word: &'a Arg,
}

impl Opt<'_> {
    /// Whether the whole value is known before run time.
    pub fn is_static(&self) -> bool {
        self.word.is_static
    }
}

/// The options and operands of a command.
#[derive(Debug, Default)]
pub struct Parsed<'a> {
    pub options: Vec<Opt<'a>>,
    pub operands: Vec<&'a Arg>,
    /// The index of the first operand, if it ends the options.
    pub rest: usize,
}

impl<'a> Parsed<'a> {
    /// The occurrences of these options.
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

/// Separates options from operands; `args` are the words after the name of the command.
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

/// Parses the options in a word. Returns whether the value of the last one is the next word.
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

/// The name of a command without its directory; `None` if it is only known at run time.
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

/// The span from the first of these words to the last.
pub fn whole(args: &[Arg]) -> CommandSpan {
    let start = args.first().map_or(0, |arg| arg.span.start);
    CommandSpan { start, end: args.iter().map(|arg| arg.span.end).max().unwrap_or(start) }
}
