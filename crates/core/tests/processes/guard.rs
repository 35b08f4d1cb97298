//! Panics that faces contain.

use std::process::{Command, Stdio};

use crate::start;
use hashline_core::{Code, Error, guard};

fn refusal(outcome: Result<(), Error>) -> (Code, String) {
    let error = outcome.unwrap_err();
    (error.code, error.message)
}

#[test]
fn guard_turns_panics_into_internal_errors() {
    let plain = refusal(guard(|| panic!("no line")));
    let formatted = refusal(guard(|| panic!("line {}", 7)));
    let odd = refusal(guard(|| std::panic::panic_any(7)));
    let bug = |what: &str| (Code::Internal, format!("a bug in the engine: {what}"));
    assert_eq!(plain, bug("no line"));
    assert_eq!(formatted, bug("line 7"));
    assert_eq!(odd, bug("a panic without message"));
}

/// In a process of its own, whose stderr can be looked at.
#[test]
fn contained_panics_print_nothing() {
    const INNER: &str = "HASHLINE_TEST_OF_PANICS";
    if std::env::var_os(INNER).is_some() {
        assert!(guard(|| -> Result<(), Error> { panic!("a path") }).is_err());
        return;
    }
    let name = "guard::contained_panics_print_nothing";
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([name, "--exact", "--nocapture"])
        .env(INNER, "1")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let output = start(&mut command).unwrap().wait_with_output().unwrap();
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && out.contains("1 passed"), "{out}{err}");
    assert!(!out.contains("a path") && !err.contains("panicked"), "{out}{err}");
}

#[test]
fn guard_hands_on_results_and_errors() {
    assert_eq!(guard(|| Ok::<_, Error>(7)).unwrap(), 7);
    let error = guard(|| Err::<(), _>(Error::argument("no"))).unwrap_err();
    assert_eq!(error.code, Code::InvalidArgument);
}
