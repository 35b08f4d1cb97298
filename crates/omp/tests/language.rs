//! Parses examples of each kind of row, and checks that any text is parsed or refused.

use proptest::prelude::*;

use hashline_base::cancel::Cancel;
use hashline_omp::*;

fn read(text: &str) -> ReadScript {
    read_script(text, &Cancel::default()).unwrap()
}

/// The hunks below one header, formatted by the grammar, with their new lines.
fn hunks(rows: &str) -> Vec<String> {
    let script = read(&format!("[a.rs#1A2B]\n{rows}")).unwrap();
    let formatted = |(_, hunk): (&Section, &ScriptHunk)| match &hunk.act {
        act @ (HunkAct::Replace(_, lines) | HunkAct::Insert(_, lines)) => {
            format!("{act}{}", lines.iter().map(|line| format!("|{line}")).collect::<String>())
        }
        act => act.to_string(),
    };
    script.hunks().map(formatted).collect()
}

/// The first problem below one header: its row in the whole text, and its message.
fn problem(rows: &str) -> (u64, String) {
    let problems = read(&format!("[a.rs#1A2B]\n{rows}")).unwrap_err();
    (problems[0].row, problems[0].what.clone())
}

#[test]
fn the_grammar() {
    let text = "PUT 3.=5:\n+a\n+\n+ b\nPUT 7*:\n+c\nPUT <2:\n+d\nPUT >9:\n++e\nPUT >11*:\n+-f\nPUT >$:\n+g\n\
        CUT 20.=21\nCUT 22* @fn\nPUT <30\nPUT >31 @fn\nPUT >32* @fn\nPUT 33.=34 @fn\nPUT 35* @fn\nPUT >$ @fn\nMV b c.rs";
    let expected = [
        "PUT 3.=5:|a|| b",
        "PUT 7*:|c",
        "PUT <2:|d",
        "PUT >9:|+e",
        "PUT >11*:|-f",
        "PUT >$:|g",
        "CUT 20.=21",
        "CUT 22* @fn",
        "PUT <30",
        "PUT >31 @fn",
        "PUT >32* @fn",
        "PUT 33.=34 @fn",
        "PUT 35* @fn",
        "PUT >$ @fn",
        "MV b c.rs",
    ];
    assert_eq!(hunks(text), expected);
    assert_eq!(hunks("REM"), ["REM"]);
}

#[test]
fn sections_have_headers() {
    let script = read("\n*** Begin Patch\n[a.rs#1A2B]\nREM\n[\"b c.rs\"#00ff] \r\nMV 'd e.rs'\r\n*** End Patch\nPUT").unwrap();
    let sections: Vec<_> = script
        .sections
        .iter()
        .map(|one| (one.path.as_str(), one.tag.to_string(), one.row))
        .collect();
    assert_eq!(sections, [("a.rs", "1A2B".to_owned(), 3), ("b c.rs", "00FF".to_owned(), 5)]);
    assert_eq!(script.sections[1].hunks[0].act, HunkAct::Move("d e.rs".to_owned()));
    for (text, row, what) in [
        ("", 1, "begins with [path#TAG]"),
        ("\nPUT 1:\n+a", 2, "begins with [path#TAG]"),
        ("[a.rs]\nREM", 1, "has no tag"),
        ("[a.rs#12]\nREM", 1, "four hexadecimal digits"),
        ("[#1A2B]\nREM", 1, "four hexadecimal digits"),
        ("[a.rs#1A2B]\n", 1, "has no hunks"),
        ("[a.rs#1A2B]\nPUT 1:\n+a\n[b, c]\n", 4, "a row of new text begins with +"),
    ] {
        let problems = read(text).unwrap_err();
        assert_eq!(problems[0].row, row, "{text:?}");
        assert!(problems[0].what.contains(what), "{text:?}: {}", problems[0].what);
    }
}

#[test]
fn nonstandard_heads() {
    for range in ["3.=5", "3-5", "3..5", "3.5", "3…5", "3 5", "3 .= 5", " 3.=5 "] {
        assert_eq!(hunks(&format!("PUT {range}:\n+a")), ["PUT 3.=5:|a"], "{range}");
        assert_eq!(hunks(&format!("  CUT {range}@x_-1  ")), ["CUT 3.=5 @x_-1"], "{range}");
    }
    for line in ["3", "3.=", "3.=3"] {
        assert_eq!(hunks(&format!("PUT {line}:\n+a")), ["PUT 3.=3:|a"], "{line}");
    }
    assert_eq!(hunks("CUT 3.=5:"), ["CUT 3.=5"]);
    assert_eq!(hunks("PUT 3.=5:"), ["PUT 3.=5:"]);
    assert_eq!(hunks("3.=5:\n+a"), ["PUT 3.=5:|a"]);
    assert_eq!(hunks("3:a\n 4|b"), ["PUT 3.=3:|a", "PUT 4.=4:|b"]);
    assert_eq!(hunks("…\n10-20: …\nPUT 3:\n+a"), ["PUT 3.=3:|a"]);
    for (rows, row, what) in [
        ("PUT 5.=3:\n+a", 2, "ends before it begins"),
        ("PUT 0:\n+a", 2, "lines are numbered from 1"),
        ("PUT 3,5:\n+a", 2, "is not a hunk"),
        ("PUT 3.=5: a", 2, "is not a hunk"),
        ("PUT 3.=99999999999:\n+a", 2, "is not a hunk"),
        ("PUT 3.=5 @é", 2, "is not a hunk"),
        ("CUT >3", 2, "names no lines to cut"),
        ("PUT 3.=5", 2, "neither new lines nor a register"),
        ("PUT >3 @a:", 2, "takes no colon"),
        ("PUT >3:\n\n", 2, "has no new lines"),
        ("CUT 3\n+a", 3, "has no rows below it"),
        ("PUT >3 @a\n+a", 3, "has no rows below it"),
        ("REM\nnow", 3, "has no rows below it"),
        ("MV", 2, "names no path"),
        ("3:a\n3:b", 3, "line 3 is duplicated"),
        ("explain", 2, "in no hunk"),
        ("+a", 2, "in no hunk"),
        ("PUT 3:\nPUT 4,5:\n+a", 3, "is not a hunk"),
    ] {
        let (at, message) = problem(rows);
        assert_eq!(at, row, "{rows:?}");
        assert!(message.contains(what), "{rows:?}: {message}");
    }
}

