//! Patches in oh-my-pi's language as operations.

use proptest::prelude::*;

use super::*;
use crate::edit::request::LineEdit;
use hashline_base::cancel::Cancel;
use hashline_omp::{ReadScript, ScriptProblem, read_script};

fn read(text: &str) -> ReadScript {
    read_script(text, &Cancel::default()).unwrap()
}

fn lowered(text: &str, kept: &Registers) -> Result<Vec<String>, Vec<ScriptProblem>> {
    let describe = |action: &LineEdit| match action {
        LineEdit::Replace { first, last, lines, block, .. } => {
            let last = last.as_ref().map_or(first.line, |last| last.line);
            format!("replace {}-{last}{} {lines:?}", first.line, if *block { "*" } else { "" })
        }
        LineEdit::Insert { lines, block, .. } => {
            format!("insert{} {lines:?}", if *block { "*" } else { "" })
        }
        LineEdit::Take(one) => {
            format!("{} {}", if one.is_copy { "copy" } else { "move" }, one.first.line)
        }
        LineEdit::Put(one) => format!("put{}", if one.at_block { "*" } else { "" }),
        other => format!("{other:?}"),
    };
    let lowered = lower(read(text).unwrap(), Some(kept))?;
    let edits = lowered.operations.edits.iter();
    Ok(edits
        .map(|operation| {
            format!("{} {} {}", operation.index, operation.path, describe(&operation.action))
        })
        .collect())
}

#[test]
fn cut_lines_are_moved_copied_or_kept() {
    let none = Registers::default();
    let text = "[a#0000]\nCUT 1 @x\nCUT 3.=4\nPUT >9\n[b#0000]\nPUT <1 @x\nPUT 5* @x";
    let expected = [
        "2 a move 3",
        "2 a put",
        "3 a move 1",
        "3 b put",
        "4 a copy 1",
        "4 b put*",
        "4 b replace 5-5* []",
    ];
    assert_eq!(lowered(text, &none).unwrap(), expected);
    let mut kept = Registers::default();
    kept.keep("old".to_owned(), vec!["p".to_owned(), "q".to_owned()]);
    let text = "[a#0000]\nPUT >2* @old\nPUT 3.=4 @old\nCUT 7 @lost";
    let expected = [
        "0 a insert* [\"p\", \"q\"]",
        "1 a replace 3-4 [\"p\", \"q\"]",
        "2 a replace 7-7 []",
        "2 a copy 7",
    ];
    assert_eq!(lowered(text, &kept).unwrap(), expected);
    for (rows, row, what) in [
        ("PUT >2", 2, "nothing to put"),
        ("PUT >2\nCUT 4", 2, "nothing to put"),
        ("CUT 2\nCUT 4\nPUT >7", 4, "CUT 2.=2 and CUT 4.=4"),
        ("CUT 2 @a\nPUT >7 @b", 3, "filled are @a, @old"),
        ("PUT 2.=3 @A", 2, "@A is empty"),
    ] {
        let problems = lowered(&format!("[a#0000]\n{rows}"), &kept).unwrap_err();
        assert_eq!(problems[0].row, row, "{rows:?}");
        assert!(problems[0].what.contains(what), "{rows:?}: {}", problems[0].what);
    }
    assert_eq!(
        lowered("[a#0000]\nCUT 2\nPUT >4\nCUT 6\nPUT >8\nPUT >9", &none).unwrap(),
        ["1 a move 2", "1 a put", "3 a move 6", "3 a put", "4 a copy 6", "4 a put"],
    );
}

#[test]
fn the_last_replacement_of_the_same_lines_is_applied() {
    let none = Registers::default();
    assert_eq!(
        lowered("[a#0000]\nPUT 2.=3:\n+x\nPUT 2.=3:\n+y\nPUT 2*:\n+z\nCUT 2.=3", &none).unwrap(),
        ["2 a replace 2-2* [\"z\"]", "3 a replace 2-3 []"],
    );
    let lowered = lower(read("[a#0000]\nPUT 2:\n+x\nPUT 2:\n+y").unwrap(), None).unwrap();
    assert_eq!((lowered.notes[0].row, lowered.notes[0].hunk), (4, 1));
}

proptest! {
    #[test]
    fn any_script_is_lowered_or_refused(rows in "(PUT |CUT |REM|MV |[0-9<>*:@$.=+ x-]|\n){0,60}") {
        if let Ok(script) = read(&format!("[a#12AB]\n{rows}")) {
            let count = script.hunks().count();
            if let Ok(lowered) = lower(script, None) {
                prop_assert_eq!(lowered.operations.hunks.len(), count);
                prop_assert!(lowered.operations.edits.is_sorted_by_key(|operation| operation.index));
            }
        }
    }
}
