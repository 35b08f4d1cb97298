//! Goes through the commands of a line and of everything that it runs, and collects what they do
//! to files.

use super::argv::Arg;
use super::bounds::{self, StackRoom};
use super::grammar::{self, Part, Redirect, Script, Simple, Word};
use super::lexis::unglued;
use super::policy::lists;
use super::rules::{Call, Hit, Input, is_no_file, name_of, sed_commands};
use super::word::{Quoting, Substitution, expand, expand_body};
use super::wrap::{self, Inner};
use super::{CommandRule, CommandSpan, Finding, FindingKind, Policy};

/// How many groups and scripts may be inside each other, in all of a line.
const LEVEL_LIMIT: usize = 600;

/// How many of them may be inside each other on a small stack.
const SMALL_LEVEL_LIMIT: usize = 5;

/// How many commands may stand in front of a command: `sudo nice timeout 5 …`.
const PREFIX_LIMIT: usize = 16;

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
pub fn judge(command: &str, policy: &Policy, room: StackRoom) -> Judged {
    let mut judge = Judge {
        policy,
        room,
        out: Judged { is_whole: true, ..Judged::default() },
        scripts: 0,
        levels: 0,
        inner_cost: 0,
    };
    judge.text(command, TextOrigin::Letters(0), &Input::Outer);
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
    fn span(self, span: grammar::TextSpan) -> CommandSpan {
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
    out: Judged,
    /// How many scripts are open inside each other.
    scripts: usize,
    /// How many scripts and groups are open inside each other.
    levels: usize,
    /// What all scripts inside the command line have cost.
    inner_cost: u64,
}

impl Judge<'_> {
    /// Parses and judges a text that the shell would run.
    fn text(&mut self, text: &str, place: TextOrigin, input: &Input) {
        let Some((room, cost)) = bounds::room_for(text) else {
            self.out.is_whole = false;
            return;
        };
        // The command line itself is within its bounds.
        if self.scripts > 0 {
            self.inner_cost += cost;
        }
        if self.inner_cost > bounds::INNER_COST_LIMIT || self.scripts > bounds::DEPTH_LIMIT {
            self.out.is_whole = false;
            return;
        }
        if room == StackRoom::Large && self.room == StackRoom::Small {
            self.out.needs_room = true;
            return;
        }
        if let Some(script) = grammar::parse(text) {
            return self.script(&script, place, input);
        }
        let whole = place.span(grammar::TextSpan { start: 0, end: text.len() });
        match unglued(text).and_then(|text| grammar::parse(&text)) {
            Some(script) => self.script(&script, TextOrigin::Within(whole), input),
            None => self.out.is_whole = false,
        }
    }

    fn script(&mut self, script: &Script, place: TextOrigin, input: &Input) {
        self.scripts += 1;
        self.parts(&script.0, place, input);
        self.scripts -= 1;
    }

    fn parts(&mut self, parts: &[Part], place: TextOrigin, input: &Input) {
        self.levels += 1;
        if self.room == StackRoom::Small && self.levels > SMALL_LEVEL_LIMIT {
            self.out.needs_room = true;
        } else if self.levels > LEVEL_LIMIT {
            self.out.is_whole = false;
        } else {
            for part in parts {
                self.part(part, place, input);
            }
        }
        self.levels -= 1;
    }

    fn part(&mut self, part: &Part, place: TextOrigin, input: &Input) {
        match part {
            Part::Simple(simple) => self.simple(simple, place, input),
            Part::Pipeline(commands) => self.pipeline(commands, place, input),
            Part::Group { parts, redirects } => {
                let own = self.redirects(redirects, "", place);
                self.parts(parts, place, own.as_ref().map_or(input, |(input, _)| input));
            }
            Part::Words(words) => {
                for word in words {
                    self.word(word, place);
                }
            }
            Part::Text(text) => self.expanded(text, Quoting::Letters, place),
        }
    }

    fn pipeline(&mut self, commands: &[Part], place: TextOrigin, input: &Input) {
        let mut fed = None;
        for command in commands {
            let input = fed.as_ref().unwrap_or(input);
            self.part(command, place, input);
            fed = Some(Input::Data(printed(command)));
        }
    }

    fn simple(&mut self, simple: &Simple, place: TextOrigin, input: &Input) {
        for assignment in &simple.assignments {
            self.word(assignment, place);
        }
        let args: Vec<_> = simple.words.iter().map(|word| self.word(word, place)).collect();
        let name = args.first().and_then(name_of).unwrap_or_default();
        let own = self.redirects(&simple.redirects, name, place);
        let (input, at) = match &own {
            Some((input, at)) => (input, Some(*at)),
            None => (input, None),
        };
        self.command(&args, input, at, 0);
    }

    /// Judges a command by its words; `at` is where its own input is redirected.
    fn command(&mut self, args: &[Arg], input: &Input, at: Option<CommandSpan>, prefixes: usize) {
        let Some(first) = args.first() else { return };
        if let Some(name) = name_of(first) {
            let call = Call { name, given: &args[1..], input, policy: self.policy };
            for hit in call.hits() {
                let whole = whole(args);
                let span = at.filter(|_| hit.rule == CommandRule::Input).unwrap_or(whole);
                self.found(hit, name, span);
            }
            for text in sed_commands(name, &args[1..]) {
                self.text(text, TextOrigin::Within(whole(args)), &Input::Outer);
            }
        }
        if prefixes == PREFIX_LIMIT {
            self.out.is_whole = false;
            return;
        }
        match wrap::unwrap(args) {
            None => {}
            Some(Inner::Commands(commands)) => {
                // What `xargs` and `find` run does not read their input.
                let feeds = matches!(name_of(first), Some("xargs" | "gxargs" | "parallel"));
                let nothing = Input::Data(None);
                let input = if feeds { &nothing } else { input };
                for command in commands {
                    self.command(&command, input, at, prefixes + 1);
                }
            }
            Some(Inner::Script(script)) => self.given_script(&script, input),
            Some(Inner::StandardInput) => {
                if let Input::Data(Some(text)) = input {
                    self.text(
                        text,
                        TextOrigin::Within(at.unwrap_or(whole(args))),
                        &Input::Data(None),
                    );
                }
            }
        }
    }

    fn given_script(&mut self, script: &wrap::NestedScript, input: &Input) {
        let place = match script.words.as_slice() {
            [word] if word.letters.is_some() => {
                TextOrigin::Letters(word.letters.unwrap_or_default())
            }
            [] => return,
            words => TextOrigin::Within(whole(words)),
        };
        let was_whole = self.out.is_whole;
        self.text(&script.text, place, input);
        if !script.is_static {
            // What is known at run time alone may make a script of it.
            self.out.is_whole = was_whole;
        }
    }

    /// Judges what is redirected; the input that comes of it, and where it is redirected.
    fn redirects(
        &mut self,
        redirects: &[Redirect],
        command: &str,
        place: TextOrigin,
    ) -> Option<(Input, CommandSpan)> {
        let mut input = None;
        for redirect in redirects {
            match redirect {
                Redirect::HereDoc { body, is_quoted, span } => {
                    let span = place.span(*span);
                    if !is_quoted {
                        let left = bounds::INNER_COST_LIMIT.saturating_sub(self.inner_cost);
                        let (expanded, cost) = expand_body(body, left);
                        self.inner_cost += cost;
                        self.substitutions(&expanded.substitutions, TextOrigin::Within(span), span);
                    }
                    input = Some((Input::Data(Some(body.clone())), span));
                }
                Redirect::File { operator, target, span } => {
                    let span = place.span(*span);
                    let target = self.word(target, place);
                    match operator.as_str() {
                        "<" if is_no_file(&target.value, target.is_static) => {
                            input = Some((Input::Data(None), span));
                        }
                        "<" => input = Some((Input::File(target.value), span)),
                        "<<<" => input = Some((Input::Data(Some(target.value)), span)),
                        "<&" | ">&-" => {}
                        ">&" if is_descriptor(&target) => {}
                        _ => self.output(&target, command, span),
                    }
                }
            }
        }
        input
    }

    fn output(&mut self, target: &Arg, command: &str, span: CommandSpan) {
        let path = &target.value;
        if !is_no_file(path, target.is_static) && !lists(&self.policy.writable_paths, path) {
            let target = Some(path.clone());
            let hit = Hit { kind: FindingKind::Write, rule: CommandRule::Output, target };
            self.found(hit, command, span);
        }
    }

    /// Expands a word, and judges the commands inside it.
    fn word(&mut self, word: &Word, place: TextOrigin) -> Arg {
        let span = place.span(word.span);
        let expanded = expand(&word.raw, Quoting::Word);
        // Not where a line continuation stands in it.
        let is_verbatim = word.span.end - word.span.start == word.raw.len();
        let start = is_verbatim.then_some(word.span.start);
        self.substitutions(&expanded.substitutions, place.inner(start, span), span);
        let quotes = usize::from(expanded.value != word.raw);
        let is_inside = word.raw.get(quotes..word.raw.len() - quotes.min(word.raw.len()))
            == Some(expanded.value.as_str());
        let letters = match (place, start) {
            (TextOrigin::Letters(base), Some(start)) if is_inside => Some(base + start + quotes),
            _ => None,
        };
        Arg { value: expanded.value, is_static: expanded.is_static, span, letters }
    }

    /// Judges the commands in a text where quotes are letters.
    fn expanded(&mut self, text: &Word, quoting: Quoting, place: TextOrigin) {
        let span = place.span(text.span);
        let expanded = expand(&text.raw, quoting);
        self.substitutions(&expanded.substitutions, TextOrigin::Within(span), span);
    }

    fn substitutions(
        &mut self,
        substitutions: &[Substitution],
        place: TextOrigin,
        whole: CommandSpan,
    ) {
        for Substitution { script, at, gives_text } in substitutions {
            let Some(script) = script else {
                self.out.is_whole = false;
                continue;
            };
            let place = place.inner(*at, whole);
            if self.scripts > bounds::DEPTH_LIMIT {
                self.out.is_whole = false;
                continue;
            }
            self.script(script, place, &Input::Outer);
            if *gives_text && let Some((target, span)) = script.lone_input() {
                self.lone_input(target, span, place);
            }
        }
    }

    /// Notes that `$(< file)` reads a file.
    fn lone_input(&mut self, target: &Word, span: grammar::TextSpan, place: TextOrigin) {
        let target = expand(&target.raw, Quoting::Word);
        let path = target.value;
        if !is_no_file(&path, target.is_static) && !lists(&self.policy.readable_paths, &path) {
            let hit = Hit { kind: FindingKind::Read, rule: CommandRule::Input, target: Some(path) };
            self.found(hit, "", place.span(span));
        }
    }

    fn found(&mut self, hit: Hit, command: &str, span: CommandSpan) {
        let Hit { kind, rule, target } = hit;
        let is_wanted = match kind {
            FindingKind::Read => self.policy.reads,
            FindingKind::Write => self.policy.writes,
        };
        let is_known =
            self.out.findings.iter().any(|finding| {
                finding.span == span && finding.kind == kind && finding.rule == rule
            });
        if !is_wanted || is_known || self.out.findings.len() == FINDINGS_LIMIT {
            return;
        }
        let message = message(self.policy, kind, rule, command, target.as_deref());
        let command = command.to_owned();
        self.out.findings.push(Finding { kind, rule, command, target, span, message });
    }
}

