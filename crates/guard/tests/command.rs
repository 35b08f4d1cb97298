//! The shell guard: recorded verdicts, spans of findings, and hostile inputs.

mod pieces;

use hashline_guard::{CommandRule, Finding, Policy, Unparsed, Verdict, check};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;

use pieces::PIECES;

fn rows() -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/commands.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn findings(command: &str) -> Vec<Finding> {
    check(command, &Policy::default()).findings
}

fn verdict(command: &str) -> Verdict {
    check(command, &Policy::default()).verdict
}

fn judged(row: &Value) -> hashline_guard::Judgement {
    let policy = row.get("policy").cloned().map(serde_json::from_value);
    let policy: Policy = policy.transpose().unwrap().unwrap_or_default();
    check(row["command"].as_str().unwrap(), &policy)
}

#[test]
fn recorded_verdicts() {
    let rows = rows();
    assert!(rows.len() >= 1500, "only {} rows", rows.len());
    for row in rows {
        let judgement = judged(&row);
        assert_eq!(judgement.verdict.name(), row["verdict"], "{row} {:?}", judgement.findings);
        let is_finding = matches!(judgement.verdict, Verdict::Read | Verdict::Write);
        let unparsed_is_write = row["policy"]["unparsed"] == "write";
        assert_eq!(is_finding, !judgement.findings.is_empty() || (is_finding && unparsed_is_write));
        if judgement.findings.is_empty() {
            continue;
        }
        // Each refusal names the call to make instead.
        let why = row["why"].as_str().unwrap();
        let found = judgement.findings.iter().find(|finding| finding.rule.name() == why);
        let message = &found.unwrap_or_else(|| panic!("{row} {:?}", judgement.findings)).message;
        let instead = format!("`{}`", row["instead"].as_str().unwrap());
        assert!(message.contains(&instead), "{row}: {message}");
    }
}

/// The rows that were written before the rules, and not used to develop them.
#[test]
#[expect(clippy::print_stdout, reason = "the figures are what docs/guard.md shows")]
fn false_alarms_and_finds_of_the_held_rows() {
    let rows: Vec<_> = rows().into_iter().filter(|row| row["set"] == "held").collect();
    let is_reported = |row: &&Value| matches!(judged(row).verdict, Verdict::Read | Verdict::Write);
    let (allowed, blocked): (Vec<_>, Vec<_>) =
        rows.iter().partition(|row| row["verdict"] == "allow");
    let false_alarms = allowed.iter().copied().filter(is_reported).count();
    let found = blocked.iter().copied().filter(is_reported).count();
    let percent = |part: usize, all: usize| part as f64 * 100.0 / all as f64;
    println!(
        "{false_alarms} of {} false alarms ({:.1} %), {found} of {} found ({:.1} %)",
        allowed.len(),
        percent(false_alarms, allowed.len()),
        blocked.len(),
        percent(found, blocked.len()),
    );
    assert!(allowed.len() >= 200 && blocked.len() >= 200);
    assert!(percent(false_alarms, allowed.len()) <= 2.0);
    assert!(percent(found, blocked.len()) >= 95.0);
}

#[test]
fn spans_of_findings_are_exact() {
    for (command, expected) in [
        ("ls; cat f | cut -c1-3", &["cat f"][..]),
        ("echo é; cat é f", &["cat é f"]),
        ("sudo -u x cat 'a b'", &["cat 'a b'"]),
        ("echo \"é $(cat f)\"", &["cat f"]),
        ("echo \"$(echo \"$(cat f)\")\"", &["cat f"]),
        ("bash -c 'ls; cat f' x", &["cat f"]),
        ("bash -c \"cat \\\"f\\\"\"", &["\"cat \\\"f\\\"\""]),
        ("echo a > f 2>> 'g'; echo b >> 'h'", &["> f", ">> 'h'"]),
        ("cat < f", &["< f"]),
        ("cat < f > g", &["> g"]),
        ("find . -exec cat {} \\;", &["cat {}"]),
        ("x=1 cat \\\n f", &["cat \\\n f"]),
        ("cat <<EOF > f\n$(cat g)\nEOF", &["> f"]),
        ("cat <<EOF\n$(cat g)\nEOF", &["<<EOF"]),
        ("echo $(< f)", &["< f"]),
        ("{ cat; } < f", &["< f"]),
        ("git commit -m \"$(cat <<'EOF'\n\"\nEOF)\"; cat f", &["cat f"]),
    ] {
        let found = findings(command);
        let spans: Vec<_> =
            found.iter().map(|one| &command[one.span.start..one.span.end]).collect();
        assert_eq!(spans, expected, "{command}");
    }
}

/// The script is longer than the word it comes from, so its offsets are not those of the word.
#[test]
fn regression_a_script_with_inserted_names_has_the_span_of_its_word() {
    for command in ["ls | xargs -I {} sh -c 'cat {}'", "find a/long/name -exec sh -c 'cat {}' \\;"]
    {
        let found = findings(command);
        let place = found[0].span;
        assert!(command.get(place.start..place.end).is_some_and(|part| part.contains("cat {}")));
    }
}

