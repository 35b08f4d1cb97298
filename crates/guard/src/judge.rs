//! Judges the commands of a line and of all scripts that it runs: how each transforms its input,
//! and what is shown or written.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use super::access::{Access, Request};
use super::argv::{Arg, is_assignment, name_of, whole};
use super::bounds::{self, Measured, StackSize};
use super::flow::{Flow, SOURCES_LIMIT};
use super::grammar::{self, Part, Redirect, Script, Simple, Word};
use super::message::message;
use super::paths::{Files, Paths, Scope};
use super::policy::Policy;
use super::rules::{Call, Effect, Output};
use super::streams::{Descriptors, ERRORS, OUTPUT, Streams, Target, descriptor};
use super::tables::{BUILTINS, directory_option, runs_in_package};
use super::word::{Expanded, Quoting, Substitution, expand, expand_body};
use super::wrap::{self, Inner};
use super::{CommandRule, CommandSpan, Finding, FindingKind, Serves};

/// The limit on nested groups and scripts in a line.
const LEVEL_LIMIT: usize = 600;

/// The limit on nested groups and scripts on a small stack.
const SMALL_LEVEL_LIMIT: usize = 5;

/// The limit on commands before a command: `sudo nice timeout 5 …`.
const PREFIX_LIMIT: usize = 16;

/// The limit on the bytes that values of variables may add to the words of a line.
const VALUES_LIMIT_BYTES: usize = 1 << 20;

/// The limit on directories that are recorded: whether there is more than one.
const PLACES_LIMIT: usize = 2;

/// The result of judging a line.
#[derive(Debug, Default)]
pub struct Judged {
    pub findings: Vec<Finding>,
    /// The first directories in which its programs run, at most [`PLACES_LIMIT`]; `None` is one that
    /// is only known at run time.
    pub places: BTreeSet<Option<String>>,
    /// Whether all of it could be parsed.
    pub is_whole: bool,
    /// Whether judging it needs a large stack. Then it must be judged again with one.
    pub needs_large_stack: bool,
}

/// Judges a line with the given stack size.
pub fn judge(command: &str, policy: &Policy, serves: &Serves<'_>, room: StackSize) -> Judged {
    let mut judge = Judge {
        policy,
        room,
        paths: Paths::new(policy, Files::new(policy, serves)),
        variables: HashMap::new(),
        kept: HashSet::new(),
        descriptors: Descriptors::default(),
        shared: Vec::new(),
        values_left: VALUES_LIMIT_BYTES,
        out: Judged { is_whole: true, ..Judged::default() },
        pipes: 0,
        scripts: 0,
        levels: 0,
        inner_cost: 0,
        braces_bytes: 0,
    };
    let seen = judge.text(command, TextOrigin::Letters(0), &Flow::default());
    judge.report_shown(&seen);
    for (file, finding) in std::mem::take(&mut judge.shared) {
        if !judge.paths.is_captured(file.as_deref()) {
            judge.found(finding);
        }
    }
    judge.out
}

/// The location of a text in the command line.
#[derive(Clone, Copy)]
enum TextOrigin {
    /// Verbatim, starting at this offset.
    Letters(usize),
    /// Within this span, in another form.
    Within(CommandSpan),
}

impl TextOrigin {
    fn span(self, span: CommandSpan) -> CommandSpan {
        match self {
            TextOrigin::Letters(start) => {
                CommandSpan { start: start + span.start, end: start + span.end }
            }
            TextOrigin::Within(span) => span,
        }
    }

    /// The location of a text that starts within this one.
    fn inner(self, at: Option<usize>, whole: CommandSpan) -> TextOrigin {
        match (self, at) {
            (TextOrigin::Letters(start), Some(at)) => TextOrigin::Letters(start + at),
            _ => TextOrigin::Within(whole),
        }
    }
}