/// The most findings that are reported of a line.
const FINDINGS_LIMIT: usize = 100;

/// From the first of these words to the last.
fn whole(args: &[Arg]) -> CommandSpan {
    let start = args.first().map_or(0, |arg| arg.span.start);
    CommandSpan { start, end: args.iter().map(|arg| arg.span.end).max().unwrap_or(start) }
}

/// Whether the target of `>&` is a descriptor: a number, or a variable that holds one.
fn is_descriptor(target: &Arg) -> bool {
    let digits = target.value.trim_end_matches('-');
    !target.is_static || digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// What a command prints, where the line itself says it: `echo`, and a here-document.
fn printed(part: &Part) -> Option<String> {
    let Part::Simple(Simple { words, redirects, .. }) = part else { return None };
    let words: Vec<_> = words.iter().map(|word| expand(&word.raw, Quoting::Word).value).collect();
    let (name, given) = words.split_first()?;
    match (name.as_str(), redirects.as_slice()) {
        ("cat", [Redirect::HereDoc { body, .. }]) if given.is_empty() => Some(body.clone()),
        ("echo", []) => {
            let is_option = |word: &&String| matches!(word.as_str(), "-n" | "-e" | "-ne" | "-en");
            let skipped = given.iter().take_while(is_option).count();
            Some(given[skipped..].join(" "))
        }
        ("printf", []) => match given {
            [format, text] if format == "%s" || format == "%s\\n" => Some(text.clone()),
            [text] => Some(text.replace("\\n", "\n")),
            _ => None,
        },
        _ => None,
    }
}

/// What the model is told.
fn message(
    policy: &Policy,
    kind: FindingKind,
    rule: CommandRule,
    command: &str,
    target: Option<&str>,
) -> String {
    let tools = &policy.tools;
    let what = target.map_or_else(String::new, |target| format!(" `{}`", shortened(target)));
    let who =
        if command.is_empty() { "This redirection".to_owned() } else { format!("`{command}`") };
    match (kind, rule) {
        (_, CommandRule::Search) => {
            let what = if what.is_empty() { " files".to_owned() } else { what };
            format!(
                "{who} searches{what}: use the tool `{}` instead, whose matches have anchors.",
                tools.search
            )
        }
        (FindingKind::Read, CommandRule::Interpreter) => {
            format!(
                "Code for {who} reads a file: use the tool `{}` instead, which shows lines with anchors.",
                tools.read
            )
        }
        (FindingKind::Write, CommandRule::Interpreter) => {
            format!("Code for {who} writes a file: use the tool `{}` instead.", tools.edit)
        }
        (FindingKind::Read, _) => {
            let what = if what.is_empty() { " a file".to_owned() } else { what };
            format!(
                "{who} reads{what}: use the tool `{}` instead, which shows lines with anchors.",
                tools.read
            )
        }
        (FindingKind::Write, CommandRule::Output) => {
            let who = if command.is_empty() { who } else { format!("The output of {who}") };
            let who = if command.is_empty() {
                format!("{who} writes")
            } else {
                format!("{who} is written to")
            };
            format!("{who}{what}: use the tool `{}` to write files.", tools.edit)
        }
        (FindingKind::Write, _) => {
            let what = if what.is_empty() { " files".to_owned() } else { what };
            format!("{who} writes{what}: use the tool `{}` instead.", tools.edit)
        }
    }
}

/// A target as a message shows it.
fn shortened(target: &str) -> String {
    const LIMIT_CHARS: usize = 80;
    match target.char_indices().nth(LIMIT_CHARS) {
        Some((end, _)) => format!("{}…", &target[..end]),
        None => target.to_owned(),
    }
}