#[test]
fn a_finding_names_the_effect_and_the_call_to_use_instead() {
    let tools = serde_json::json!({
        "tools": {"read": "Show", "search": "grep it", "edit": "Patch"},
        "roots": ["/app"],
    });
    let policy: Policy = serde_json::from_value(tools).unwrap();
    for (command, rule, name, target, call) in [
        ("/bin/cat a b", CommandRule::Reader, "cat", Some("a"), r#"`Show {"path":"a"}`"#),
        (
            "sed -n 10,20p src/a.ts",
            CommandRule::Reader,
            "sed",
            Some("src/a.ts"),
            r#"`Show {"path":"src/a.ts","start_line":10,"max_lines":11}`"#,
        ),
        (
            "head -5 a",
            CommandRule::Reader,
            "head",
            Some("a"),
            r#"`Show {"path":"a","max_lines":5}`"#,
        ),
        (
            "nl -ba a | sed -n '40,80p' | head -20",
            CommandRule::Reader,
            "nl",
            Some("a"),
            r#"`Show {"path":"a","start_line":40,"max_lines":20}`"#,
        ),
        (
            "tail -n +100 a | head -30 | cut -c1-80",
            CommandRule::Reader,
            "tail",
            Some("a"),
            r#"`Show {"path":"a","start_line":100,"max_lines":30}`"#,
        ),
        ("cat a b | head -5", CommandRule::Reader, "cat", Some("a"), r#"`Show {"path":"a"}`"#),
        ("sort a | head -5", CommandRule::Reader, "sort", Some("a"), r#"`Show {"path":"a"}`"#),
        ("head -c 99 a", CommandRule::Reader, "head", Some("a"), r#"`Show {"path":"a"}`"#),
        (
            "awk 'NR>=9 && NR <= 12 {print NR, $0}' a",
            CommandRule::Reader,
            "awk",
            Some("a"),
            r#"`Show {"path":"a","start_line":9,"max_lines":4}`"#,
        ),
        (
            "bat -p -r 9:12 a",
            CommandRule::Reader,
            "bat",
            Some("a"),
            r#"`Show {"path":"a","start_line":9,"max_lines":4}`"#,
        ),
        (
            "cd web && tail -n +7 a",
            CommandRule::Reader,
            "tail",
            Some("a"),
            r#"`Show {"path":"web/a","start_line":7}`"#,
        ),
        ("grep -rn x", CommandRule::Search, "grep", None, "`grep it 'x'`."),
        ("grep 'a\\|b' f", CommandRule::Search, "grep", Some("f"), "`grep it 'a|b' f`"),
        ("head < f", CommandRule::Input, "", Some("f"), r#"`Show {"path":"f"}`"#),
        ("echo x > f", CommandRule::Output, "echo", Some("f"), "`Patch`"),
        ("> f", CommandRule::Output, "", Some("f"), "`Patch`"),
        ("echo x | tee f", CommandRule::Writer, "tee", Some("f"), "`Patch`"),
        ("perl -pi -e x f", CommandRule::InPlace, "perl", Some("f"), "`Patch`"),
        ("ls | sed 'w f'", CommandRule::Program, "sed", Some("f"), "`Patch`"),
        ("python -c \"open('f','w')\"", CommandRule::Interpreter, "python", Some("f"), "`Patch`"),
        ("git apply <<E\nx\nE", CommandRule::Patch, "git", None, "`Patch`"),
    ] {
        let found = check(command, &policy).findings;
        let [one] = found.as_slice() else { panic!("{command}: {found:?}") };
        assert_eq!((one.rule, one.command.as_str()), (rule, name), "{command}");
        assert_eq!(one.target.as_deref(), target, "{command}");
        assert!(one.message.contains(call), "{command}: {}", one.message);
    }
}

/// The call that is suggested by the first finding of a line.
fn instead(command: &str) -> Option<String> {
    let findings = findings(command);
    let message = &findings.first()?.message;
    Some(message.rsplit_once(": `")?.1.trim_end_matches("`.").to_owned())
}

#[test]
fn regression_awk_reads_its_input_unless_all_of_its_program_runs_before() {
    for command in [
        "awk -f p.awk < f",
        "awk -f p.awk -e 'BEGIN {x = 1}' < f",
        "awk 'BEGIN {FS = \",\"} {print $2}' < f",
        "awk 'BEGIN {n = 1}; /a/' < f",
        "awk 'BEGIN {while ((getline line) > 0) print line}' < f",
    ] {
        assert_eq!(verdict(command), Verdict::Read, "{command}");
    }
    for command in [
        "awk 'BEGIN {print 1} # all\nBEGIN {print 2}' < f",
        "awk 'function two() {return 2} BEGIN {print two()}' < f",
        "awk 'END {print NR}' < f",
        "ls | awk -f p.awk",
    ] {
        assert_eq!(verdict(command), Verdict::Allow, "{command}");
    }
}

#[test]
fn regression_a_suggested_call_names_the_lines_that_the_command_shows() {
    for (command, expected) in [
        ("head f", r#"read {"path":"f","max_lines":10}"#),
        ("head -n 3 f", r#"read {"path":"f","max_lines":3}"#),
        ("head -25 f", r#"read {"path":"f","max_lines":25}"#),
        ("head -n -3 f", r#"read {"path":"f"}"#),
        ("head --lines=1k f", r#"read {"path":"f"}"#),
        ("cat f | head -n -3", r#"read {"path":"f"}"#),
        ("tail -n +5 f | head -n 2", r#"read {"path":"f","start_line":5,"max_lines":2}"#),
        ("sed -n '5,$p' f", r#"read {"path":"f","start_line":5}"#),
        ("sed -n '1,18446744073709551615p' f", r#"read {"path":"f"}"#),
        ("bat -r 0:18446744073709551615 f", r#"read {"path":"f"}"#),
        ("bat -r 9:3 f", r#"read {"path":"f"}"#),
        ("awk 'NR>=5 && NR<8' f", r#"read {"path":"f","start_line":5,"max_lines":3}"#),
        ("awk 'NR<=8 && NR>5' f", r#"read {"path":"f","start_line":6,"max_lines":3}"#),
        ("awk 'NR==5,NR==8' f", r#"read {"path":"f","start_line":5,"max_lines":4}"#),
        ("awk 'NR>5' f", r#"read {"path":"f","start_line":6}"#),
        ("awk 'NR<1' f", r#"read {"path":"f"}"#),
        // From line 5 on, because each range ends in the line where it starts.
        ("awk 'NR>=5,NR<=8' f", r#"read {"path":"f"}"#),
        ("awk 'NR==5 && NR==8' f", r#"read {"path":"f"}"#),
        ("awk 'NR==5 {exit} 1' f", r#"read {"path":"f"}"#),
        ("awk 'NR==5; /a/' f", r#"read {"path":"f"}"#),
    ] {
        assert_eq!(instead(command).as_deref(), Some(expected), "{command}");
    }
}

#[test]
fn regression_an_apostrophe_in_a_quoted_expansion_is_literal() {
    for expansion in [
        "\"${x:-it's}\"",
        "\"${x-it's}\"",
        "\"${x[1]:=it's}\"",
        "\"${x:+${y:-it's}}\"",
        "\"${#:?it's}\"",
        // In a pattern, and without quotes around it, an apostrophe quotes.
        "\"${x#'}'}\"",
        "\"${x/'}'/a}\"",
        "${x:-'}'}",
    ] {
        for command in [format!("echo {expansion}; cat f"), format!("cat f; echo {expansion} ok")] {
            let judged =
                check(&command, &Policy { unparsed: Unparsed::Write, ..Policy::default() });
            assert_eq!(judged.verdict, Verdict::Read, "{command}");
        }
    }
    let body = "cat <<E\n${x:-it's $(cat f)}\nE\n";
    assert_eq!(verdict(body), Verdict::Read);
}

#[test]
fn regression_files_outside_are_identified_by_their_absolute_paths() {
    for command in [
        "cd /tmp && sed s/a/b/ /src/a > b && mv /tmp/b /src/a",
        "sed s/a/b/ a > /tmp/x/../b && mv /tmp/b a",
        "sed s/a/b/ a > /tmp/./b; cp /tmp/b a",
        "cp a /tmp/b; cd /tmp; sed s/a/b/ ./b > c; cp c /src/a",
    ] {
        assert_eq!(verdict(command), Verdict::Write, "{command}");
    }
    for command in
        ["echo done > /dev/null; cp /dev/null a", "echo x > /tmp/b; cd /var/tmp; cp b /src/a"]
    {
        assert_eq!(verdict(command), Verdict::Allow, "{command}");
    }
}

/// Each was judged differently from an equivalent form.
#[test]
fn regression_equivalent_forms_are_judged_alike() {
    for (form, usual) in [
        ("su me -c'cat f'", "su me -c 'cat f'"),
        ("script -qc'cat f' /dev/null", "script -qc 'cat f' /dev/null"),
        ("php8.2 -r 'file_put_contents(\"f\", 1);'", "php -r 'file_put_contents(\"f\", 1);'"),
        ("{ mapfile a; } < f", "mapfile a < f"),
        ("fd x -x cat {}", "find . -exec cat {} \\;"),
        ("`perl -pi -e 's/a\\n/b/' f`", "`perl -pi -e 's/a/b/' f`"),
    ] {
        let of = |command: &str| {
            let found = findings(command);
            let one = found.first().unwrap_or_else(|| panic!("{command}"));
            (one.rule, one.target.clone())
        };
        assert_eq!(of(form), of(usual), "{form}");
    }
    let place = findings("`perl -pi -e 's/a\\n/b/' f`")[0].span;
    assert_eq!((place.start, place.end), (1, 25));
    // A permitted file does not hide another one after it.
    let policy = Policy { readable_paths: vec!["a".to_owned()], ..Policy::default() };
    let code = |files: &str| format!("python -c \"for f in ({files}): print(f.read())\"");
    let of = |files: &str| check(&code(files), &policy).verdict;
    assert_eq!(of("open('a'), open('a')"), Verdict::Allow);
    assert_eq!(of("open('a'), open('b')"), Verdict::Read);
    let elsewhere = |target: &str| {
        let rules = [(CommandRule::FileCommand, true)].into();
        check(&format!("cp {target} a"), &Policy { rules, ..Policy::default() }).verdict
    };
    assert_eq!(elsewhere("-t/tmp"), Verdict::Allow);
    assert_eq!(elsewhere("-t tmp"), Verdict::Write);
}

#[test]
fn rules_are_switched_one_by_one() {
    let of = |command: &str, rules: Value| {
        let policy = serde_json::from_value(serde_json::json!({ "rules": rules })).unwrap();
        check(command, &policy).verdict
    };
    for (command, rule) in [
        ("cat f", "reader"),
        ("rg x", "search"),
        ("cat < f", "input"),
        ("echo > f", "output"),
        ("echo | tee f", "writer"),
        ("sed -i x f", "in-place"),
        ("ls | sed 'w f'", "program"),
        ("patch <<E\nx\nE", "patch"),
        ("php -r \"file_put_contents('f', 1);\"", "interpreter"),
    ] {
        assert_ne!(of(command, serde_json::json!({})), Verdict::Allow, "{command}");
        assert_eq!(of(command, serde_json::json!({ rule: false })), Verdict::Allow, "{command}");
    }
    assert_eq!(of("rm f", serde_json::json!({})), Verdict::Allow);
    assert_eq!(of("rm f", serde_json::json!({"file-command": true})), Verdict::Write);
}

#[test]
fn results_serialize_with_the_names_of_javascript() {
    let json = serde_json::to_value(check("sed -i x f", &Policy::default())).unwrap();
    assert_eq!(json["verdict"], "write");
    assert_eq!(json["findings"][0]["rule"], "in-place");
    assert_eq!(json["findings"][0]["span"], serde_json::json!({"start": 0, "end": 10}));
    let rules = CommandRule::ALL.map(|rule| serde_json::to_value(rule).unwrap());
    assert_eq!(rules, CommandRule::ALL.map(|rule| Value::from(rule.name())));
    serde_json::from_str::<Policy>(r#"{"read": true}"#).expect_err("a name that is not known");
}

#[test]
fn what_is_too_large_or_too_deep_is_unparsed() {
    let nested = |depth: usize| format!("echo {}>f{}", "$(".repeat(depth), ")".repeat(depth));
    assert_eq!(verdict(&nested(24)), Verdict::Write);
    assert_eq!(verdict(&nested(25)), Verdict::Unparsed);
    let scripts = |depth: usize| {
        (0..depth).fold("cat f".to_owned(), |inner, level| {
            format!("bash <<'E{level}'\n{inner}\nE{level}")
        })
    };
    assert_eq!(verdict(&scripts(23)), Verdict::Read);
    assert_eq!(verdict(&scripts(26)), Verdict::Unparsed);
    let long = |length: usize| format!("cat {}", "a".repeat(length - 4));
    assert_eq!(verdict(&long(64 * 1024)), Verdict::Read);
    assert_eq!(verdict(&long(64 * 1024 + 1)), Verdict::Unparsed);
    assert_eq!(verdict(&format!("{} f", "sudo ".repeat(8) + "cat")), Verdict::Read);
    assert_eq!(verdict(&format!("{} f", "sudo ".repeat(8000) + "cat")), Verdict::Unparsed);
}

/// 40 KB of nothing but `eval` took over 100 ms: each script is the one around it without its first
/// word.
#[test]
fn regression_nested_scripts_are_bounded_together() {
    let again = |evals: usize| format!("{}cat f {}", "eval ".repeat(evals), "a ".repeat(1000));
    assert_eq!(verdict(&again(6)), Verdict::Read);
    assert_eq!(verdict(&again(20)), Verdict::Unparsed);
    // Text that is not repeated has a separate limit.
    assert_eq!(verdict(&format!("cat f {}", "a ".repeat(20_000))), Verdict::Read);
    // 60 KB in quotes, which is one word, took 100 ms.
    let quoted = |evals: usize| format!("{}cat f '{}'", "eval ".repeat(evals), "a".repeat(60_000));
    assert_eq!(verdict(&quoted(2)), Verdict::Read);
    assert_eq!(verdict(&quoted(20)), Verdict::Unparsed);
}

/// 24 KB of it overflowed the stack, which ends the process: the parser read brackets that are not
/// arithmetic as nested commands, but they had been measured as arithmetic.
#[test]
fn regression_brackets_that_are_not_arithmetic_are_measured_as_commands() {
    for unit in ["cat<(", "cat >(", "f<(a", "(", "((", "$(", "a=(", "(a;(("] {
        for count in [200, 4000, 12_000] {
            let line = format!("(({}", unit.repeat(count));
            assert_eq!(verdict(&line), Verdict::Unparsed, "{unit} {count}");
        }
    }
    for (line, expected) in [
        ("((cat f); (cat g))", Verdict::Read),
        ("(((cat f)); echo)", Verdict::Allow),
        ("( (cat f) )", Verdict::Read),
        ("((a + b)) && echo > f", Verdict::Write),
        ("(( $(cat f) > 1 ))", Verdict::Allow),
        ("echo $(((1 + 2) * 3)) $((cat f); (cat g))", Verdict::Read),
        ("for ((i = 0; i < 3; i++)); do cat f; done", Verdict::Read),
        ("((a; echo 'b)'); echo b > f)", Verdict::Write),
    ] {
        assert_eq!(verdict(line), expected, "{line}");
    }
}

/// A hundred `$(` took three seconds there, and a thousand did not terminate: the body of a
/// here-document was not measured.
#[test]
fn regression_scripts_in_here_documents_are_measured() {
    let body = |text: &str| verdict(&format!("cat <<E\n{text}\nE\n"));
    let nested =
        |depth: usize| format!("$({}cat f{})", "echo $(".repeat(depth - 1), ")".repeat(depth - 1));
    assert_eq!(body(&nested(10)), Verdict::Read);
    for depth in [25, 100, 10_000] {
        assert_eq!(body(&nested(depth)), Verdict::Unparsed, "{depth}");
    }
    assert_eq!(body(&"$(echo a) ${b} ".repeat(1000)), Verdict::Allow);
    assert_eq!(body(&nested(10).replace("cat f", "a").repeat(100)), Verdict::Allow);
    assert_eq!(body(&nested(10).replace("cat f", "a").repeat(600)), Verdict::Unparsed);
    assert_eq!(body(&"$(case x in a) ".repeat(4000)), Verdict::Unparsed);
    for opening in ["${x/", "$(", "$((", "\\` $("] {
        assert_eq!(body(&opening.repeat(10)), Verdict::Allow, "{opening}");
        assert_eq!(body(&opening.repeat(15_000)), Verdict::Unparsed, "{opening}");
    }
    assert_eq!(body(&format!("${{a '{}'}}", "${b(".repeat(12_000))), Verdict::Unparsed);
    let ended_by = |end: &str| verdict(&format!("cat <<{end}\na\n{end}\n"));
    assert_eq!(ended_by(&"{".repeat(1000)), Verdict::Allow);
    assert_eq!(ended_by(&"{".repeat(16_000)), Verdict::Unparsed);
}

#[test]
fn a_program_of_sixty_thousand_bytes_in_a_here_document_is_a_write() {
    let line = "  if (a[i] && !b) { $('x').y(`it's`, \"z\") } // it's {\n";
    let body = line.repeat(60_000 / line.len());
    assert_eq!(verdict(&format!("cat > f.js <<'EOF'\n{body}EOF\n")), Verdict::Write);
}

/// A substituted file name can contain the placeholder of the next command (`{}`, or that of `xargs -I`).
#[test]
fn regression_words_with_repeated_insertions_stay_short() {
    let deep =
        format!("find {} | {}echo {}", "a/".repeat(100), "xargs -I/ ".repeat(15), "/".repeat(100));
    assert_eq!(verdict(&deep), Verdict::Allow);
    let wide = format!("find {} -exec cat {} \\;", "a".repeat(30_000), "{}".repeat(1000));
    assert_eq!(verdict(&wide), Verdict::Read);
    let doubled = format!("x={}; {}cat $x", "a".repeat(100), "x=$x$x; ".repeat(40));
    assert_eq!(verdict(&doubled), Verdict::Read);
}

/// The opening, the closing, and the text inside, before and after.
const SHAPES: [[&str; 5]; 76] = [
    ["$(", ")", "a", "cat <<E\n", "\nE\n"],
    ["$(", "", "", "cat <<E\n", "\nE\n"],
    ["${x/", "", "", "cat <<E\n", "\nE\n"],
    ["${x:-", "}", "$(a)", "cat <<E\n", "\nE\n"],
    ["$((", "", "", "cat <<E\n", "\nE\n"],
    ["$(case x in a) ", "", "", "cat <<E\n", "\nE\n"],
    ["${b(", "", "", "cat <<E\n${a '", "'}\nE\n"],
    ["{", "", "", "cat <<x", "\nE\n"],
    ["$(", ")", "a", "echo ", ""],
    ["$(", "", "", "echo ", ""],
    ["$( \")\" ", ")", "", "echo ", ""],
    ["`", "", "", "echo ", ""],
    ["`# ", "", "", "", ""],
    ["`#a ", "", "", "", ""],
    ["`a #`b ", "", "", "", ""],
    ["`\\\n#x", "", "", "", ""],
    ["`a ", "`", "", "echo ", ""],
    ["<(", ")", "a", "echo ", ""],
    ["<(", "", "", "", ""],
    ["${", "}", "a", "echo ", ""],
    ["${x:-", "}", "a", "echo ", ""],
    ["\"${x:-", "}\"", "a", "echo ", ""],
    ["\"$(", ")\"", "a", "echo ", ""],
    ["$((", "))", "a", "echo ", ""],
    ["$((", "", "", "echo ", ""],
    ["((", "))", "a", "", ""],
    ["((", "", "", "", ""],
    ["$[", "]", "a", "echo ", ""],
    ["(", ")", "a", "", ""],
    ["( ", " )", "a", "", ""],
    ["( ", "", "", "", ""],
    ["{ ", "; }", "a", "", ""],
    ["{", "}", "a", "", ""],
    ["{", "", "", "echo ", ""],
    ["''{", "", "", "echo ", ""],
    ["'a'", "", "{a,b}", "echo ", ""],
    ["{a,", "}", "b", "echo ", ""],
    ["{,", "", "", "echo ", ""],
    ["\\\\", "{", "", "echo ", ""],
    ["${a}", "{", "\"", "echo \"", ""],
    ["( ", " )", "a", "[[ ", " ]]"],
    ["! ", "", "a", "[[ ", " ]]"],
    ["a && ( ", " )", "a", "[[ ", " ]]"],
    ["-", "", "1", "echo $((", "))"],
    ["- ", "", "1", "((", "))"],
    ["!", "", "1", "((", "))"],
    ["a?b:", "", "1", "echo $((", "))"],
    ["a=", "", "1", "echo $((", "))"],
    ["a[", "]", "1", "echo $((", "))"],
    ["a+", "", "1", "echo $((", "))"],
    ["a;", "", "", "", ""],
    ["a\n", "", "", "", ""],
    ["a&", "", "", "", ""],
    ["a|", "", "a", "", ""],
    ["a&&", "", "a", "", ""],
    ["! ", "", "a", "", ""],
    ["time ", "", "a", "", ""],
    ["f() ", "", "{ a; }", "", ""],
    ["function f ", "", "{ a; }", "", ""],
    ["coproc ", "", "a", "", ""],
    ["if a;then ", ";fi", "a", "", ""],
    ["if a; then b; el", "", "", "", ""],
    ["case a in a) ", ";; esac", "b", "", ""],
    ["while a;do ", ";done", "b", "", ""],
    ["<<a ", "", "", "cat ", ""],
    ["<<a;", "", "", "cat ", "\n"],
    ["<<a\n", "a\n", "", "cat ", ""],
    ["\"", "", "", "echo ", ""],
    ["'", "", "", "echo ", ""],
    ["$'", "", "", "echo ", ""],
    ["\\", "", "", "echo ", ""],
    ["a=(", ")", "b", "", ""],
    ["a[", "]", "b", "", "=1"],
    ["@(", ")", "b", "echo ", ""],
    ["eval ", "", "cat f", "", ""],
    [">f ", "", "", "a ", ""],
];

#[test]
fn hostile_shapes_get_a_verdict() {
    for [open, close, inside, before, after] in SHAPES {
        let most = 64 * 1024 - before.len() - inside.len() - after.len();
        let most = most / (open.len() + close.len());
        for count in [1, 23, 1000, most] {
            let count = count.min(most);
            let (open, close) = (open.repeat(count), close.repeat(count));
            let command = format!("{before}{open}{inside}{close}{after}");
            // Runs to the end, on the default stack size of Rust threads.
            std::thread::scope(|scope| {
                let small = std::thread::Builder::new().stack_size(2 * 1024 * 1024);
                let run = || verdict(&command);
                small.spawn_scoped(scope, run).unwrap().join().unwrap();
            });
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_of_pieces_gets_a_verdict(pieces in vec(select(PIECES), 0..40)) {
        let command = pieces.concat();
        let judgement = check(&command, &Policy::default());
        for finding in &judgement.findings {
            prop_assert!(finding.span.start < finding.span.end, "{finding:?}");
            prop_assert!(command.get(finding.span.start..finding.span.end).is_some());
        }
        let is_finding = matches!(judgement.verdict, Verdict::Read | Verdict::Write);
        prop_assert_eq!(is_finding, !judgement.findings.is_empty());
        // The result is deterministic.
        prop_assert_eq!(&check(&command, &Policy::default()), &judgement);
    }

    #[test]
    fn a_finding_is_found_inside_any_construct(
        inner in select(&["cat f", "echo > f", "sed -i s/a/b/ f", "ls", "grep -rn x ."][..]),
        around in vec(select(&[
            ("( ", ")"), ("{ ", "; }"), ("echo \"$( ", ")\""), ("if true; then ", "; fi"),
            ("ls && ", " || true"), ("sudo ", ""), ("env A=1 ", ""), ("timeout 5 ", ""),
            ("for i in 1; do ", "; done"), ("f() { ", "; }"), ("case x in x) ", ";; esac"),
            ("bash <<'EOF'\n", "\nEOF\n"),
        ][..]), 0..4),
    ) {
        // A prefix takes only a simple command, and nothing may follow a delimiter.
        let mut command = inner.to_owned();
        let mut is_simple = true;
        for (open, close) in around {
            let is_prefix = close.is_empty();
            if (is_prefix && !is_simple) || command.ends_with('\n') {
                continue;
            }
            command = format!("{open}{command}{close}");
            is_simple = is_simple && is_prefix;
        }
        prop_assert_eq!(verdict(&command), verdict(inner), "{}", command);
    }
}

/// For each brace in malformed text, the parser crate searched the rest of the text for its end: 59
/// KB took 270 ms.
#[test]
fn regression_unclosed_braces_are_bounded_by_the_text_after_them() {
    let braces = |count: usize, rest: usize| {
        format!("catcat[[ }}; }}\0 (; }}{}{}", "{ ".repeat(count), "cat".repeat(rest))
    };
    assert_eq!(verdict(&braces(100, 1000)), Verdict::Allow);
    assert_eq!(verdict(&braces(10_000, 13_000)), Verdict::Unparsed);
    assert_eq!(verdict(&"f() { cat f; }\n".repeat(700)), Verdict::Read);
}

/// Six of seven such lines were reported, although no tool does better.
#[test]
fn regression_a_file_filled_with_program_output_is_output() {
    for command in [
        "npm test > out.txt 2>&1; tail -20 out.txt",
        "make > build.out; cat build.out",
        "make 2> err.txt || cat err.txt",
        "make 2>&1 | tee out.txt | tail -5; grep -n error out.txt",
        "(cd web && npm test > ../out.txt); cat out.txt",
        "npm test &> out.txt & wait; while read l; do echo \"$l\"; done < out.txt",
        "f=out.txt; npm test > \"$f\"; cat out.txt",
        "npm test > \"$OUT\"; cat \"$OUT\"",
        "bash -c 'make > out.txt'; sort out.txt | head",
        "{ echo '== test'; npm test; } > out.txt; cat out.txt",
        "npm test > out.txt; grep FAIL out.txt > fails.txt; cat fails.txt",
        "npm test > out.txt; echo \"exit: $?\" >> out.txt; tail out.txt",
        "npm test > out.txt; python3 -c \"print(open('out.txt').read()[-500:])\"",
        "npm ls > ./a/../out.txt; echo \"$(< out.txt)\"",
    ] {
        assert_eq!(verdict(command), Verdict::Allow, "{command}");
    }
    for (command, expected) in [
        // Read before it is written, in another directory, another file, or with a source in it.
        ("cat out.txt; npm test > out.txt", Verdict::Read),
        ("npm test > out.txt; cd web; cat out.txt", Verdict::Read),
        ("npm test > out.txt; cat src/a.ts", Verdict::Read),
        ("npm test > out.txt; cat *.txt", Verdict::Read),
        ("{ cat src/a.ts; npm test; } > out.txt; cat out.txt", Verdict::Read),
        ("npm test > out.txt; cat src/a.ts | tee out.txt > /dev/null; cat out.txt", Verdict::Write),
        ("npm test > a.ts; echo 'x' > a.ts", Verdict::Write),
        ("npm test > a.ts; sed -i s/a/b/ a.ts", Verdict::Write),
    ] {
        assert_eq!(verdict(command), expected, "{command}");
    }
    let found = findings("npm test > out.txt; cat src/a.ts > out.txt; cat out.txt");
    assert_eq!(found.len(), 2, "{found:?}");
}

/// Text that the model writes through a descriptor of the shell was missed.
#[test]
fn regression_text_written_through_a_descriptor_is_found() {
    for command in [
        "exec > f; echo x",
        "exec >> f; echo x",
        "exec > f 2>&1\necho x",
        "exec &> f; cat <<E\nx\nE",
        "exec 1> f; printf x",
        "exec 5> f; echo x >&5",
        "exec 5>> f; cat >&5 <<E\nx\nE\nexec 5>&-",
        "exec {fd}> f; echo x >&$fd",
        "exec {fd}> f; echo x >&\"${fd}\"",
        "fd=5; exec 5> f; echo x >&$fd",
        "exec 5> f 6>&5; echo x 1>&6",
        "exec 5> f; exec >&5; echo x",
        "exec 5> f; echo x > /dev/fd/5",
        "exec 5> f; { echo x; echo y; } >&5",
        "exec 5> f; if true; then echo x >&5; fi",
        "{ echo x >&5; } 5> f",
        "echo x 5> f >&5",
        "exec > f; bash -c 'echo x'",
        "exec > f; sed s/a/b/ g",
        "exec > f; ls | sed 's/.*/const a = 1/' | echo x",
        "cd web; exec > f; cd /tmp; echo x",
        "exec 3>&1 > f; echo x; exec >&3; make",
    ] {
        assert_eq!(verdict(command), Verdict::Write, "{command}");
        assert_eq!(findings(command)[0].target.as_deref(), Some("f"), "{command}");
    }
    for command in [
        "exec > f",
        "exec > out.txt 2>&1; make; npm test",
        "exec > out.txt 2>&1; echo '== make'; make",
        "exec 5> out.txt; echo '== make' >&5; make >&5; exec 5>&-; cat out.txt",
        "exec 3>&1 > out.txt; make; exec >&3; echo done; tail out.txt",
        "exec 3>&1 > out.txt; make; exec 1>&3 3>&-; echo done",
        "exec 3>&1; exec > /tmp/f; echo x; exec >&3; echo y",
        "exec > f; echo x >&2",
        "exec > f; echo x | make",
        "exec > f; v=$(echo x); make",
        "exec > f; echo x > /dev/null",
        "(exec > f; make); echo x",
        "exec 5> f; exec 5>&-; echo x >&5",
        "exec 5> f; echo x",
        "echo x >&5",
        "exec 5< /tmp/f; read l <&5",
        "exec 9> app.lock; flock 9; echo x",
        "exec 5<> /dev/tcp/localhost/80; echo GET / >&5; cat <&5",
    ] {
        assert_eq!(verdict(command), Verdict::Allow, "{command}: {:?}", findings(command));
    }
    // Each file is reported once, where it is named.
    let command = "exec 5> f; echo x >&5; echo y >&5; echo z > g";
    let found = findings(command);
    let spans: Vec<_> = found.iter().map(|one| &command[one.span.start..one.span.end]).collect();
    assert_eq!(spans, ["> f", "> g"]);
}

/// Code that prints only string literals was treated as a program with its own output.
#[test]
fn regression_string_literals_that_code_prints_are_text_of_the_model() {
    for command in [
        "python3 -c \"print('x')\" > f",
        "python3 -c 'import sys; sys.stdout.write(\"\"\"a\nb\n\"\"\")' > f",
        "python3 - <<'E' > f\ntext = '''\nexport const a = 1\n'''\nprint(text.strip())\nE",
        "python3 -c \"print('a', 'b', sep='\\n', end='')\" >> f",
        "python3 -c 'print(\"\\n\".join([\"a\", \"b\"]))' | tee f",
        "python3 -c 'import json; print(json.dumps({\"a\": 1, \"b\": [True, None]}, indent=2))' > f",
        "python3 -c \"print(f'a {{b}}')\" > f",
        "node -e \"console.log('x'); // done\" > f",
        "node -e 'const a = `x\n`; process.stdout.write(a + \"y\")' > f",
        "node -e 'console.log(JSON.stringify({a: 1, \"b\": [\"c\"]}, null, 2))' > f",
        "node -p '\"x\"' > f",
        "deno eval 'console.log(\"x\")' > f",
        "perl -e 'print \"a\\n\" . q(b);' > f; perl -e 'print \"x\\n\"' > f",
        "perl -E 'my $s = \"x\"; say $s' > f",
        "ruby -e 'puts \"x\", \"y\"' > f",
        "ruby -e 'puts [\"x\", \"y\"].join(\"\\n\")' > f",
        "php -r 'echo \"x\" . PHP_EOL;' > f",
        "exec > f; python3 -c \"print('x')\"",
        "python3 -c \"print('x')\" > /tmp/x; cp /tmp/x f",
    ] {
        assert_eq!(verdict(command), Verdict::Write, "{command}");
    }
    for command in [
        "python3 -c \"import x; print(x.run())\" > out.txt",
        "python3 -c \"print('a' * 1000)\" > f",
        "python3 -c \"print(2 + 2, 'x')\" > f",
        "python3 -c \"print(1)\" > f",
        "python3 -c \"for i in range(9): print('line', i)\" > f",
        "python3 -c \"import sys; print('v', sys.version)\" > f",
        "python3 -c \"import platform; print(f'{platform.node()} is up')\" > f",
        "python3 -c \"print(input('x'))\" > f",
        "python3 -c \"print('$VERSION')\" > f",
        "python3 -c \"print('%s' % __import__('os').getcwd())\" > f",
        "python3 -c \"print('x', file=open('/tmp/a', 'w'))\" > f",
        "python3 -c \"'x'\" > f",
        "python3 -c \"print('x)\" > f",
        "python3 gen.py > f",
        "node -e \"console.log(require('./package.json').version, 'x')\" > f",
        "node -p 'process.version + \"\"' > f",
        "node -e 'console.log(`v${process.version}`)' > f",
        "perl -e 'print \"now: \", time' > f",
        "perl -e 'print \"$ENV{HOME}\"' > f",
        "perl -e 'print \"x\" x 80' > f",
        "ruby -e 'puts \"v#{RUBY_VERSION}\"' > f",
        "php -r 'echo \"x\", phpversion();' > f",
        "php -r 'echo \"$argv[0]\";' > f",
        "python3 -c \"print('x')\"",
        "python3 -c \"print('x')\" | python3 run.py > out.txt",
        "{ python3 -c \"print('== test')\"; npm test; } > out.txt",
    ] {
        assert_eq!(verdict(command), Verdict::Allow, "{command}: {:?}", findings(command));
    }
}

#[test]
fn regression_a_command_runs_in_the_directory_of_the_command_before_it() {
    let directory = |command: &str| hashline_guard::directory(command, Some("/p"));
    for (command, expected) in [
        ("uv run --directory pkg pytest", "/p/pkg"),
        ("env -C pkg tsc", "/p/pkg"),
        ("env CI=1 make -C pkg", "/p/pkg"),
        ("poetry run make -C pkg", "/p/pkg"),
        ("command cd pkg && make", "/p/pkg"),
    ] {
        assert_eq!(directory(command).as_deref(), Some(expected), "{command}");
    }
    // It also runs the outer one.
    assert_eq!(directory("env -C pkg make -C lib"), None);
    assert_eq!(directory("env -C \"$dir\" tsc"), None);
    assert_eq!(directory("env -C pkg tsc; tsc"), None);
}