struct Judge<'p> {
    policy: &'p Policy,
    room: StackSize,
    paths: Paths<'p>,
    /// The known values of variables.
    variables: HashMap<String, Flow>,
    /// Files outside of the roots that the line has written text to. If one is moved to where the
    /// tools serve it, the text is written there.
    kept: HashSet<String>,
    /// The descriptors of the shell that refer to files.
    descriptors: Descriptors,
    /// Files that text was written to through a descriptor, with their findings. A finding is
    /// dropped if a program has written to the same file by the end of the line.
    shared: Vec<(Option<String>, Finding)>,
    values_left: usize,
    out: Judged,
    /// The number of pipes that feed the current command.
    pipes: usize,
    /// The number of scripts around the current one.
    scripts: usize,
    /// The number of scripts and groups around the current one.
    levels: usize,
    /// The cost of all scripts within the command line.
    inner_cost: u64,
    /// The cost of braces in the line and all scripts within it.
    braces_bytes: u64,
}

impl<'p> Judge<'p> {
    /// Parses and judges a text that the shell would run. Returns its output.
    fn text(&mut self, text: &str, origin: TextOrigin, input: &Flow) -> Flow {
        let Some(Measured { room, read }) = bounds::measure(text) else { return self.unread() };
        self.braces_bytes += bounds::braces_bytes(text, &read);
        // The command line itself has a limit of its own.
        if self.scripts > 0 {
            self.inner_cost += bounds::inner_cost(text, &read);
        }
        let is_too_costly = self.inner_cost > bounds::INNER_COST_LIMIT
            || self.braces_bytes > bounds::BRACES_LIMIT_BYTES;
        if is_too_costly || self.scripts > bounds::DEPTH_LIMIT {
            return self.unread();
        }
        if room == StackSize::Large && self.room == StackSize::Small {
            self.out.needs_large_stack = true;
            return Flow::of_program();
        }
        match grammar::parse(text, &read) {
            Some(script) => self.script(&script, origin, input),
            None => self.unread(),
        }
    }

    /// Records that something could not be parsed. It may print anything.
    fn unread(&mut self) -> Flow {
        self.out.is_whole = false;
        Flow::of_program()
    }

