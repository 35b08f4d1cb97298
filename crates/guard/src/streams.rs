//! The redirections of a command: files, and descriptors that the line has opened.

use std::rc::Rc;

use super::CommandSpan;
use super::argv::Arg;
use super::flow::Flow;
use super::paths::Scope;

/// The descriptor of standard output.
pub const OUTPUT: &str = "1";

/// The descriptor of standard error.
pub const ERRORS: &str = "2";

/// The limit on open descriptors that are tracked.
const DESCRIPTORS_LIMIT: usize = 32;

/// A file that output is written to.
#[derive(Clone)]
pub struct Target {
    pub file: Arg,
    /// The redirection.
    pub span: CommandSpan,
    /// The scope of the file.
    pub scope: Scope,
    /// The key of the file, for all its spellings.
    pub identity: Option<String>,
    /// Whether the previous content remains.
    pub appends: bool,
    /// Whether a descriptor refers to it, so that several commands may write to it.
    pub is_shared: bool,
}

/// The redirections of a command.
#[derive(Default)]
pub struct Streams {
    pub input: Option<Flow>,
    /// The files that the output is written to.
    pub output: Vec<Rc<Target>>,
    /// Whether the output is redirected.
    pub is_redirected: bool,
    /// The descriptors that are open for the command.
    pub descriptors: Descriptors,
}

/// Descriptors that refer to files, by their numbers or the names of variables: `exec 5> f`. Any
/// other descriptor refers to what the model sees, or is unknown.
#[derive(Clone, Default)]
pub struct Descriptors(Rc<Vec<(String, Rc<Target>)>>);

impl Descriptors {
    /// The file that a descriptor refers to.
    pub fn file(&self, descriptor: &str) -> Option<&Rc<Target>> {
        self.0.iter().find(|(known, _)| known == descriptor).map(|(_, target)| target)
    }

    /// Sets the file of a descriptor, or removes it.
    pub fn set(&mut self, descriptor: &str, target: Option<Rc<Target>>) {
        if target.is_none() && self.file(descriptor).is_none() {
            return;
        }
        let open = Rc::make_mut(&mut self.0);
        open.retain(|(known, _)| known != descriptor);
        let target = target.filter(|_| open.len() < DESCRIPTORS_LIMIT);
        open.extend(target.map(|target| (descriptor.to_owned(), target)));
    }
}

/// The descriptor that a redirection refers to: the target of `>&`, as a number or a variable, or a
/// file that represents one.
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
