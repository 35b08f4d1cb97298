//! Any text as a command line: it gets a verdict, never a panic, and findings have places in it.
//! Two sources: bytes as they are, and the words and signs of the shell in any order.

#![no_main]

use arbitrary::{Result, Unstructured};
use hashline_core::command::{Policy, Verdict, check};
use libfuzzer_sys::fuzz_target;

/// What structured inputs are made of.
const PIECES: [&str; 72] = [
    "cat", "f", " ", " ", " ", "\n", ";", "&", "|", "&&", "||", "|&", "(", ")", "((", "))", "{ ",
    "; }", "{", "}", "$(", "`", "\"", "'", "\\", "$", "${x:-", "${x/", "$((", "$[", "[[ ", " ]]",
    "=~ ", "<", ">", ">>", "<<", "<<-", "<<'EOF'\n", "EOF", "\nEOF\n", "EOF)", "<<<", "<(", ">(",
    "2>&1", ">&", "{fd}>", "if ", "then ", "fi", "for x in ", "do ", "done", "case x in ", "a) ",
    ";;", "esac", "function g ", "bash -c ", "eval ", "sed -i ", "sed 's/a/b/w ", "awk '{print > ",
    "xargs ", "find . -exec ", "{} \\;", "é", "#", "$'", "=", "!",
];

fuzz_target!(|data: &[u8]| {
    // Text begins with a letter, so that seeds are readable.
    if data.first().is_some_and(u8::is_ascii_alphabetic) {
        return judge(&String::from_utf8_lossy(data));
    }
    if let Ok(command) = pieces(&mut Unstructured::new(data)) {
        judge(&command);
    }
});

fn pieces(input: &mut Unstructured<'_>) -> Result<String> {
    let mut command = String::new();
    while !input.is_empty() && command.len() < 70_000 {
        let piece = *input.choose(&PIECES)?;
        let times = if input.ratio(1, 16)? { input.int_in_range(1..=2000)? } else { 1 };
        command.push_str(&piece.repeat(times));
    }
    Ok(command)
}

fn judge(command: &str) {
    let everything = Policy {
        file_commands: true,
        patches: true,
        interpreters: true,
        ..Policy::default()
    };
    for policy in [Policy::default(), everything] {
        let judgement = check(command, &policy);
        for finding in &judgement.findings {
            assert!(command.get(finding.span.start..finding.span.end).is_some());
            assert!(!finding.message.is_empty());
        }
        let is_finding = matches!(judgement.verdict, Verdict::Read | Verdict::Write);
        assert_eq!(is_finding, !judgement.findings.is_empty());
    }
}
