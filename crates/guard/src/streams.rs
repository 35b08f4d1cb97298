//! Where the input and output of a command go: files, and descriptors that the line has opened.

use std::rc::Rc;

use super::CommandSpan;
use super::argv::Arg;
use super::flow::Flow;
use super::place::Place;

/// The descriptor of standard output.
pub const OUTPUT: &str = "1";

/// The descriptor of the errors.
pub const ERRORS: &str = "2";

/// How many descriptors are known at once.
const DESCRIPTORS_LIMIT: usize = 32;

/// A file that something is written to.
#[derive(Clone)]
pub struct Target {
    pub file: Arg,
    /// The redirection.
    pub span: CommandSpan,
    /// Where the file is.
    pub place: Place,
    /// What tells it from all others.
    pub identity: Option<String>,
    /// Whether what it holds stays.
    pub appends: bool,
    /// Whether a descriptor leads to it, which several commands may write to.
    pub is_shared: bool,
}

/// Where the input and output of a command go.
#[derive(Default)]
pub struct Streams {
    pub input: Option<Flow>,
    /// The files that the output goes to.
    pub output: Vec<Rc<Target>>,
    /// Whether the output goes elsewhere than that of the shell.
    pub is_apart: bool,
    /// Those that are open for the command.
    pub descriptors: Descriptors,
}

/// Descriptors that lead to files, by their numbers or the names of variables: `exec 5> f`. Any other
/// leads to what the model sees, or is not known.
#[derive(Clone, Default)]
pub struct Descriptors(Rc<Vec<(String, Rc<Target>)>>);

impl Descriptors {
    /// The file that a descriptor leads to.
    pub fn file(&self, descriptor: &str) -> Option<&Rc<Target>> {
        self.0.iter().find(|(known, _)| known == descriptor).map(|(_, target)| target)
    }

    /// Lets a descriptor lead to a file, or to none.
    pub fn lead(&mut self, descriptor: &str, target: Option<Rc<Target>>) {
        if target.is_none() && self.file(descriptor).is_none() {
            return;
        }
        let open = Rc::make_mut(&mut self.0);
        open.retain(|(known, _)| known != descriptor);
        let target = target.filter(|_| open.len() < DESCRIPTORS_LIMIT);
        open.extend(target.map(|target| (descriptor.to_owned(), target)));
    }
}

/// The descriptor that a redirection leads to: a number or a variable that holds one, as a target of
/// `>&`, or its file.
pub fn descriptor<'t>(operator: &str, target: &'t Arg) -> Option<&'t str> {
    let is_number = |name: &str| name.bytes().all(|byte| byte.is_ascii_digit());
    match target.value.as_str() {
        "/dev/stdout" => Some(OUTPUT),
        "/dev/stderr" => Some(ERRORS),
        name if operator.ends_with('&') => {
            let name = name.trim_end_matches('-').trim_matches(['$', '{', '}']);
            (!target.is_static || is_number(name)).then_some(name)
        }
        path => path.strip_prefix("/dev/fd/").filter(|name| is_number(name)),
    }
}
