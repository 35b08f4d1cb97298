//! Examples for each rule of sessions.

use std::path::Path;

use super::locate::{Found, FoundBy, Locator, Placed, Reason, ShownLine, Target, UnknownLines};
use super::*;
use crate::edit::resolve::Spot;
use hashline_base::cancel::Cancel;
use hashline_base::error::Code;
use hashline_lines::anchor::{Anchor, Edition};
use hashline_lines::dialect::Dialect;
use hashline_lines::hash::hash_line;
use hashline_lines::lines::{LineIndex, Unit};
use hashline_memory::{
    Body, LineChanges, LineSet, Memory, MemoryLimits, MemoryUpdate, Moment, SessionMemory, Splice,
    Version,
};

const FILE: &str = "file.rs";

fn pi() -> &'static Dialect {
    Dialect::by_name("pi").unwrap()
}

/// Calls `run` with a text as a body.
fn with<T>(text: &str, run: impl FnOnce(&Body<'_>) -> T) -> T {
    let index = LineIndex::new(text.as_bytes(), Unit::Byte);
    run(&Body::new(text.as_bytes(), &index))
}

fn version(text: &str) -> Version {
    Version::of(text.as_bytes(), usize::MAX)
}

/// Puts each word on a line of its own.
fn lines(text: &str) -> String {
    text.split(' ').map(|line| format!("{line}\n")).collect()
}

/// The anchor of a line with this text.
fn anchor(line: u32, text: &str) -> Anchor {
    Anchor::of_line(line, hash_line(pi(), u64::from(line), text))
}

/// A memory, and the current text of the file.
struct Session {
    memory: Memory,
    text: String,
}

impl Session {
    /// A session that was shown a whole text.
    fn showing(text: &str) -> Session {
        let mut session = Session { memory: Memory::default(), text: lines(text) };
        session.show(1, u64::MAX - 1);
        session
    }

    fn show(&mut self, first: u64, last: u64) {
        let text = version(&self.text);
        let shown = LineSet::of(first, last.min(text.count()));
        self.memory.show(Path::new(FILE), &text, &shown.into());
    }

    /// Another process writes the file.
    fn becomes(&mut self, text: &str) {
        self.text = lines(text);
    }

    /// The session replaces lines.
    fn edit(&mut self, first: u64, removed: u64, text: &[&str]) {
        let mut now: Vec<String> = self.text.lines().map(str::to_owned).collect();
        let at = first as usize - 1;
        now.splice(at..at + removed as usize, text.iter().map(|line| (*line).to_owned()));
        let now: String = now.into_iter().map(|line| line + "\n").collect();
        let splice = Splice { first, removed, inserted: text.len() as u64 };
        let (before, after) = (version(&self.text), version(&now));
        self.memory.edited(Path::new(FILE), &before, &after, &LineChanges::of(vec![splice]));
        self.text = now;
    }

    fn find<T>(&self, target: &Target<'_>, unseen: Unseen, read: impl FnOnce(Found<'_>) -> T) -> T {
        self.find_as_of(target, unseen, None, read)
    }

    fn find_as_of<T>(
        &self,
        target: &Target<'_>,
        unseen: Unseen,
        as_of: Option<Moment>,
        read: impl FnOnce(Found<'_>) -> T,
    ) -> T {
        with(&self.text, |body| {
            let record = self.memory.record(Path::new(FILE));
            let cancel = Cancel::default();
            let mut locator = Locator::new(&record, *body, pi(), unseen, as_of, &cancel);
            read(locator.locate(target))
        })
    }

    /// The lines that an answer shows with their version.
    fn ambiguous(&self, first: u64, last: u64) -> LineSet {
        with(&self.text, |body| {
            let record = self.memory.record(Path::new(FILE));
            let cancel = Cancel::default();
            let mut locator = Locator::new(&record, *body, pi(), Unseen::Refuse, None, &cancel);
            locator.ambiguous(first..=last)
        })
    }

    /// The anchor of a line with its version.
    fn of_version(&self, line: u32, text: &str) -> Anchor {
        let edition = with(&self.text, |body| Edition::of(body.hash));
        Anchor { edition: Some(edition), ..anchor(line, text) }
    }

    fn placed(&self, target: &Target<'_>) -> Placed {
        self.find(target, Unseen::Refuse, |found| match found {
            Found::Placed(placed) => placed,
            other => panic!("{other:?}"),
        })
    }

    fn spot(&self, target: &Target<'_>) -> Spot {
        self.placed(target).spot
    }

    fn line(&self, line: u32, text: &str) -> Spot {
        self.spot(&Target::Line(&anchor(line, text)))
    }

    fn refused(&self, target: &Target<'_>) -> (Code, Reason) {
        self.find(target, Unseen::Refuse, |found| match found {
            Found::Refused(refused) => (refused[0].code, refused[0].reason.clone()),
            other => panic!("{other:?}"),
        })
    }

    fn line_refused(&self, line: u32, text: &str) -> (Code, Reason) {
        self.refused(&Target::Line(&anchor(line, text)))
    }
}

#[test]
fn an_unchanged_file_is_edited_where_the_anchor_says() {
    let session = Session::showing("a b c d");
    let (first, last) = (anchor(2, "b"), anchor(3, "c"));
    let placed = session.placed(&Target::Line(&first));
    assert_eq!(
        (placed.spot, placed.found_by, placed.distance),
        (Spot::Lines(2, 2), FoundBy::Unchanged, 0)
    );
    assert_eq!(session.spot(&Target::Range(&first, &last)), Spot::Lines(2, 3));
    assert_eq!(session.spot(&Target::After(&first)), Spot::Gap(2));
    assert_eq!(session.spot(&Target::Before(&first)), Spot::Gap(1));
    assert_eq!(session.spot(&Target::Between(&first, &last)), Spot::Gap(2));
}

#[test]
fn in_an_unchanged_file_nothing_is_relocated() {
    let session = Session::showing("a b c d");
    // The number of line 2 with the hash of line 3: which one?
    let (code, why) = session.line_refused(2, "c");
    assert_eq!(code, Code::HashMismatch);
    assert_eq!(why, Reason::OtherHash { near: vec![3], is_current: true });
    let (_, why) = session.line_refused(2, "nowhere");
    assert_eq!(why, Reason::OtherHash { near: vec![], is_current: true });
}

#[test]
fn an_anchor_means_the_line_that_was_shown_not_the_line_with_its_number_now() {
    let mut session = Session::showing("a b } c d e }");
    // The closing brace of line 3 is now in line 5; line 3 has another one.
    session.becomes("x } } a b } c d e }");
    let placed = session.placed(&Target::Line(&anchor(3, "}")));
    assert_eq!((placed.spot, placed.found_by), (Spot::Lines(6, 6), FoundBy::Carried));
    assert_eq!(placed.distance, 3);
}

#[test]
fn a_line_that_others_changed_is_refused_with_both_versions() {
    let mut session = Session::showing("a b c d e");
    session.becomes("x a b C d e");
    let target = anchor(3, "c");
    session.find(&Target::Line(&target), Unseen::Refuse, |found| {
        let Found::Refused(refused) = found else { panic!("{found:?}") };
        assert_eq!((refused[0].code, &refused[0].reason), (Code::HashMismatch, &Reason::Changed));
        assert_eq!(refused[0].shown, [ShownLine { number: 3, text: b"c".to_vec() }]);
        assert_eq!(refused[0].now, (4, 4));
    });
}

#[test]
fn a_range_is_found_only_with_its_unchanged_interior() {
    let mut session = Session::showing("a b c d e");
    let (first, last) = (anchor(2, "b"), anchor(4, "d"));
    session.becomes("x a b c d e");
    assert_eq!(session.spot(&Target::Range(&first, &last)), Spot::Lines(3, 5));
    session.becomes("x a b C d e");
    assert_eq!(session.refused(&Target::Range(&first, &last)).0, Code::HashMismatch);
    session.becomes("x a b c c d e");
    assert_eq!(session.refused(&Target::Range(&first, &last)).0, Code::HashMismatch);
}

#[test]
fn a_line_that_others_re_indented_is_the_same_line() {
    let mut session = Session::showing("a b c d eels");
    session.text = "new\na\n  b\n  c\nd\neels\n".to_owned();
    let placed = session.placed(&Target::Line(&anchor(2, "b")));
    assert_eq!((placed.spot, placed.found_by), (Spot::Lines(3, 3), FoundBy::Carried));
    let text = ["b2".to_owned()];
    assert_eq!(placed.reindented[0].apply(&text), ["  b2"]);
    assert_eq!(session.line(3, "c"), Spot::Lines(4, 4));
}

#[test]
fn an_anchor_means_the_newest_version_that_showed_it() {
    let mut session = Session::showing("a b c d e f");
    session.becomes("a c d e f b");
    session.show(1, 6);
    // `b` was shown as line 2, then as line 6.
    assert_eq!(session.line(6, "b"), Spot::Lines(6, 6));
    assert_eq!(session.line(2, "c"), Spot::Lines(2, 2));
    assert_eq!(session.line(3, "c"), Spot::Lines(2, 2));
}

#[test]
fn an_anchor_that_versions_showed_for_different_lines_is_refused() {
    let mut session = Session::showing("a } c d e f g h");
    session.becomes("n } o a } c d e f g h");
    session.show(1, 3);
    // Line 2 was a closing brace both times: one is in line 5 now, the other in line 2.
    let (code, why) = session.line_refused(2, "}");
    assert_eq!(code, Code::AmbiguousAnchor);
    assert_eq!(why, Reason::Ambiguous { places: vec![2, 5] });
    // A call that was made before the second read can only mean the first.
    let mut other = Session::showing("a } c d e f g h");
    let then = other.memory.now();
    other.becomes("n } o a } c d e f g h");
    other.show(1, 3);
    let brace = anchor(2, "}");
    other.find_as_of(&Target::Line(&brace), Unseen::Refuse, Some(then), |found| {
        assert!(matches!(found, Found::Placed(Placed { spot: Spot::Lines(5, 5), .. })));
    });
}

#[test]
fn lines_that_were_never_shown_are_refused() {
    let mut session = Session { memory: Memory::default(), text: lines("a b c d e f") };
    let not_shown = |lines| {
        let lines = std::iter::once(lines).collect();
        (Code::NotShown, Reason::NotShown(UnknownLines::unseen(lines)))
    };
    assert_eq!(session.line_refused(2, "b"), not_shown(2..3));
    session.show(1, 2);
    session.show(6, 6);
    assert_eq!(session.line_refused(3, "c"), not_shown(3..4));
    assert_eq!(session.line_refused(9, "c"), (Code::LineOutOfRange, Reason::OutOfRange));
    // Both ends of a range were shown, but not the lines between them.
    let (first, last) = (anchor(2, "b"), anchor(6, "f"));
    assert_eq!(session.refused(&Target::Range(&first, &last)), not_shown(3..6));
    session.show(3, 5);
    assert_eq!(session.spot(&Target::Range(&first, &last)), Spot::Lines(2, 6));
}

#[test]
fn unseen_lines_are_left_to_matching_if_the_caller_wants_that() {
    let mut session = Session { memory: Memory::default(), text: lines("a b c d e f") };
    session.show(2, 2);
    session.show(6, 6);
    let is_unseen = |line, text| {
        let anchor = anchor(line, text);
        session.find(&Target::Line(&anchor), Unseen::Match, |found| matches!(found, Found::Unseen))
    };
    assert!(is_unseen(3, "c"));
    assert!(is_unseen(9, "c"));
    // Memory decides about a line that was shown.
    assert!(!is_unseen(2, "c"));
    let (first, last) = (anchor(2, "b"), anchor(6, "f"));
    let range = Target::Range(&first, &last);
    session.find(&range, Unseen::Match, |found| {
        assert!(matches!(found, Found::Placed(Placed { spot: Spot::Lines(2, 6), .. })));
    });
}

#[test]
fn the_text_after_an_anchor_must_be_that_of_the_line() {
    let session = Session::showing("a b c");
    let of = |text: &str| {
        let short = anchor(2, "b").text(pi());
        Anchor::parse(pi(), &format!("{short}|{text}")).unwrap()
    };
    assert_eq!(session.spot(&Target::Line(&of("b"))), Spot::Lines(2, 2));
    assert_eq!(
        session.refused(&Target::Line(&of("other"))),
        (Code::HashMismatch, Reason::OtherText)
    );
}

#[test]
fn own_edits_do_not_invalidate_anchors() {
    let mut session = Session::showing("a b c d e f");
    session.edit(2, 0, &["x", "y"]);
    let placed = session.placed(&Target::Line(&anchor(4, "d")));
    assert_eq!(
        (placed.spot, placed.found_by, placed.distance),
        (Spot::Lines(6, 6), FoundBy::OwnEdits, 2)
    );
    session.edit(6, 1, &["D"]);
    assert_eq!(session.line_refused(4, "d"), (Code::HashMismatch, Reason::OwnEdit));
    assert_eq!(session.line(5, "e"), Spot::Lines(7, 7));
    let (first, last) = (anchor(3, "c"), anchor(5, "e"));
    assert_eq!(session.refused(&Target::Range(&first, &last)).1, Reason::OwnEdit);
}

/// A report says by how much lines moved, so a model may compute numbers.
#[test]
fn current_numbers_are_accepted_if_they_are_unambiguous() {
    let mut session = Session { memory: Memory::default(), text: lines("a b c d e f") };
    session.show(1, 4);
    session.edit(2, 0, &["x", "y"]);
    assert_eq!(session.line(6, "d"), Spot::Lines(6, 6));
    assert_eq!(
        session.line_refused(4, "b"),
        (Code::HashMismatch, Reason::RecomputedNumber { now: Some(6) })
    );
    // The text after the anchor decides.
    let short = anchor(4, "b").text(pi());
    let with_text = Anchor::parse(pi(), &format!("{short}|b")).unwrap();
    assert_eq!(session.spot(&Target::Line(&with_text)), Spot::Lines(4, 4));
}

#[test]
fn regression_a_mistaken_hash_after_an_own_edit_is_refused() {
    let mut session = Session::showing("a b c d e f");
    session.edit(1, 0, &["x"]);
    // The number of `d` with the hash of `c`, which has moved to that number.
    assert_eq!(
        session.line_refused(4, "c"),
        (Code::HashMismatch, Reason::RecomputedNumber { now: Some(5) })
    );
    let (first, last) = (anchor(3, "b"), anchor(4, "c"));
    assert_eq!(
        session.refused(&Target::Range(&first, &last)).1,
        Reason::RecomputedNumber { now: Some(4) }
    );
    session.edit(5, 1, &["D"]);
    assert_eq!(session.line_refused(4, "c").1, Reason::RecomputedNumber { now: None });
    // Another process changed the file in between: the line is still found.
    let mut other = Session::showing("a b c d e f");
    other.becomes("z a b c d e f");
    other.show(3, 3);
    other.edit(2, 0, &["x"]);
    assert_eq!(
        other.line_refused(4, "b"),
        (Code::HashMismatch, Reason::RecomputedNumber { now: Some(6) })
    );
    // Once the line was shown with that number, the anchor is valid.
    session.show(4, 4);
    assert_eq!(session.line(4, "c"), Spot::Lines(4, 4));
}

#[test]
fn own_edits_are_tracked_exactly_where_a_diff_is_uncertain() {
    let mut session = Session::showing("} } } } }");
    session.edit(1, 0, &["}", "}"]);
    session.edit(6, 1, &[]);
    assert_eq!(session.line(1, "}"), Spot::Lines(3, 3));
    // Line 4 under its first number is gone; the same number counts for the line that has it now.
    assert_eq!(session.line(5, "}"), Spot::Lines(6, 6));
}

#[test]
fn own_edits_between_changes_of_other_processes_are_tracked_exactly() {
    let mut session = Session::showing("a } b } c } d } e");
    session.becomes("new a } b } c } d } e");
    // The session copies two lines below themselves in a text that another process wrote.
    session.edit(4, 0, &["a", "}"]);
    session.text = lines("newer") + &session.text;
    assert_eq!(session.line(2, "}"), Spot::Lines(4, 4));
    assert_eq!(session.line(3, "b"), Spot::Lines(7, 7));
}

#[test]
fn after_an_undo_anchors_mean_the_same_lines_as_before() {
    let mut session = Session::showing("a b c d");
    let before = session.text.clone();
    session.edit(2, 1, &["B", "B"]);
    session.text = before;
    assert_eq!(session.line(2, "b"), Spot::Lines(2, 2));
    assert_eq!(session.placed(&Target::Line(&anchor(3, "c"))).found_by, FoundBy::Unchanged);
    session.edit(1, 0, &["x"]);
    assert_eq!(session.line(2, "b"), Spot::Lines(3, 3));
}

#[test]
fn regression_numbers_of_a_restored_text_mean_its_current_lines() {
    // Own edits restore the first text, but with other lines: the second `same` is a new line.
    let mut session = Session::showing("same other same end");
    session.edit(1, 2, &[]);
    session.edit(2, 0, &["other", "same"]);
    session.edit(4, 1, &["end"]);
    session.show(1, 4);
    session.edit(1, 0, &["x", "y"]);
    assert_eq!(session.line(3, "same"), Spot::Lines(5, 5));
    // A line that was replaced and restored counts as shown.
    let mut session = Session::showing("a b c");
    session.edit(2, 1, &["B"]);
    session.edit(2, 1, &["b"]);
    session.show(1, 3);
    session.edit(1, 0, &["x"]);
    assert_eq!(session.line(2, "b"), Spot::Lines(3, 3));
}

#[test]
fn regression_a_line_that_was_read_again_is_named_by_its_version() {
    let mut session = Session::showing("f } g } h");
    session.edit(1, 0, &["e", "}"]);
    // Line 2 was a closing brace before the edit, and the report shows another one there.
    session.show(1, 3);
    assert_eq!(session.line_refused(2, "}").0, Code::AmbiguousAnchor);
    // The refusal shows it as well, but the model may not have read that yet.
    session.show(1, 4);
    assert_eq!(session.line_refused(2, "}").0, Code::AmbiguousAnchor);
    // The model may still mean the line that it was shown first.
    session.show(1, 4);
    assert_eq!(session.line_refused(2, "}").0, Code::AmbiguousAnchor);
    let brace = session.of_version(2, "}");
    assert_eq!(session.spot(&Target::Line(&brace)), Spot::Lines(2, 2));
    // What is shown of a later text has another version.
    session.edit(1, 0, &["d", "}"]);
    session.show(1, 3);
    assert_eq!(session.spot(&Target::Line(&brace)), Spot::Lines(4, 4));
}

/// Lines whose anchors could mean other lines are ambiguous. With the version they are unambiguous.
#[test]
fn regression_a_row_that_names_its_version_is_unambiguous() {
    let mut session = Session::showing("f } g } h");
    session.edit(1, 0, &["e", "}"]);
    assert_eq!(session.ambiguous(1, 7), [2..3, 4..5].into_iter().collect());
    session.show(1, 3);
    let (plain, of_version) = (anchor(2, "}"), session.of_version(2, "}"));
    assert_eq!(session.refused(&Target::Line(&plain)).0, Code::AmbiguousAnchor);
    assert_eq!(session.spot(&Target::Line(&of_version)), Spot::Lines(2, 2));
    assert_eq!(session.spot(&Target::After(&of_version)), Spot::Gap(2));
    let range = (anchor(1, "e"), session.of_version(2, "}"));
    assert_eq!(session.spot(&Target::Range(&range.0, &range.1)), Spot::Lines(1, 2));
    // It is tracked like any other anchor, and matches no other version.
    session.edit(1, 0, &["d"]);
    assert_eq!(session.spot(&Target::Line(&of_version)), Spot::Lines(3, 3));
    let later = session.of_version(2, "e");
    assert_eq!(session.refused(&Target::Line(&later)).0, Code::HashMismatch);
}

#[test]
fn regression_a_shown_line_whose_place_is_uncertain_makes_an_anchor_ambiguous() {
    let mut session = Session::showing("a } b } c } d");
    // Another process leaves only closing braces around it.
    session.becomes("} } } x }");
    assert_eq!(session.line_refused(2, "}"), (Code::HashMismatch, Reason::Changed));
    // A refusal shows a line with its number and its hash.
    session.show(1, 3);
    assert_eq!(
        session.line_refused(2, "}"),
        (Code::AmbiguousAnchor, Reason::Ambiguous { places: vec![2] })
    );
    assert_eq!(session.ambiguous(1, 5), LineSet::of(2, 2));
    let of_version = session.of_version(2, "}");
    assert_eq!(session.spot(&Target::Line(&of_version)), Spot::Lines(2, 2));
    // The same holds once the model has requested the line.
    session.show(1, 3);
    assert_eq!(session.line_refused(2, "}").0, Code::AmbiguousAnchor);
    assert_eq!(session.spot(&Target::Line(&of_version)), Spot::Lines(2, 2));
}

#[test]
fn regression_a_call_cannot_mean_what_a_simultaneous_call_was_shown() {
    let mut session = Session { memory: Memory::default(), text: lines("a b c d e f g h") };
    session.show(1, 2);
    session.show(7, 8);
    let call = session.memory.hold();
    // The refusal of another call, made at the same time, shows the lines between.
    session.show(3, 6);
    let (first, last) = (anchor(2, "b"), anchor(7, "g"));
    let range = Target::Range(&first, &last);
    session.find_as_of(&range, Unseen::Refuse, Some(call), |found| {
        assert!(
            matches!(&found, Found::Refused(why) if why[0].code == Code::NotShown),
            "{found:?}"
        );
    });
    let one = anchor(4, "d");
    session.find_as_of(&Target::Line(&one), Unseen::Refuse, Some(call), |found| {
        assert!(
            matches!(&found, Found::Refused(why) if why[0].code == Code::NotShown),
            "{found:?}"
        );
    });
    session.memory.release(call);
    let call = session.memory.hold();
    session.find_as_of(&range, Unseen::Refuse, Some(call), |found| {
        assert!(matches!(found, Found::Placed(Placed { spot: Spot::Lines(2, 7), .. })));
    });
}

#[test]
fn regression_between_needs_adjacent_lines() {
    let mut session = Session { memory: Memory::default(), text: lines("a b c d e f") };
    session.show(1, 2);
    session.edit(3, 1, &[]);
    session.show(5, 5);
    let (after, before) = (anchor(2, "b"), anchor(5, "f"));
    session.refused(&Target::Between(&after, &before));
    // Only lines that the session wrote are between them: that is accepted.
    let mut session = Session { memory: Memory::default(), text: lines("a b c d") };
    session.show(1, 2);
    session.edit(3, 0, &["own"]);
    session.show(4, 4);
    let (after, before) = (anchor(2, "b"), anchor(4, "c"));
    let found = session.placed(&Target::Between(&after, &before));
    assert_eq!(found.spot, Spot::Gap(3));
}

/// One step with a file that only the session edits.
#[derive(Clone, Debug)]
enum Step {
    /// A first line, a removed count, new lines.
    Edit(usize, usize, Vec<usize>),
    /// First and last shown line; whether the model requested them.
    Show(usize, usize),
    /// Uses one of the shown anchors.
    Use(usize),
    /// Uses the number of one anchor with the text of another.
    Slip(usize, usize),
    /// Uses the range from one anchor to another.
    Range(usize, usize),
}

fn steps() -> impl proptest::strategy::Strategy<Value = Vec<Step>> {
    use proptest::prelude::*;
    let edit = (0usize..9, 0usize..4, prop::collection::vec(0usize..3, 0..3));
    let show = (0usize..9, 0usize..9);
    let step = prop_oneof![
        edit.prop_map(|(first, removed, new)| Step::Edit(first, removed, new)),
        show.prop_map(|(first, last)| Step::Show(first, last)),
        any::<usize>().prop_map(Step::Use),
        any::<(usize, usize)>().prop_map(|(number, text)| Step::Slip(number, text)),
        any::<(usize, usize)>().prop_map(|(first, last)| Step::Range(first, last)),
    ];
    prop::collection::vec(step, 1..40)
}

/// A shown row: number, text, text of the file, and the identities of the lines that it has meant.
type Row = (u64, String, String, Vec<usize>);

impl Session {
    /// Checks that an anchor is refused, or found on a line for which it was shown.
    fn check_meant(&self, number: u64, text: &str, shown: &[Row], ids: &[usize]) {
        let one = anchor(number as u32, text);
        self.find(&Target::Line(&one), Unseen::Refuse, |found| {
            if let Found::Placed(Placed { spot: Spot::Lines(line, _), .. }) = found {
                let id = ids[line as usize - 1];
                let is_meant = shown.iter().any(|(n, t, _, meant)| {
                    (*n, t.as_str()) == (number, text) && meant.contains(&id)
                });
                assert!(is_meant, "{number} {text} is taken for line {line}");
            }
        });
    }

    /// Checks that a range is refused, or that each end is found on the line for which its anchor
    /// was shown first (rows of other lines name their version) or last, or was shown in a text that
    /// was restored.
    fn check_range(&self, first: &Row, last: &Row, shown: &[Row], ids: &[usize]) {
        let (start, end) = (anchor(first.0 as u32, &first.1), anchor(last.0 as u32, &last.1));
        self.find(&Target::Range(&start, &end), Unseen::Match, |found| {
            let Found::Placed(Placed { spot: Spot::Lines(from, to), .. }) = found else { return };
            for ((number, text, ..), line) in [(first, from), (last, to)] {
                let id = ids[line as usize - 1];
                let mut rows = shown.iter().filter(|(n, t, ..)| (n, t) == (number, text));
                let is_meant = |(.., meant): &Row| meant.contains(&id);
                let is_meant = rows.next().is_some_and(is_meant)
                    || rows.next_back().is_some_and(is_meant)
                    || rows.any(|row| row.2 == self.text && is_meant(row));
                assert!(is_meant, "{number} {text} is taken for line {line}");
            }
        });
    }
}

proptest::proptest! {
    /// There are only three kinds of lines, so that texts are often restored. An anchor may be
    /// refused, but never found on a line for which it was not shown.
    #[test]
    fn own_edits_never_map_an_anchor_to_a_wrong_line(steps in steps()) {
        const KINDS: [&str; 3] = ["one", "two", "three"];
        let mut session = Session { memory: Memory::default(), text: lines("one two one three two") };
        let mut ids: Vec<usize> = (0..5).collect();
        let mut next = 5;
        let mut shown: Vec<Row> = Vec::new();
        for step in steps {
            let count = ids.len();
            match step {
                Step::Edit(first, removed, new) => {
                    let first = first.min(count);
                    let removed = removed.min(count - first);
                    let texts: Vec<&str> = new.iter().map(|&kind| KINDS[kind]).collect();
                    let old: Vec<&str> = session.text.lines().skip(first).take(removed).collect();
                    if old == texts {
                        continue;
                    }
                    session.edit(first as u64 + 1, removed as u64, &texts);
                    ids.splice(first..first + removed, next..next + texts.len());
                    next += texts.len();
                    // In a restored text, each number also means its current line.
                    for (number, _, text, meant) in &mut shown {
                        if *text == session.text {
                            meant.push(ids[*number as usize - 1]);
                        }
                    }
                }
                Step::Show(first, last) if count > 0 => {
                    let (first, last) = (first.min(count - 1), last.min(count - 1));
                    session.show(first as u64 + 1, first.max(last) as u64 + 1);
                    let texts: Vec<&str> = session.text.lines().collect();
                    for at in first..=first.max(last) {
                        let row = (at as u64 + 1, texts[at].to_owned(), session.text.clone(), vec![ids[at]]);
                        shown.push(row);
                    }
                }
                Step::Use(which) if !shown.is_empty() => {
                    let (number, text, ..) = &shown[which % shown.len()];
                    session.check_meant(*number, text, &shown, &ids);
                }
                Step::Slip(number, text) if !shown.is_empty() => {
                    let ((number, ..), (_, text, ..)) =
                        (&shown[number % shown.len()], &shown[text % shown.len()]);
                    session.check_meant(*number, text, &shown, &ids);
                }
                Step::Range(first, last) if !shown.is_empty() => {
                    let (first, last) = (&shown[first % shown.len()], &shown[last % shown.len()]);
                    if first.0 < last.0 {
                        session.check_range(first, last, &shown, &ids);
                    }
                }
                _ => {}
            }
        }
    }
}

#[test]
fn a_range_may_begin_in_one_report_and_end_in_another() {
    let mut session = Session { memory: Memory::default(), text: lines("a b c d e f g h") };
    session.show(1, 4);
    session.edit(1, 0, &["x"]);
    session.show(6, 9);
    let (first, last) = (anchor(3, "c"), anchor(7, "f"));
    let placed = session.placed(&Target::Range(&first, &last));
    assert_eq!(placed.spot, Spot::Lines(4, 7));
    // Its ends moved differently, each from the numbers of its own report.
    assert_eq!((placed.distance, placed.last_distance), (1, 0));
}

/// Compares with a plain list of lines: 1,200 inserts at four anchors of one view.
#[test]
fn many_inserts_at_anchors_of_one_view_are_placed_correctly() {
    let names: Vec<String> = (1..=40).map(|line| format!("line{}", line % 7)).collect();
    let mut session = Session::showing(&names.join(" "));
    let then = session.memory.now();
    // For each line, its number in the view if it has one.
    let mut expected: Vec<Option<u32>> = (1..=40).map(Some).collect();
    for round in 0..1_200u32 {
        let line = [3, 11, 26, 39][(round as usize * 7 + round as usize / 5) % 4];
        let anchor = anchor(line, &names[line as usize - 1]);
        let target = if round % 3 == 0 { Target::Before(&anchor) } else { Target::After(&anchor) };
        let spot = session.find_as_of(&target, Unseen::Refuse, Some(then), |found| match found {
            Found::Placed(placed) => placed.spot,
            other => panic!("round {round}: {other:?}"),
        });
        let at = expected.iter().position(|one| *one == Some(line)).unwrap();
        let gap = if round % 3 == 0 { at } else { at + 1 };
        assert_eq!(spot, Spot::Gap(gap as u64), "round {round}");
        session.edit(gap as u64 + 1, 0, &[&format!("line{}", round % 7)]);
        expected.insert(gap, None);
        // The report shows the new line and two around it.
        session.show((gap as u64).saturating_sub(1).max(1), gap as u64 + 3);
    }
    assert!(session.memory.bytes() < 1 << 20, "{} bytes", session.memory.bytes());
}

#[test]
fn memory_keeps_its_limits_and_reports_forgotten_files() {
    let file = |at: usize| format!("file{at}");
    let limits = MemoryLimits { bytes: 40_000, files: 4, versions: 2 };
    let mut memory = Memory::new(limits);
    for at in 0..100 {
        let text = format!("{at}\n").repeat(100 + at);
        memory.show(Path::new(&file(at % 10)), &version(&text), &LineSet::of(1, 5).into());
        assert!(memory.bytes() <= limits.bytes);
        assert!(memory.files() <= limits.files);
    }
    assert!(memory.record(Path::new(&file(0))).has_forgotten());
    assert!(!memory.record(Path::new("another")).has_forgotten());

    let mut session = Session::showing("a b c");
    session.memory.forget(Path::new(FILE));
    let target = anchor(2, "b");
    session.find(&Target::Line(&target), Unseen::Refuse, |found| {
        let Found::Refused(refused) = found else { panic!("{found:?}") };
        assert!(refused[0].code == Code::NotShown && refused[0].forgotten);
    });
}

#[test]
fn the_oldest_version_is_forgotten_first() {
    let mut session = Session::showing("a b c d e f");
    for round in 0..8 {
        session.becomes(&format!("new{round} a b c d e f"));
        session.show(1, 1);
    }
    let (code, why) = session.line_refused(2, "b");
    assert_eq!(code, Code::NotShown);
    assert_eq!(why, Reason::NotShown(UnknownLines::unseen(LineSet::of(2, 2))));
}

#[test]
fn anchors_of_a_text_that_is_too_large_to_keep_are_valid_while_it_is_unchanged() {
    let limits = MemoryLimits { bytes: 5_000, ..MemoryLimits::default() };
    let mut session = Session { memory: Memory::new(limits), text: "a\nb\n".repeat(3_000) };
    session.show(1, 10);
    assert_eq!(session.line(3, "a"), Spot::Lines(3, 3));
    session.text.insert_str(0, "x\n");
    assert_eq!(session.line_refused(3, "a"), (Code::NotShown, Reason::Forgotten));
}

#[test]
fn a_fork_does_not_affect_its_original() {
    let session = Session::showing("ants b c");
    let mut fork = Session { memory: session.memory.clone(), text: session.text.clone() };
    fork.becomes("x ants b c");
    fork.show(1, 1);
    assert_eq!(fork.line(2, "b"), Spot::Lines(3, 3));
    assert_eq!(session.line(2, "b"), Spot::Lines(2, 2));
}

#[test]
fn a_renamed_file_is_the_same_file() {
    let mut session = Session::showing("a b c");
    session.memory.rename_all(&[(FILE.into(), "other".into())]);
    assert_eq!(session.line_refused(2, "b").0, Code::NotShown);
    session.memory.rename_all(&[("other".into(), FILE.into())]);
    assert_eq!(session.line(2, "b"), Spot::Lines(2, 2));
}

#[test]
fn splices_that_do_not_cover_the_whole_change_are_ignored() {
    let mut session = Session::showing("a b c d");
    let now = lines("x y a b c d");
    let splice = Splice { first: 1, removed: 0, inserted: 1 };
    session.memory.edited(
        Path::new(FILE),
        &version(&session.text),
        &version(&now),
        &LineChanges::of(vec![splice]),
    );
    session.text = now;
    assert_eq!(session.line(2, "b"), Spot::Lines(4, 4));
}

/// A call read the file before the session edited it, and the session learns what it showed after
/// the edit. The track of the edit applies anyway.
#[test]
fn regression_what_is_learned_late_of_a_text_is_tracked_through_own_edits() {
    let mut session = Session::showing("{ } { }");
    let before = version(&session.text);
    session.edit(2, 1, &["new", "lines"]);
    session.memory.show(Path::new(FILE), &before, &LineSet::of(1, 4).into());
    let brace = anchor(4, "}");
    let placed = session.placed(&Target::Line(&brace));
    assert_eq!((placed.spot, placed.found_by), (Spot::Lines(5, 5), FoundBy::OwnEdits));
    assert_eq!(session.line_refused(2, "}"), (Code::HashMismatch, Reason::OwnEdit));
    let range = (anchor(3, "{"), anchor(4, "}"));
    assert_eq!(session.spot(&Target::Range(&range.0, &range.1)), Spot::Lines(4, 5));
}

/// Different texts can have the same hash.
#[test]
fn regression_another_text_with_the_hash_of_the_one_that_was_shown_is_not_taken_for_it() {
    let session = Session::showing("a b c d");
    let shown = version(&session.text);
    with(&lines("x b y z"), |other| {
        let hash = shown.body().unwrap().hash;
        let forged = Body { hash, ..*other };
        let record = session.memory.record(Path::new(FILE));
        let cancel = Cancel::default();
        let mut locator = Locator::new(&record, forged, pi(), Unseen::Refuse, None, &cancel);
        let target = anchor(2, "b");
        assert!(matches!(locator.locate(&Target::Line(&target)), Found::Refused(_)));
    });
    let memory = SessionMemory::new(MemoryLimits::default(), pi());
    memory.learn(
        vec![MemoryUpdate::Shown {
            file: FILE.into(),
            text: shown.clone(),
            lines: LineSet::of(1, 4).into(),
        }],
        &Cancel::default(),
    );
    let text = memory.version(b"other", shown.body().map(|body| body.hash));
    assert_eq!(text.body().unwrap().text, b"other");
}

/// A newer answer shows the first end of the range on the other of two equal lines.
#[test]
fn regression_an_end_that_a_newer_text_showed_elsewhere_makes_a_range_ambiguous() {
    let mut session = Session { memory: Memory::default(), text: lines("one two x x five six") };
    session.show(1, 6);
    session.becomes("top one two x x five six");
    session.show(4, 4);
    let at = |now: &[u64]| (Code::AmbiguousAnchor, Reason::Ambiguous { places: now.to_vec() });
    let (first, second, last) = (anchor(4, "x"), anchor(3, "x"), anchor(5, "five"));
    assert_eq!(session.refused(&Target::Range(&first, &last)), at(&[5, 4]));
    assert_eq!(session.refused(&Target::Between(&first, &last)), at(&[5, 4]));
    // The same line at the other end; and an unaffected range.
    assert_eq!(session.refused(&Target::Range(&second, &first)), at(&[5, 4]));
    assert_eq!(session.spot(&Target::Range(&last, &anchor(6, "six"))), Spot::Lines(6, 7));
    // Once both ends were read again, the new one is named by its version.
    session.show(1, 7);
    let (first, last) = (session.of_version(4, "x"), anchor(6, "five"));
    assert_eq!(session.spot(&Target::Range(&first, &last)), Spot::Lines(4, 6));
}

/// As above, after an own edit, with a computed number for the last end.
#[test]
fn regression_a_computed_number_does_not_make_the_other_end_unambiguous() {
    let mut session = Session { memory: Memory::default(), text: lines("one two x x five") };
    session.show(1, 5);
    session.edit(1, 0, &["top"]);
    let (first, last) = (anchor(4, "x"), anchor(6, "five"));
    let why = Reason::Ambiguous { places: vec![4, 5] };
    assert_eq!(session.refused(&Target::Range(&first, &last)), (Code::AmbiguousAnchor, why));
}
