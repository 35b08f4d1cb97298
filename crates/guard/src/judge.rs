//! Goes through the commands of a line and of everything that it runs: what each makes of its
//! input, and what comes to be seen or written of that.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::argv::{Arg, is_assignment, name_of, whole};
use super::bounds::{self, Measured, StackRoom};
use super::flow::{Flow, SOURCES_LIMIT};
use super::grammar::{self, Part, Redirect, Script, Simple, Word};
use super::hit::{Hit, Wish};
use super::message::message;
use super::place::{Files, Place, Places};
use super::policy::Policy;
use super::rules::{Call, Effect, Output};
use super::streams::{Descriptors, ERRORS, OUTPUT, Streams, Target, descriptor};
use super::word::{Expanded, Quoting, Substitution, expand, expand_body};
use super::wrap::{self, Inner};
use super::{CommandRule, CommandSpan, Finding, FindingKind, Serves};

/// How many groups and scripts may be inside each other, in all of a line.
const LEVEL_LIMIT: usize = 600;

/// How many of them may be inside each other on a small stack.
const SMALL_LEVEL_LIMIT: usize = 5;

/// How many commands may stand in front of a command: `sudo nice timeout 5 …`.
const PREFIX_LIMIT: usize = 16;

/// How many bytes values of variables may add to the words of a line.
const VALUES_LIMIT_BYTES: usize = 1 << 20;

/// What was found in a line.
#[derive(Debug, Default)]
pub struct Judged {
    pub findings: Vec<Finding>,
    /// Whether everything could be read.
    pub is_whole: bool,
    /// Whether it takes more stack than there is. Then it is to be judged again with more.
    pub needs_room: bool,
}

/// Judges a line, with as much stack as `room` says.
pub fn judge(command: &str, policy: &Policy, serves: &Serves<'_>, room: StackRoom) -> Judged {
    let mut judge = Judge {
        policy,
        room,
        places: Places::new(policy, Files::new(policy, serves)),
        variables: HashMap::new(),
        kept: HashSet::new(),
        descriptors: Descriptors::default(),
        shared: Vec::new(),
        values_left: VALUES_LIMIT_BYTES,
        out: Judged { is_whole: true, ..Judged::default() },
        scripts: 0,
        levels: 0,
        inner_cost: 0,
        braces_bytes: 0,
    };
    let seen = judge.text(command, TextOrigin::Letters(0), &Flow::default());
    judge.see(&seen);
    for (file, finding) in std::mem::take(&mut judge.shared) {
        if !judge.places.is_captured(file.as_deref()) {
            judge.found(finding);
        }
    }
    judge.out
}

/// Where a text stands in the command line.
#[derive(Clone, Copy)]
enum TextOrigin {
    /// Letter by letter, from this byte on.
    Letters(usize),
    /// Within these bytes, in another form.
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

    /// The place of a text that begins inside this one.
    fn inner(self, at: Option<usize>, whole: CommandSpan) -> TextOrigin {
        match (self, at) {
            (TextOrigin::Letters(start), Some(at)) => TextOrigin::Letters(start + at),
            _ => TextOrigin::Within(whole),
        }
    }
}

struct Judge<'p> {
    policy: &'p Policy,
    room: StackRoom,
    places: Places<'p>,
    /// What is known of the values of variables.
    variables: HashMap<String, Flow>,
    /// Files elsewhere that the line has put text in: moved to where the tools serve, it is written
    /// there.
    kept: HashSet<String>,
    /// The descriptors of the shell that lead to files.
    descriptors: Descriptors,
    /// Files that text was written to by a descriptor, with the findings. They are none if a program
    /// has printed to the same file when the line ends.
    shared: Vec<(Option<String>, Finding)>,
    values_left: usize,
    out: Judged,
    /// How many scripts are open inside each other.
    scripts: usize,
    /// How many scripts and groups are open inside each other.
    levels: usize,
    /// What all scripts inside the command line have cost.
    inner_cost: u64,
    /// What the line and all scripts inside it may cost for their braces.
    braces_bytes: u64,
}

