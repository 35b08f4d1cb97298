//! Generated changes of whitespace like those of formatters and editors, and results of edits after
//! them. Each line has an identity that no change of whitespace affects.

use std::fmt;
use std::fs;
use std::path::Path;

/// Pseudorandom numbers, the same in every run.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((self.0 >> 33) % bound.max(1) as u64) as usize
    }

    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

/// A line with its identity.
#[derive(Clone, Debug)]
pub struct Line {
    pub text: String,
    pub id: u32,
}

/// A kind of change of whitespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Habit {
    Units,
    ToTabs,
    FromTabs,
    Trailing,
    Wrapped,
    Semicolons,
}

pub const HABITS: [Habit; 6] = [
    Habit::Units,
    Habit::ToTabs,
    Habit::FromTabs,
    Habit::Trailing,
    Habit::Wrapped,
    Habit::Semicolons,
];

/// Counts of the results of edits.
#[derive(Default)]
pub struct Figures {
    pub right: u32,
    pub refused: u32,
    pub wrong: u32,
    /// Right edits whose new text has the indentation of its line.
    pub indented: u32,
}

impl Figures {
    pub fn all(&self) -> u32 {
        self.right + self.refused + self.wrong
    }

    pub fn share(&self) -> f64 {
        f64::from(self.right) / f64::from(self.all().max(1))
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (all, share) = (self.all(), self.share() * 100.0);
        let Figures { right, refused, wrong, indented } = self;
        write!(
            out,
            "{right} right ({share:.1} %, {indented} indented), {refused} refused, {wrong} wrong of {all}"
        )
    }
}

/// Sources of this repository.
pub fn sources() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let files = [
        "crates/memory/src/store.rs",
        "crates/core/src/edit/apply/job.rs",
        "crates/guard/src/tables.rs",
        "js/platform.cjs",
        "bench/run.mjs",
        "__test__/session.test.mjs",
        "docs/protocol.md",
        "docs/guide.md",
        ".github/workflows/release.yml",
        "bench/countInstructions.c",
        "stress/capi.c",
        "Cargo.toml",
        "package.json",
    ];
    files.iter().filter_map(|file| fs::read_to_string(root.join(file)).ok()).collect()
}

/// A text of nested blocks with many repeated lines.
pub fn nested(random: &mut Random, unit: &str) -> String {
    let says = [
        "enabled: true",
        "return stop_now(x);",
        "name: server",
        "update();",
        "items:",
        "- one item",
        "value = 1000;",
        "",
        "log(\"done\");",
    ];
    let (mut text, mut depth) = (String::new(), 0);
    let kinds = 2 + random.below(says.len() - 1);
    for number in 0..10 + random.below(120) {
        let says = match random.below(6) {
            0 if depth < 6 => {
                depth += 1;
                text += &format!("{}if (ready) {{\n", unit.repeat(depth - 1));
                continue;
            }
            1 if depth > 0 => {
                depth -= 1;
                "}".to_owned()
            }
            2 => format!("call_{}({number});", random.below(9)),
            _ => says[random.below(kinds)].to_owned(),
        };
        let front = if says.is_empty() { String::new() } else { unit.repeat(depth) };
        text += &format!("{front}{says}\n");
    }
    text
}

fn lines_of(text: &str) -> Vec<Line> {
    let lines = text.lines().zip(0..);
    lines.map(|(text, id)| Line { text: text.to_owned(), id }).collect()
}

/// Replaces whole units of the indentation of a line.
fn by_unit(line: &str, old: &str, new: &str) -> String {
    let (mut rest, mut front) = (line, String::new());
    while let Some(after) = rest.strip_prefix(old) {
        rest = after;
        front += new;
    }
    front + rest
}

/// The unit of indentation of a text, in spaces.
fn width(text: &str) -> usize {
    let mut counts = [0; 9];
    for line in text.lines() {
        let spaces = line.len() - line.trim_start_matches(' ').len();
        for unit in [2, 4, 8] {
            counts[unit] += usize::from(spaces % unit == 0);
        }
    }
    if counts[4] * 100 >= counts[2] * 97 { 4 } else { 2 }
}

