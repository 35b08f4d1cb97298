//! Lines whose whitespace was changed by another process are found or not, but never taken for
//! others.

mod habits;

use habits::{Figures, Line, Random, check, front, joined, measure};
use hashline_base::cancel::Cancel;
use hashline_memory::Carry;

/// The text with `count` lines replaced by one.
fn replaced(lines: &[Line], at: usize, count: usize) -> Vec<&str> {
    let mut text: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
    text.splice(at..at + count, ["edited"]);
    text
}

/// Counts the results of edits of single lines and short ranges of one text.
fn edits(random: &mut Random, (old, new): (&[Line], &[Line]), count: usize, figures: &mut Figures) {
    let (before, after) = (joined(old), joined(new));
    let cancel = Cancel::default();
    let carry = Carry::new(before.as_bytes(), after.as_bytes(), &cancel).unwrap();
    for _ in 0..count {
        let first = random.below(old.len());
        let length = 1 + if random.below(3) == 0 { random.below(4) } else { 0 };
        let last = (first + length - 1).min(old.len() - 1);
        let length = last + 1 - first;
        let expected = new.iter().position(|line| line.id == old[first].id);
        let is_whole = |&at: &usize| {
            let now = new.get(at..at + length);
            now.is_some_and(|now| now.iter().zip(&old[first..]).all(|(now, old)| now.id == old.id))
        };
        let expected = expected.filter(is_whole);
        let now = carry.block(first as u64 + 1, last as u64 + 1);
        match (expected, now) {
            (None, None) => {}
            (Some(_), None) => figures.refused += 1,
            (Some(at), Some(now))
                if replaced(new, at, length) == replaced(new, now as usize - 1, length) =>
            {
                figures.right += 1;
                let is_indented = |at: usize| {
                    let (old, new) = (&old[first + at].text, &new[now as usize - 1 + at].text);
                    let text = format!("{}edited", front(old));
                    let change = carry.reindentation(first as u64 + 1, last as u64 + 1, now);
                    let text = match change {
                        Some(change) => change.apply(&[text]).remove(0),
                        None => text,
                    };
                    old.trim().is_empty() || text == format!("{}edited", front(new))
                };
                figures.indented += u32::from((0..length).all(is_indented));
            }
            (expected, Some(now)) => {
                figures.wrong += 1;
                eprintln!(
                    "{}-{} is at {expected:?}, found at {now}:\n{before}=====\n{after}",
                    first + 1,
                    last + 1
                );
            }
        }
    }
}

#[test]
fn lines_whose_whitespace_changed_are_found() {
    check(&measure(40, |random, texts, figures| edits(random, texts, 10, figures)));
}

#[test]
#[ignore = "minutes"]
fn lines_whose_whitespace_changed_are_found_in_many_texts() {
    check(&measure(1_000, |random, texts, figures| edits(random, texts, 20, figures)));
}
