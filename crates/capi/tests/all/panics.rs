//! Panics do not cross the boundary to the host.

use std::process::Command;

use hashline_capi::contained;
use hashline_core::{Code, Error};

fn refusal(outcome: Result<(), Error>) -> (Code, String) {
    let error = outcome.unwrap_err();
    (error.code, error.message.into())
}

#[test]
fn panics_become_internal_errors() {
    let plain = refusal(contained(|| panic!("no line")));
    let formatted = refusal(contained(|| panic!("line {}", 7)));
    let odd = refusal(contained(|| std::panic::panic_any(7)));
    let bug = |what: &str| (Code::Internal, format!("a bug in the engine: {what}"));
    assert_eq!(plain, bug("no line"));
    assert_eq!(formatted, bug("line 7"));
    assert_eq!(odd, bug("a panic without message"));
}

/// Runs itself in a child process to check its stderr.
#[test]
fn contained_panics_print_nothing() {
    const INNER: &str = "HASHLINE_TEST_OF_PANICS";
    if std::env::var_os(INNER).is_some() {
        assert!(contained(|| -> Result<(), Error> { panic!("a path") }).is_err());
        return;
    }
    let name = "panics::contained_panics_print_nothing";
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([name, "--exact", "--nocapture"]).env(INNER, "1");
    let output = command.output().unwrap();
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && out.contains("1 passed"), "{out}{err}");
    assert!(!out.contains("a path") && !err.contains("panicked"), "{out}{err}");
}

#[test]
fn results_and_errors_are_returned_unchanged() {
    assert_eq!(contained(|| Ok::<_, Error>(7)).unwrap(), 7);
    let error = contained(|| Err::<(), _>(Error::argument("no"))).unwrap_err();
    assert_eq!(error.code, Code::InvalidArgument);
}