/// A text before and after a habit changed it.
pub fn change_whitespace(random: &mut Random, habit: Habit, text: &str) -> (Vec<Line>, Vec<Line>) {
    let spaces = " ".repeat(width(text));
    let mut old = lines_of(text);
    let map = |lines: &[Line], old: &str, new: &str| -> Vec<Line> {
        let text = |line: &Line| by_unit(&line.text, old, new);
        lines.iter().map(|line| Line { text: text(line), ..*line }).collect()
    };
    let new = match habit {
        Habit::Units => {
            let others: &[&str] = if spaces.len() == 4 { &["  ", "   "] } else { &["    ", "   "] };
            let other = random.pick(others);
            map(&old, &spaces, other)
        }
        Habit::ToTabs => map(&old, &spaces, "\t"),
        Habit::FromTabs => {
            old = map(&old, &spaces, "\t");
            let other = random.pick(&["  ", "    "]);
            map(&old, "\t", other)
        }
        Habit::Trailing => {
            let is_removed = random.below(2) == 0;
            let rate = 1 + random.below(8);
            let mut other = old.clone();
            let changed = if is_removed { &mut old } else { &mut other };
            for line in changed {
                if random.below(rate) == 0 {
                    line.text += random.pick(&[" ", "  ", "\t"]);
                }
            }
            other
        }
        Habit::Semicolons => {
            let mut new = map(&old, &spaces, "\t");
            let ends = random.pick(&[");", ":", "}", "e", ","]);
            let count = new.len() as u32;
            for line in new.iter_mut().filter(|line| line.text.ends_with(ends)) {
                line.text += ";";
                line.id += 1_000_000 + count;
            }
            new
        }
        Habit::Wrapped => {
            let mut new = old.clone();
            let from = random.below(new.len());
            let to = new.len().min(from + 1 + random.below(30));
            for line in &mut new[from..to] {
                if !line.text.is_empty() {
                    line.text.insert_str(0, &spaces);
                }
            }
            new
        }
    };
    (old, new)
}

/// Changes more than whitespace: adds lines, and either copies some once or removes and changes
/// some. Not both: if a line is removed and a copy of it is added, the texts do not say which one
/// it is.
pub fn change_lines(random: &mut Random, text: &mut Vec<Line>) {
    let mut next = text.len() as u32;
    let mut fresh = |line: &str| {
        next += 1;
        Line { text: line.to_owned(), id: next }
    };
    let (mut can_copy, can_remove) = match random.below(2) {
        0 => (true, false),
        _ => (false, true),
    };
    for _ in 0..1 + random.below(6) {
        let at = random.below(text.len());
        let end = (at + 1 + random.below(4)).min(text.len());
        match random.below(4) {
            0 if can_copy => {
                can_copy = false;
                let lines = text[at..end].to_vec();
                let copy: Vec<Line> = lines.iter().map(|line| fresh(&line.text)).collect();
                let to = random.below(text.len());
                text.splice(to..to, copy);
            }
            0 if can_remove && text.len() > 8 => {
                text.drain(at..end);
            }
            1 if can_remove => text[at] = fresh(&format!("{} // changed", text[at].text)),
            _ => {
                let new = format!("added({});", random.below(1000));
                let new: Vec<Line> = (at..end).map(|_| fresh(&new)).collect();
                text.splice(at..at, new);
            }
        }
    }
}

pub fn joined(lines: &[Line]) -> String {
    lines.iter().map(|line| line.text.clone() + "\n").collect()
}

/// The whitespace at the start of a line.
pub fn front(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Runs edits by old numbers after each habit. Returns the counts for changes of whitespace alone,
/// and with other changes.
pub fn measure(
    texts: usize,
    mut edit: impl FnMut(&mut Random, (&[Line], &[Line]), &mut Figures),
) -> Vec<(Habit, Figures, Figures)> {
    let (sources, mut random) = (sources(), Random(45));
    let mut all = Vec::new();
    for habit in HABITS {
        let (mut alone, mut mixed) = (Figures::default(), Figures::default());
        for round in 0..texts {
            let unit = random.pick(&["  ", "    "]);
            let text = match round % 2 {
                0 => nested(&mut random, unit),
                _ => sources[random.below(sources.len())].clone(),
            };
            let (old, mut new) = change_whitespace(&mut random, habit, &text);
            let figures = if round % 4 < 2 {
                &mut alone
            } else {
                change_lines(&mut random, &mut new);
                &mut mixed
            };
            edit(&mut random, (&old, &new), figures);
        }
        eprintln!("{habit:?}: {alone}\n  with other changes: {mixed}");
        all.push((habit, alone, mixed));
    }
    all
}

/// Checks that hardly any edit is wrong, and that nearly all are right.
pub fn check(measured: &[(Habit, Figures, Figures)]) {
    let all: u32 = measured.iter().map(|(_, alone, mixed)| alone.all() + mixed.all()).sum();
    let wrong: u32 = measured.iter().map(|(_, _, mixed)| mixed.wrong).sum();
    // Two removals can leave a line that equals one of the removed lines.
    assert!(wrong * 20_000 <= all, "{wrong} wrong of {all}");
    for (habit, alone, mixed) in measured {
        assert_eq!(alone.wrong, 0, "{habit:?}: {alone}, mixed: {mixed}");
        let minimum = match habit {
            Habit::Trailing => 0.98,
            // Repeated lines may have no words around them.
            Habit::Semicolons => 0.9,
            _ => 0.95,
        };
        assert!(alone.share() >= minimum, "{habit:?}: {alone}");
        // The texts are files of this project, which change: two standard deviations of 180 edits.
        assert!(mixed.share() >= minimum.min(0.95) - 0.03, "{habit:?}: {mixed}");
    }
}