impl<'p> Judge<'p> {
    /// Parses and judges a text that the shell would run; what it prints.
    fn text(&mut self, text: &str, place: TextOrigin, input: &Flow) -> Flow {
        let Some(Measured { room, read }) = bounds::measure(text) else { return self.unread() };
        self.braces_bytes += bounds::braces_bytes(text, &read);
        // The command line itself is within its bounds.
        if self.scripts > 0 {
            self.inner_cost += bounds::inner_cost(text, &read);
        }
        let is_dear = self.inner_cost > bounds::INNER_COST_LIMIT
            || self.braces_bytes > bounds::BRACES_LIMIT_BYTES;
        if is_dear || self.scripts > bounds::DEPTH_LIMIT {
            return self.unread();
        }
        if room == StackRoom::Large && self.room == StackRoom::Small {
            self.out.needs_room = true;
            return Flow::of_program();
        }
        match grammar::parse(text, &read) {
            Some(script) => self.script(&script, place, input),
            None => self.unread(),
        }
    }

    /// What cannot be read may print anything.
    fn unread(&mut self) -> Flow {
        self.out.is_whole = false;
        Flow::of_program()
    }

    /// Runs something behind which directories and descriptors are those from before.
    fn apart<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let before = (self.places.clone(), self.descriptors.clone());
        let made = run(self);
        (self.places, self.descriptors) = before;
        made
    }

    /// Runs something whose output is taken by what comes next.
    fn taken<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.descriptors.clone();
        self.descriptors.lead(OUTPUT, None);
        let made = run(self);
        self.descriptors = before;
        made
    }

    /// Runs something whose input and output are redirected; what is left to be seen.
    fn redirected(
        &mut self,
        streams: Streams,
        command: &str,
        run: impl FnOnce(&mut Self) -> Flow,
    ) -> Flow {
        let Streams { output, is_apart, mut descriptors, .. } = streams;
        if is_apart {
            descriptors.lead(OUTPUT, None);
        }
        let before = std::mem::replace(&mut self.descriptors, descriptors);
        let flow = run(self);
        self.descriptors = before;
        self.put_out(flow, &output, command)
    }

    fn script(&mut self, script: &Script, place: TextOrigin, input: &Flow) -> Flow {
        self.scripts += 1;
        let flow = self.parts(&script.0, place, input);
        self.scripts -= 1;
        flow
    }

    fn parts(&mut self, parts: &[Part], place: TextOrigin, input: &Flow) -> Flow {
        let mut flow = Flow::default();
        self.levels += 1;
        if self.room == StackRoom::Small && self.levels > SMALL_LEVEL_LIMIT {
            self.out.needs_room = true;
        } else if self.levels > LEVEL_LIMIT {
            self.out.is_whole = false;
        } else {
            for part in parts {
                flow.append(self.part(part, place, input));
            }
        }
        self.levels -= 1;
        flow
    }

    fn part(&mut self, part: &Part, place: TextOrigin, input: &Flow) -> Flow {
        match part {
            Part::Simple(simple) => self.simple(simple, place, input),
            Part::Pipeline(commands) => self.pipeline(commands, place, input),
            Part::Group { parts, redirects, is_subshell } => {
                let run = |judge: &mut Self| judge.group(parts, redirects, place, input);
                if *is_subshell { self.apart(run) } else { run(self) }
            }
            Part::Words { name, words } => {
                let values: Vec<_> = words.iter().map(|word| self.word(word, place)).collect();
                if let Some(name) = name {
                    let known = values.into_iter().find(|arg| arg.is_static);
                    let value = Flow::words(known.map(|arg| arg.value.into()));
                    self.variables.insert(name.clone(), value);
                }
                Flow::default()
            }
            Part::Text(text) => {
                let span = place.span(text.span);
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
        place: TextOrigin,
        input: &Flow,
    ) -> Flow {
        // What it opens stays open behind it.
        if redirects.is_empty() {
            return self.parts(parts, place, input);
        }
        let mut streams = self.streams(redirects, place);
        let given = streams.input.take();
        let input = given.as_ref().unwrap_or(input);
        self.redirected(streams, "", |judge| judge.parts(parts, place, input))
    }

    fn pipeline(&mut self, commands: &[Part], place: TextOrigin, input: &Flow) -> Flow {
        let run = |judge: &mut Self| {
            let Some((last, commands)) = commands.split_last() else { return Flow::default() };
            let mut fed: Option<Flow> = None;
            for command in commands {
                let input = fed.as_ref().unwrap_or(input);
                fed = Some(judge.taken(|judge| judge.part(command, place, input)));
            }
            judge.part(last, place, fed.as_ref().unwrap_or(input))
        };
        if commands.len() > 1 { self.apart(run) } else { run(self) }
    }

    fn simple(&mut self, simple: &Simple, place: TextOrigin, input: &Flow) -> Flow {
        for assignment in &simple.assignments {
            let arg = self.word(assignment, place);
            self.assign(&arg);
        }
        let args: Vec<_> = simple.words.iter().map(|word| self.word(word, place)).collect();
        let name = args.first().and_then(name_of).unwrap_or_default().to_owned();
        let mut streams = self.streams(&simple.redirects, place);
        let given = streams.input.take();
        let input = given.as_ref().unwrap_or(input);
        if name == "exec" && args.len() == 1 {
            self.see(input);
            return self.opens(streams);
        }
        self.redirected(streams, &name, |judge| match (args.is_empty(), name.as_str()) {
            // Nothing but `> file` makes an empty one.
            (true, _) | (_, ":" | "true") => Flow::words(None),
            _ => judge.command(&args, input, 0),
        })
    }

    /// `exec > f` and the like: redirections that all that follows has.
    fn opens(&mut self, streams: Streams) -> Flow {
        self.descriptors = streams.descriptors;
        if streams.is_apart {
            let output = streams.output.last().map(|target| self.shared(target));
            self.descriptors.lead(OUTPUT, output);
        }
        Flow::default()
    }

    /// The file of a descriptor that is opened.
    fn shared(&self, target: &Target) -> Rc<Target> {
        if !target.appends {
            self.places.capture(target.identity.as_deref(), false);
        }
        Rc::new(Target { appends: true, is_shared: true, ..target.clone() })
    }

    /// Judges a command by its words, behind so many others.
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
        match wrap::unwrap(args, input.listing.as_deref()) {
            None => self.own(name, args, input),
            Some(Inner::Command(command)) => self.command(&command, input, prefixes + 1),
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
                let place = TextOrigin::Within(input.at.unwrap_or(whole(args)));
                self.text(text, place, &nothing)
            }
        }
    }

    /// Commands of the shell itself that change what is known; none for any other.
    fn builtin(&mut self, name: &str, given: &[Arg], input: &Flow) -> Option<Flow> {
        match name {
            "cd" | "pushd" | "popd" => match given.iter().find(|arg| !arg.value.starts_with('-')) {
                Some(arg) => self.places.enter(&arg.value, arg.is_static),
                None if name == "cd" && given.is_empty() => self.places.enter("~", true),
                None => self.places.enter("$_", false),
            },
            "export" | "local" | "declare" | "readonly" | "typeset" => {
                given.iter().for_each(|arg| self.assign(arg));
            }
            "read" | "mapfile" | "readarray" => {
                for arg in given.iter().filter(|arg| !arg.value.starts_with('-')) {
                    self.variables.insert(arg.value.clone(), input.transformed());
                }
                // All of a file at once.
                if name != "read" && input.at.is_some() {
                    self.see(input);
                }
            }
            _ => return None,
        }
        Some(Flow::default())
    }

    /// Notes `name=value`.
    fn assign(&mut self, arg: &Arg) {
        if let Some((name, value)) = arg.value.split_once('=').filter(|_| is_assignment(&arg.value))
        {
            // A path whose beginning is known tells where it leads.
            let is_known = arg.is_static || value.starts_with(['/', '~']);
            let text = is_known.then(|| value.into());
            self.variables.insert(name.to_owned(), Flow::words(text));
        }
    }

    /// What a command does itself.
    fn own(&mut self, name: &str, args: &[Arg], input: &Flow) -> Flow {
        let given = args.get(1..).unwrap_or_default();
        let Judge { places, policy, kept, .. } = self;
        let call = Call { name, given, input, places, policy, kept };
        let Effect { hits, shown, output, passes, keeps } = call.effect();
        self.kept.extend(keeps);
        let span = whole(args);
        for hit in hits {
            self.found(self.finding(hit, name, span));
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
                flow.program = given.iter().any(is_output);
                given.iter().for_each(|arg| flow.add(&arg.sources));
                flow
            }
            Output::Names(directory) => {
                Flow { listing: Some(directory.into()), ..Flow::of_program() }
            }
        };
        // What it shows is what it prints.
        flow.program &= shown.is_empty();
        for arg in given.iter().filter(|arg| takes && arg.value.starts_with("<(")) {
            flow.add(&arg.sources);
        }
        if let [hit] = shown.as_slice()
            && hit.is_lines(name)
            && flow.sources.is_empty()
        {
            flow.lines = Some(Rc::new(hit.clone()));
        }
        let findings = shown.into_iter().map(|hit| Rc::new(self.finding(hit, name, span)));
        flow.add(&findings.collect::<Vec<_>>());
        // Where the shell's own output goes.
        let output = self.descriptors.file(OUTPUT).cloned();
        self.put_out(flow, output.as_slice(), name)
    }

    /// Some lines of the file that a command is fed: the call to make is for those alone.
    fn some_lines(&self, input: &Flow, passes: &Wish) -> Option<Flow> {
        let hit = input.lines.as_ref()?.narrowed(passes)?;
        let [source] = input.sources.as_slice() else { return None };
        let finding = self.finding(hit.clone(), &source.command, source.span);
        let (sources, lines) = (vec![Rc::new(finding)], Some(Rc::new(hit)));
        Some(Flow { sources, lines, ..input.transformed() })
    }

    fn given_script(&mut self, script: &Arg, input: &Flow) -> Flow {
        let place = script.letters.map_or(TextOrigin::Within(script.span), TextOrigin::Letters);
        let was_whole = self.out.is_whole;
        let flow = self.apart(|judge| judge.text(&script.value, place, input));
        if !script.is_static {
            // What is known at run time alone may make a script of it.
            self.out.is_whole = was_whole;
        }
        flow
    }

    /// Reads redirections, and judges what stands in them.
    fn streams(&mut self, redirects: &[Redirect], place: TextOrigin) -> Streams {
        let descriptors = self.descriptors.clone();
        let mut streams = Streams { descriptors, ..Streams::default() };
        for redirect in redirects {
            let (flow, span) = match redirect {
                Redirect::HereDoc { body, is_quoted, span } => {
                    let span = place.span(*span);
                    (self.here_doc(body, *is_quoted, span), span)
                }
                Redirect::File { operator, target, descriptor, span } => {
                    let span = place.span(*span);
                    let target = self.word(target, place);
                    match operator.as_str() {
                        "<" => {
                            let mut flow =
                                Flow { sources: target.sources.clone(), ..Flow::default() };
                            flow.add(self.input(&target, span).as_slice());
                            flow.program = flow.sources.is_empty();
                            (flow, span)
                        }
                        "<<<" => {
                            let words = Flow::words(Some(target.value.into()));
                            (Flow { sources: target.sources, ..words }, span)
                        }
                        operator => {
                            let descriptor = descriptor.as_deref();
                            self.leads(operator, descriptor, target, span, &mut streams);
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
    fn leads(
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
        streams.is_apart |= is_output && to != Some(OUTPUT);
        if operator == ">&-" {
            return streams.descriptors.lead(from, None);
        }
        if let Some(to) = to {
            let is_redirected = to == OUTPUT && streams.is_apart;
            let own = streams.output.last().filter(|_| is_redirected);
            let known = || streams.descriptors.file(to).filter(|_| !is_redirected);
            let file = own.or_else(known).cloned();
            return match file {
                Some(file) if is_output => streams.output.push(file),
                file => streams.descriptors.lead(from, file),
            };
        }
        let identity = self.places.identity(&target.value, target.is_static);
        // What was in the file stays.
        let appends = operator.ends_with(">>") || operator == "<>";
        // Errors are a program's own.
        if from == ERRORS {
            if !appends {
                self.places.capture(identity.as_deref(), true);
            }
            return;
        }
        let place = self.places.of(&target.value, target.is_static);
        let file = Target { file: target, span, place, identity, appends, is_shared: false };
        if is_output {
            streams.output.push(Rc::new(file));
        } else {
            streams.descriptors.lead(from, Some(self.shared(&file)));
        }
    }

    fn here_doc(&mut self, body: &str, is_quoted: bool, span: CommandSpan) -> Flow {
        let mut flow = Flow::words(Some(body.into()));
        if !is_quoted {
            let left = bounds::INNER_COST_LIMIT.saturating_sub(self.inner_cost);
            let (expanded, cost) = expand_body(body, left);
            self.inner_cost += cost;
            let place = TextOrigin::Within(span);
            flow.add(&self.inside(&expanded, place, span).sources);
        }
        flow
    }

    /// The finding of a file as an input, if the tools serve it.
    fn input(&self, target: &Arg, span: CommandSpan) -> Option<Rc<Finding>> {
        let is_served = !target.value.starts_with("<(")
            && self.places.used(FindingKind::Read, &target.value, target.is_static)
                != Place::Outside;
        let hit = || Hit::new(FindingKind::Read, CommandRule::Input, Some(&target.value));
        is_served.then(|| Rc::new(self.finding(hit(), "", span)))
    }

    /// Puts what a command prints where it is redirected; what is left to be seen.
    fn put_out(&mut self, flow: Flow, output: &[Rc<Target>], command: &str) -> Flow {
        let mut is_seen = true;
        for target in output {
            let Target { file, span, place, identity, .. } = target.as_ref();
            let path = file.value.as_str();
            is_seen &= path == "/dev/tty";
            if flow.is_text() && *place != Place::Inside {
                self.kept.extend(identity.clone());
            } else if flow.is_text() && !self.places.permits(FindingKind::Write, path) {
                let hit = Hit::new(FindingKind::Write, CommandRule::Output, Some(path));
                let finding = self.finding(hit, command, *span);
                if !target.is_shared {
                    self.found(finding);
                } else if self.shared.len() < SOURCES_LIMIT {
                    self.shared.push((identity.clone(), finding));
                }
            }
            if !target.appends || (target.is_shared && flow.is_output()) {
                self.places.capture(identity.as_deref(), flow.is_output());
            }
        }
        if is_seen { flow } else { Flow::default() }
    }

    /// Expands a word, and judges the commands inside it.
    fn word(&mut self, word: &Word, place: TextOrigin) -> Arg {
        let span = place.span(word.span);
        let expanded = expand(&word.raw, Quoting::Word);
        // Not where a line continuation stands in it.
        let is_verbatim = word.span.end - word.span.start == word.raw.len();
        let place = place.inner(is_verbatim.then_some(word.span.start), span);
        let mut flow = self.inside(&expanded, place, span);
        let quotes = usize::from(expanded.value != word.raw);
        let is_inside = word.raw.get(quotes..word.raw.len() - quotes.min(word.raw.len()))
            == Some(expanded.value.as_str());
        let letters = match place {
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

    /// A word with the values of its variables, as far as they are known.
    fn known(&mut self, value: &str, flow: &mut Flow) -> String {
        let mut out = String::with_capacity(value.len());
        let mut rest = value;
        while let Some(at) = rest.find('$') {
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            let (length, name) = reference(rest);
            let variable = self.variables.get(name);
            flow.add(variable.map_or(&[], |variable| variable.sources.as_slice()));
            let text = variable.map_or_else(|| usual(name), |variable| variable.text.as_deref());
            let text = text.filter(|text| text.len() <= self.values_left);
            self.values_left -= text.map_or(0, str::len);
            out.push_str(text.unwrap_or(&rest[..length]));
            rest = &rest[length..];
        }
        out.push_str(rest);
        out
    }

    /// Judges the commands in a word; the files whose contents they put into it.
    fn inside(&mut self, expanded: &Expanded, place: TextOrigin, whole: CommandSpan) -> Flow {
        let mut flow = Flow::default();
        for Substitution { script, at, gives_text } in &expanded.substitutions {
            let Some(script) = script.as_ref().filter(|_| self.scripts <= bounds::DEPTH_LIMIT)
            else {
                self.out.is_whole = false;
                continue;
            };
            let place = place.inner(*at, whole);
            let printed = self.apart(|judge| judge.script(script, place, &Flow::default()));
            flow.add(&printed.sources);
            if *gives_text && let Some((target, span)) = script.lone_input() {
                let target = self.word(target, place);
                flow.add(self.input(&target, place.span(span)).as_slice());
            }
        }
        flow
    }

    /// The model sees this.
    fn see(&mut self, flow: &Flow) {
        for source in &flow.sources {
            self.found((**source).clone());
        }
    }

    fn finding(&self, hit: Hit, command: &str, span: CommandSpan) -> Finding {
        let path = hit.target.as_deref().and_then(|target| self.places.seen_from_start(target));
        let message = message(self.policy, &hit, path.as_deref(), command);
        let Hit { kind, rule, target, .. } = hit;
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

/// A reference to a variable or a substitution at the start of a text: how long it is, and its name.
fn reference(text: &str) -> (usize, &str) {
    let rest = &text[1..];
    if let Some(inside) = rest.strip_prefix('{') {
        let end = inside.find('}').map_or(text.len(), |end| end + 3);
        let name = inside.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next();
        return (end.min(text.len()), name.unwrap_or_default());
    }
    if rest.starts_with('(') {
        // To the last bracket: what is known of it is all or nothing.
        let end = text.rfind(')').map_or(text.len(), |end| end + 1);
        return (end, &text[..end]);
    }
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
    (end + 1, &rest[..end])
}

/// What variables and substitutions hold that have the same meaning everywhere.
fn usual(name: &str) -> Option<&'static str> {
    match name {
        "TMPDIR" | "TMP" | "TEMP" | "RUNNER_TEMP" => Some("/tmp"),
        "HOME" => Some("~"),
        "PWD" | "$(pwd)" | "$(git rev-parse --show-toplevel)" => Some("."),
        name if name.starts_with("$(mktemp") => Some("/tmp/mktemp"),
        _ => None,
    }
}

/// Whether a word is what a program printed, or how it ended: `$(date)`, `"exit: $?"`.
fn is_output(arg: &Arg) -> bool {
    let value = arg.value.as_str();
    let is_number = matches!(value, "$$" | "$#") || ["$?", "$!"].iter().any(|n| value.contains(n));
    let is_printed = arg.sources.is_empty() && value.starts_with("$(");
    !arg.is_static && (is_number || is_printed)
}