    /// Runs `run`, and restores directories and descriptors afterwards.
    fn isolated<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let before = (self.paths.clone(), self.descriptors.clone());
        let made = run(self);
        (self.paths, self.descriptors) = before;
        made
    }

    /// Runs `run` with its output connected to a pipe.
    fn piped<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.descriptors.clone();
        self.descriptors.set(OUTPUT, None);
        let made = run(self);
        self.descriptors = before;
        made
    }

    /// Runs `run` with redirections. Returns the output that is still shown.
    fn redirected(
        &mut self,
        streams: Streams,
        command: &str,
        run: impl FnOnce(&mut Self) -> Flow,
    ) -> Flow {
        let Streams { output, is_redirected, mut descriptors, .. } = streams;
        if is_redirected {
            descriptors.set(OUTPUT, None);
        }
        let before = std::mem::replace(&mut self.descriptors, descriptors);
        let flow = run(self);
        self.descriptors = before;
        self.write_output(flow, &output, command)
    }

    fn script(&mut self, script: &Script, origin: TextOrigin, input: &Flow) -> Flow {
        self.scripts += 1;
        let flow = self.parts(&script.0, origin, input);
        self.scripts -= 1;
        flow
    }

    fn parts(&mut self, parts: &[Part], origin: TextOrigin, input: &Flow) -> Flow {
        let mut flow = Flow::default();
        self.levels += 1;
        if self.room == StackSize::Small && self.levels > SMALL_LEVEL_LIMIT {
            self.out.needs_large_stack = true;
        } else if self.levels > LEVEL_LIMIT {
            self.out.is_whole = false;
        } else {
            for part in parts {
                flow.append(self.part(part, origin, input));
            }
        }
        self.levels -= 1;
        flow
    }

    fn part(&mut self, part: &Part, origin: TextOrigin, input: &Flow) -> Flow {
        match part {
            Part::Simple(simple) => self.simple(simple, origin, input),
            Part::Pipeline(commands) => self.pipeline(commands, origin, input),
            Part::Group { parts, redirects, is_subshell } => {
                let run = |judge: &mut Self| judge.group(parts, redirects, origin, input);
                if *is_subshell { self.isolated(run) } else { run(self) }
            }
            Part::Words { name, words } => {
                let values: Vec<_> = words.iter().map(|word| self.word(word, origin)).collect();
                if let Some(name) = name {
                    let known = values.into_iter().find(|arg| arg.is_static);
                    let value = Flow::words(known.map(|arg| arg.value.into()));
                    self.variables.insert(name.clone(), value);
                }
                Flow::default()
            }
            Part::Text(text) => {
                let span = origin.span(text.span);
                let expanded = expand(&text.raw, Quoting::Letters);
                self.inside(&expanded, TextOrigin::Within(span), span);
                Flow::default()
            }
        }
    }

    fn group(
        &mut self,
        parts: &[Part],
        redirects: &[Redirect],
        origin: TextOrigin,
        input: &Flow,
    ) -> Flow {
        // Without redirections, descriptors that it opens stay open.
        if redirects.is_empty() {
            return self.parts(parts, origin, input);
        }
        let mut streams = self.streams(redirects, origin);
        let given = streams.input.take();
        let input = given.as_ref().unwrap_or(input);
        self.redirected(streams, "", |judge| judge.parts(parts, origin, input))
    }

    fn pipeline(&mut self, commands: &[Part], origin: TextOrigin, input: &Flow) -> Flow {
        let run = |judge: &mut Self| {
            let Some((last, commands)) = commands.split_last() else { return Flow::default() };
            let mut fed: Option<Flow> = None;
            let outer = judge.pipes;
            for command in commands {
                let input = fed.as_ref().unwrap_or(input);
                fed = Some(judge.piped(|judge| judge.part(command, origin, input)));
                judge.pipes = outer + 1;
            }
            let flow = judge.part(last, origin, fed.as_ref().unwrap_or(input));
            judge.pipes = outer;
            flow
        };
        if commands.len() > 1 { self.isolated(run) } else { run(self) }
    }

    fn simple(&mut self, simple: &Simple, origin: TextOrigin, input: &Flow) -> Flow {
        for assignment in &simple.assignments {
            let arg = self.word(assignment, origin);
            self.assign(&arg);
        }
        let args: Vec<_> = simple.words.iter().map(|word| self.word(word, origin)).collect();
        let name = args.first().and_then(name_of).unwrap_or_default().to_owned();
        let mut streams = self.streams(&simple.redirects, origin);
        let given = streams.input.take();
        let input = given.as_ref().unwrap_or(input);
        if name == "exec" && args.len() == 1 {
            self.report_shown(input);
            return self.opens(streams);
        }
        self.redirected(streams, &name, |judge| match (args.is_empty(), name.as_str()) {
            // A redirection without a command, `> file`, creates an empty file.
            (true, _) | (_, ":" | "true") => Flow::words(None),
            _ => judge.command(&args, input, 0),
        })
    }

    /// `exec > f` and the like: redirections for all that follows.
    fn opens(&mut self, streams: Streams) -> Flow {
        self.descriptors = streams.descriptors;
        if streams.is_redirected {
            let output = streams.output.last().map(|target| self.shared(target));
            self.descriptors.set(OUTPUT, output);
        }
        Flow::default()
    }

    /// The file of a descriptor that is opened.
    fn shared(&self, target: &Target) -> Rc<Target> {
        if !target.appends {
            self.paths.capture(target.identity.as_deref(), false);
        }
        Rc::new(Target { appends: true, is_shared: true, ..target.clone() })
    }

    /// Judges a command by its words, after `prefixes` commands before it.
    fn command(&mut self, args: &[Arg], input: &Flow, prefixes: usize) -> Flow {
        let Some((first, given)) = args.split_first() else { return Flow::default() };
        let Some(name) = name_of(first) else { return Flow::of_program() };
        if prefixes == PREFIX_LIMIT {
            return self.unread();
        }
        if let Some(flow) = self.builtin(name, given, input) {
            return flow;
        }
        let nothing = Flow::of_program();
        let inner = wrap::unwrap(args, input.listing.as_deref());
        // Options after the inner command are not its own.
        let own = match &inner {
            Some(Inner::Command(command)) => given.len().saturating_sub(command.len()),
            _ => given.len(),
        };
        let own = &given[..own];
        self.runs_in(name, own, inner.is_some());
        match inner {
            None => self.judge_command(name, args, input),
            Some(Inner::Command(command)) => match directory_option(name, own) {
                None => self.command(&command, input, prefixes + 1),
                Some((path, is_static)) => self.isolated(|judge| {
                    judge.paths.enter(path, is_static);
                    judge.command(&command, input, prefixes + 1)
                }),
            },
            Some(Inner::Commands(commands)) => {
                let mut flow = Flow::default();
                for command in commands {
                    flow.append(self.command(&command, &nothing, prefixes + 1));
                }
                flow
            }
            Some(Inner::Script(script)) => self.given_script(&script, input),
            Some(Inner::StandardInput) => {
                let Some(text) = &input.text else { return nothing };
                let origin = TextOrigin::Within(input.at.unwrap_or(whole(args)));
                self.text(text, origin, &nothing)
            }
        }
    }

    /// Records where a command runs. One that runs another counts only if it runs elsewhere, and one
    /// that reads a pipe not at all: it passes on what others print.
    fn runs_in(&mut self, name: &str, given: &[Arg], runs_another: bool) {
        if self.out.places.len() == PLACES_LIMIT || self.pipes > 0 || BUILTINS.contains(&name) {
            return;
        }
        let place = match directory_option(name, given) {
            Some((path, is_static)) => self.paths.place(path, is_static),
            None if runs_in_package(name, given) => None,
            None if runs_another => return,
            None => self.paths.place("", true),
        };
        self.out.places.insert(place);
    }

    /// Judges shell builtins that change the state; `None` for any other command.
    fn builtin(&mut self, name: &str, given: &[Arg], input: &Flow) -> Option<Flow> {
        match name {
            "cd" | "pushd" | "popd" => match given.iter().find(|arg| !arg.value.starts_with('-')) {
                Some(arg) => self.paths.enter(&arg.value, arg.is_static),
                None if name == "cd" && given.is_empty() => self.paths.enter("~", true),
                None => self.paths.enter("$_", false),
            },
            "export" | "local" | "declare" | "readonly" | "typeset" => {
                given.iter().for_each(|arg| self.assign(arg));
            }
            "read" | "mapfile" | "readarray" => {
                for arg in given.iter().filter(|arg| !arg.value.starts_with('-')) {
                    self.variables.insert(arg.value.clone(), input.transformed());
                }
                // `mapfile` reads a whole file at once.
                if name != "read" && input.at.is_some() {
                    self.report_shown(input);
                }
            }
            _ => return None,
        }
        Some(Flow::default())
    }

    /// Records `name=value`.
    fn assign(&mut self, arg: &Arg) {
        if let Some((name, value)) = arg.value.split_once('=').filter(|_| is_assignment(&arg.value))
        {
            // A path whose beginning is known still says where it leads.
            let is_known = arg.is_static || value.starts_with(['/', '~']);
            let text = is_known.then(|| value.into());
            self.variables.insert(name.to_owned(), Flow::words(text));
        }
    }

    /// Judges a command that runs no other command.
    fn judge_command(&mut self, name: &str, args: &[Arg], input: &Flow) -> Flow {
        let given = args.get(1..).unwrap_or_default();
        let Judge { paths, policy, kept, .. } = self;
        let call = Call { name, given, input, paths, policy, kept };
        let Effect { accesses, shown, output, passes, copies_text_to } = call.effect();
        self.kept.extend(copies_text_to);
        let span = whole(args);
        for access in accesses {
            self.found(self.finding(access, name, span));
        }
        let takes = matches!(output, Output::Input { .. });
        let mut flow = match output {
            Output::Own => Flow::of_program(),
            Output::Text => Flow::words(None),
            Output::Input { as_is: true } => input.passed(),
            Output::Input { as_is: false } => {
                self.some_lines(input, &passes).unwrap_or_else(|| input.transformed())
            }
            Output::Words(words) => {
                let mut flow = Flow::words(Some(words.into()));
                flow.has_program_output = given.iter().any(is_output);
                given.iter().for_each(|arg| flow.add(&arg.sources));
                flow
            }
            Output::Names(directory) => {
                Flow { listing: Some(directory.into()), ..Flow::of_program() }
            }
        };
        // The files that it shows are its output.
        flow.has_program_output &= shown.is_empty();
        for arg in given.iter().filter(|arg| takes && arg.value.starts_with("<(")) {
            flow.add(&arg.sources);
        }
        if let [access] = shown.as_slice()
            && access.is_lines(name)
            && flow.sources.is_empty()
        {
            flow.lines = Some(Rc::new(access.clone()));
        }
        let findings = shown.into_iter().map(|access| Rc::new(self.finding(access, name, span)));
        flow.add(&findings.collect::<Vec<_>>());
        // The output of the shell may be redirected.
        let output = self.descriptors.file(OUTPUT).cloned();
        self.write_output(flow, output.as_slice(), name)
    }

    /// The flow for some lines of the file that is the input. The suggested request covers only
    /// these lines.
    fn some_lines(&self, input: &Flow, passes: &Request) -> Option<Flow> {
        let access = input.lines.as_ref()?.narrowed(passes)?;
        let [source] = input.sources.as_slice() else { return None };
        let finding = self.finding(access.clone(), &source.command, source.span);
        let (sources, lines) = (vec![Rc::new(finding)], Some(Rc::new(access)));
        Some(Flow { sources, lines, ..input.transformed() })
    }

    fn given_script(&mut self, script: &Arg, input: &Flow) -> Flow {
        let origin = script.letters.map_or(TextOrigin::Within(script.span), TextOrigin::Letters);
        let was_whole = self.out.is_whole;
        let flow = self.isolated(|judge| judge.text(&script.value, origin, input));
        if !script.is_static {
            // Parts that are only known at run time may make a valid script of it.
            self.out.is_whole = was_whole;
        }
        flow
    }

    /// Reads redirections, and judges the substitutions in them.
    fn streams(&mut self, redirects: &[Redirect], origin: TextOrigin) -> Streams {
        let descriptors = self.descriptors.clone();
        let mut streams = Streams { descriptors, ..Streams::default() };
        for redirect in redirects {
            let (flow, span) = match redirect {
                Redirect::HereDoc { body, is_quoted, span } => {
                    let span = origin.span(*span);
                    (self.here_doc(body, *is_quoted, span), span)
                }
                Redirect::File { operator, target, descriptor, span } => {
                    let span = origin.span(*span);
                    let target = self.word(target, origin);
                    match operator.as_str() {
                        "<" => {
                            let mut flow =
                                Flow { sources: target.sources.clone(), ..Flow::default() };
                            flow.add(self.input(&target, span).as_slice());
                            flow.has_program_output = flow.sources.is_empty();
                            (flow, span)
                        }
                        "<<<" => {
                            let words = Flow::words(Some(target.value.into()));
                            (Flow { sources: target.sources, ..words }, span)
                        }
                        operator => {
                            let descriptor = descriptor.as_deref();
                            self.redirect_output(operator, descriptor, target, span, &mut streams);
                            continue;
                        }
                    }
                }
            };
            streams.input = Some(Flow { at: Some(span), ..flow });
        }
        streams
    }

    /// Reads a redirection of the output, or of a descriptor.
    fn redirect_output(
        &self,
        operator: &str,
        from: Option<&str>,
        target: Arg,
        span: CommandSpan,
        streams: &mut Streams,
    ) {
        let default = if operator == "<&" { "0" } else { OUTPUT };
        let from = from.unwrap_or(default);
        let to = descriptor(operator, &target);
        let is_output = from == OUTPUT;
        streams.is_redirected |= is_output && to != Some(OUTPUT);
        if operator == ">&-" {
            return streams.descriptors.set(from, None);
        }
        if let Some(to) = to {
            let is_redirected = to == OUTPUT && streams.is_redirected;
            let own = streams.output.last().filter(|_| is_redirected);
            let known = || streams.descriptors.file(to).filter(|_| !is_redirected);
            let file = own.or_else(known).cloned();
            return match file {
                Some(file) if is_output => streams.output.push(file),
                file => streams.descriptors.set(from, file),
            };
        }
        let identity = self.paths.identity(&target.value, target.is_static);
        // The previous content of the file remains.
        let appends = operator.ends_with(">>") || operator == "<>";
        // Errors are the output of a program.
        if from == ERRORS {
            if !appends {
                self.paths.capture(identity.as_deref(), true);
            }
            return;
        }
        let scope = self.paths.of(&target.value, target.is_static);
        let file = Target { file: target, span, scope, identity, appends, is_shared: false };
        if is_output {
            streams.output.push(Rc::new(file));
        } else {
            streams.descriptors.set(from, Some(self.shared(&file)));
        }
    }

    fn here_doc(&mut self, body: &str, is_quoted: bool, span: CommandSpan) -> Flow {
        let mut flow = Flow::words(Some(body.into()));
        if !is_quoted {
            let left = bounds::INNER_COST_LIMIT.saturating_sub(self.inner_cost);
            let (expanded, cost) = expand_body(body, left);
            self.inner_cost += cost;
            let origin = TextOrigin::Within(span);
            flow.add(&self.inside(&expanded, origin, span).sources);
        }
        flow
    }

    /// The finding for a file as an input, if the tools serve it.
    fn input(&self, target: &Arg, span: CommandSpan) -> Option<Rc<Finding>> {
        let is_served = !target.value.starts_with("<(")
            && self.paths.used(FindingKind::Read, &target.value, target.is_static)
                != Scope::Outside;
        let access = || Access::new(FindingKind::Read, CommandRule::Input, Some(&target.value));
        is_served.then(|| Rc::new(self.finding(access(), "", span)))
    }

    /// Writes the output of a command to its redirections. Returns the output that is still shown.
    fn write_output(&mut self, flow: Flow, output: &[Rc<Target>], command: &str) -> Flow {
        let mut is_seen = true;
        for target in output {
            let Target { file, span, scope, identity, .. } = target.as_ref();
            let path = file.value.as_str();
            is_seen &= path == "/dev/tty";
            if flow.is_text() && *scope != Scope::Inside {
                self.kept.extend(identity.clone());
            } else if flow.is_text() && !self.paths.permits(FindingKind::Write, path) {
                let access = Access::new(FindingKind::Write, CommandRule::Output, Some(path));
                let finding = self.finding(access, command, *span);
                if !target.is_shared {
                    self.found(finding);
                } else if self.shared.len() < SOURCES_LIMIT {
                    self.shared.push((identity.clone(), finding));
                }
            }
            if !target.appends || (target.is_shared && flow.is_output()) {
                self.paths.capture(identity.as_deref(), flow.is_output());
            }
        }
        if is_seen { flow } else { Flow::default() }
    }

    /// Expands a word, and judges the commands in it.
    fn word(&mut self, word: &Word, origin: TextOrigin) -> Arg {
        let span = origin.span(word.span);
        let expanded = expand(&word.raw, Quoting::Word);
        // Not verbatim if it contains a line continuation.
        let is_verbatim = word.span.end - word.span.start == word.raw.len();
        let origin = origin.inner(is_verbatim.then_some(word.span.start), span);
        let mut flow = self.inside(&expanded, origin, span);
        let quotes = usize::from(expanded.value != word.raw);
        let is_inside = word.raw.get(quotes..word.raw.len() - quotes.min(word.raw.len()))
            == Some(expanded.value.as_str());
        let letters = match origin {
            TextOrigin::Letters(start) if is_inside => Some(start + quotes),
            _ => None,
        };
        let Expanded { value, is_static, .. } = expanded;
        if is_static {
            return Arg { value, is_static, span, letters, sources: flow.sources };
        }
        let known = self.known(&value, &mut flow);
        let is_static =
            !known.contains(['$', '`']) && !known.starts_with("<(") && !known.starts_with(">(");
        let letters = letters.filter(|_| !is_static);
        Arg { value: known, is_static, span, letters, sources: flow.sources }
    }

    /// Replaces the variables in a word whose values are known.
    fn known(&mut self, value: &str, flow: &mut Flow) -> String {
        let mut out = String::with_capacity(value.len());
        let mut rest = value;
        while let Some(at) = rest.find('$') {
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            let (length, name) = reference(rest);
            let variable = self.variables.get(name);
            flow.add(variable.map_or(&[], |variable| variable.sources.as_slice()));
            let text =
                variable.map_or_else(|| known_value(name), |variable| variable.text.as_deref());
            let text = text.filter(|text| text.len() <= self.values_left);
            self.values_left -= text.map_or(0, str::len);
            out.push_str(text.unwrap_or(&rest[..length]));
            rest = &rest[length..];
        }
        out.push_str(rest);
        out
    }

    /// Judges the commands in a word. Returns the files whose contents become part of it.
    fn inside(&mut self, expanded: &Expanded, origin: TextOrigin, whole: CommandSpan) -> Flow {
        let mut flow = Flow::default();
        for Substitution { script, at, gives_text } in &expanded.substitutions {
            let Some(script) = script.as_ref().filter(|_| self.scripts <= bounds::DEPTH_LIMIT)
            else {
                self.out.is_whole = false;
                continue;
            };
            let origin = origin.inner(*at, whole);
            let printed = self.isolated(|judge| judge.script(script, origin, &Flow::default()));
            flow.add(&printed.sources);
            if *gives_text && let Some((target, span)) = script.lone_input() {
                let target = self.word(target, origin);
                flow.add(self.input(&target, origin.span(span)).as_slice());
            }
        }
        flow
    }

    /// Reports what is shown to the model.
    fn report_shown(&mut self, flow: &Flow) {
        for source in &flow.sources {
            self.found((**source).clone());
        }
    }

    fn finding(&self, access: Access, command: &str, span: CommandSpan) -> Finding {
        let path = access.target.as_deref().and_then(|target| self.paths.seen_from_start(target));
        let message = message(self.policy, &access, path.as_deref(), command);
        let Access { kind, rule, target, .. } = access;
        Finding { kind, rule, command: command.to_owned(), target, span, message }
    }

    fn found(&mut self, finding: Finding) {
        let key = |finding: &Finding| (finding.span, finding.kind, finding.rule);
        let is_known = self.out.findings.iter().any(|known| key(known) == key(&finding));
        let is_wanted = self.policy.wants(finding.kind, finding.rule);
        if is_wanted && !is_known && self.out.findings.len() < SOURCES_LIMIT {
            self.out.findings.push(finding);
        }
    }
}

