//! Tests of what a memory keeps and drops.

use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::track::Splice;

/// A text whose lines differ from those of any other name.
fn text(name: &str, lines: usize) -> Version {
    let lines = (0..lines).map(|line| format!("{name} line {line}\n"));
    Version::owned(lines.collect::<String>().into_bytes())
}

fn show(memory: &mut Memory, file: &str, text: &Version) {
    memory.show(Path::new(file), text, &LineSet::of(1, text.count).into());
}

fn has_text(memory: &Memory, text: &Version) -> bool {
    memory.version(text.hash).is_some()
}

fn has_forgotten(memory: &Memory, file: &str) -> bool {
    memory.record(Path::new(file)).has_forgotten()
}

#[test]
fn regression_a_text_that_a_newer_view_uses_outlives_older_ones() {
    let (shared, other, last) = (text("shared", 100), text("other", 100), text("last", 20));
    // Enough for two of the texts.
    let bytes = shared.bytes() + other.bytes() + 3_000;
    let mut memory = Memory::new(MemoryLimits { bytes, ..MemoryLimits::default() });
    show(&mut memory, "a", &shared);
    show(&mut memory, "c", &other);
    show(&mut memory, "b", &shared);
    memory.limits.bytes = memory.bytes();
    show(&mut memory, "d", &last);
    assert_eq!([&shared, &other, &last].map(|text| has_text(&memory, text)), [true, false, true]);
    assert_eq!(
        ["a", "b", "c", "d"].map(|file| has_forgotten(&memory, file)),
        [false, false, true, false]
    );
    memory.limits.bytes = memory.bytes() - 1;
    show(&mut memory, "d", &last);
    assert!(!has_text(&memory, &shared));
    assert_eq!(
        ["a", "b", "c", "d"].map(|file| has_forgotten(&memory, file)),
        [true, true, true, false]
    );
}

#[test]
fn regression_what_was_shown_last_is_remembered_even_over_the_limits() {
    for bytes in [0, 400] {
        let limits = MemoryLimits { bytes, files: 1, versions: 1 };
        let mut memory = Memory::new(limits);
        for name in ["a", "b"] {
            let shown = text(name, 10);
            show(&mut memory, name, &shown);
            let record = memory.record(Path::new(name));
            let views = &record.file().unwrap().lineages[0].views;
            assert_eq!(views[0].shown, LineSet::of(1, 10));
        }
        assert!(!memory.knows(Path::new("a")) && has_forgotten(&memory, "a"));
    }
}

#[test]
fn over_the_limit_a_file_keeps_only_its_last_view() {
    let mut memory = Memory::new(MemoryLimits { bytes: 0, ..MemoryLimits::default() });
    let mut sizes = Vec::new();
    for version in 0..20 {
        show(&mut memory, "a", &text(&format!("version {version}"), 10));
        sizes.push(memory.bytes());
    }
    assert!(sizes.iter().all(|size| *size == sizes[0]), "{sizes:?}");
    assert!(has_forgotten(&memory, "a"));
}

#[derive(Clone, Debug)]
enum Step {
    Show(u8, u8),
    Write(u8, u8),
    Edit(u8, u8, u8),
    Move(u8, u8),
    Forget(u8),
    ForgetAll,
    Restore,
}

fn step() -> impl Strategy<Value = Step> {
    let some = || 0..6u8;
    prop_oneof![
        8 => (some(), some()).prop_map(|(file, text)| Step::Show(file, text)),
        2 => (some(), some()).prop_map(|(file, text)| Step::Write(file, text)),
        4 => (some(), some(), some()).prop_map(|(file, before, after)| Step::Edit(file, before, after)),
        2 => (some(), some()).prop_map(|(from, to)| Step::Move(from, to)),
        2 => some().prop_map(Step::Forget),
        1 => Just(Step::ForgetAll),
        1 => Just(Step::Restore),
    ]
}

proptest! {
    #[test]
    fn indexes_and_limits_hold_after_any_steps(
        steps in prop::collection::vec(step(), 1..60),
        bytes in 0usize..6_000,
        files in 1usize..5,
        versions in 1usize..4,
    ) {
        let limits = MemoryLimits { bytes, files, versions };
        let mut memory = Memory::new(limits);
        let name = |file: u8| PathBuf::from(format!("f{file}"));
        let text = |number: u8| text(&number.to_string(), 3 + usize::from(number));
        for step in steps {
            match step {
                Step::Show(file, number) => show(&mut memory, &format!("f{file}"), &text(number)),
                Step::Write(file, number) => memory.written(&name(file), &text(number), &LineSet::default()),
                Step::Edit(file, before, after) => {
                    let (before, after) = (text(before), text(after));
                    let splice = Splice { first: 1, removed: before.count, inserted: after.count };
                    memory.edited(&name(file), &before, &after, &LineChanges::of(vec![splice]));
                }
                Step::Move(from, to) => memory.rename_all(&[(name(from), name(to))]),
                Step::Forget(file) => memory.forget(&name(file)),
                Step::ForgetAll => memory.forget_all(),
                Step::Restore => {
                    let restored = Memory::restored(memory.image(), memory.empty_copy());
                    let before = std::mem::replace(&mut memory, restored);
                    memory.adopt_texts(&before);
                }
            }
            memory.files.check();
            memory.texts.check();
            prop_assert!(memory.texts.iter().all(|(hash, _)| memory.files.refer_to(hash)));
            prop_assert!(memory.files() <= files);
            prop_assert!(memory.bytes() <= bytes || (memory.files() == 1 && memory.texts.oldest().is_none()));
        }
    }
}