#[test]
fn nonstandard_rows_of_new_text() {
    for (rows, expected) in [
        ("a\n+b", "a|b"),
        ("+a\n\n+b\n\n", "a||b"),
        ("\n+a", "a"),
        ("  +a", "  +a"),
        ("-old\n+new", "new"),
        ("-\n+new", "new"),
        ("- a\n- b", "- a|- b"),
        ("- a\nb", "- a|b"),
        ("3:a\n\n4: b", "a|| b"),
        ("3:a\nb", "3:a|b"),
        ("+3:a", "3:a"),
        ("+CUT 4", "CUT 4"),
    ] {
        assert_eq!(
            hunks(&format!("PUT 3:\n{rows}")),
            [format!("PUT 3.=3:|{expected}")],
            "{rows:?}"
        );
    }
    for rows in ["-old", "- a\n+b", "---", "- a\n-b"] {
        assert!(problem(&format!("PUT 3:\n{rows}")).1.contains("deletes nothing"), "{rows:?}");
    }
}

#[test]
fn accepted_deviations_are_noted() {
    let notes = |rows: &str| {
        let script = read(&format!("[a.rs#1A2B]\n{rows}")).unwrap();
        script.notes.into_iter().map(|note| (note.row, note.hunk)).collect::<Vec<_>>()
    };
    assert_eq!(notes("PUT 3.=5:\n+a\nCUT 7 @a\nPUT >9 @a"), []);
    assert_eq!(notes("CUT 2\nCUT 3:"), [(3, 1)]);
    assert_eq!(notes("PUT 3:\na\nb\nPUT 5:\nc"), [(3, 0), (6, 1)]);
    assert_eq!(notes("…\n3:a\nPUT 4:\n+REM"), [(2, 0), (3, 0), (5, 1)]);
    assert_eq!(notes("PUT 3:\n\nPUT 4:\n-a\n+b\n-c"), [(2, 0), (5, 1)]);
}

#[test]
fn too_many_hunks_are_refused() {
    let text = |count: usize| format!("[a#0000]\n{}", "CUT 1\n".repeat(count));
    assert!(read_script(&text(10_000), &Cancel::default()).is_ok());
    let error = read_script(&text(10_001), &Cancel::default()).unwrap_err();
    assert!(error.message.contains("10000"), "{}", error.message);
    // The number of reported problems is limited.
    assert_eq!(
        read(&format!("[a#0000]\n{}", "CUT x\nCUT 1,2\n".repeat(1_000))).unwrap_err().len(),
        100
    );
}

proptest! {
    #[test]
    fn any_text_is_parsed_or_refused(text in "(\\[a#12AB\\]\n|PUT |CUT |REM|MV |[0-9<>*:@$.=+ x…-]|\r|\n|\\PC){0,60}") {
        for text in [text.clone(), format!("[a#12AB]\n{text}")] {
            match read(&text) {
                Ok(script) => {
                    let count = script.hunks().count();
                    prop_assert!(count > 0 && script.notes.iter().all(|note| note.hunk < count));
                }
                Err(problems) => prop_assert!(!problems.is_empty()),
            }
        }
    }

    #[test]
    fn formatted_heads_parse_to_the_same_hunks(first in 1u32..1000, more in 0u32..1000, name in "[A-Za-z0-9_-]{1,9}") {
        let (range, block) = (HunkLines::Range(first, first + more), HunkLines::Block(first));
        for act in [
            HunkAct::Cut(range, None), HunkAct::Cut(block, Some(name.clone())),
            HunkAct::Paste(HunkGap::AfterBlock(first), None), HunkAct::Paste(HunkGap::Before(first), Some(name.clone())),
            HunkAct::PasteOver(range, name.clone()), HunkAct::PasteOver(block, name.clone()),
        ] {
            let script = read(&format!("[a#12AB]\n{act}")).unwrap();
            prop_assert_eq!(&script.sections[0].hunks[0].act, &act);
            prop_assert!(script.notes.is_empty());
        }
    }
}