/// The length and name of a reference to a variable or a substitution at the start of a text.
fn reference(text: &str) -> (usize, &str) {
    let rest = &text[1..];
    if let Some(inside) = rest.strip_prefix('{') {
        let end = inside.find('}').map_or(text.len(), |end| end + 3);
        let name = inside.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next();
        return (end.min(text.len()), name.unwrap_or_default());
    }
    if rest.starts_with('(') {
        // Up to the last bracket: the substitution is known as a whole or not at all.
        let end = text.rfind(')').map_or(text.len(), |end| end + 1);
        return (end, &text[..end]);
    }
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
    (end + 1, &rest[..end])
}

/// The values of variables and substitutions that mean the same everywhere.
fn known_value(name: &str) -> Option<&'static str> {
    match name {
        "TMPDIR" | "TMP" | "TEMP" | "RUNNER_TEMP" => Some("/tmp"),
        "HOME" => Some("~"),
        "PWD" | "$(pwd)" | "$(git rev-parse --show-toplevel)" => Some("."),
        name if name.starts_with("$(mktemp") => Some("/tmp/mktemp"),
        _ => None,
    }
}

/// Whether a word is the output or the exit status of a program: `$(date)`, `"exit: $?"`.
fn is_output(arg: &Arg) -> bool {
    let value = arg.value.as_str();
    let is_number = matches!(value, "$$" | "$#") || ["$?", "$!"].iter().any(|n| value.contains(n));
    let is_printed = arg.sources.is_empty() && value.starts_with("$(");
    !arg.is_static && (is_number || is_printed)
}
