//! Listeners of committed patches, and previews, which change nothing.

use std::path::Path;
use std::sync::{Arc, Mutex};

use hashline_core::host::Term;
use hashline_core::{Cancel, Outcome, Patch, PatchOptions, Session, SessionChange, Subscription};
use serde_json::{Value, json};

use crate::support::{Project, applied};

/// The changes that a listener was called with.
type Log = Arc<Mutex<Vec<SessionChange>>>;

fn listening(session: &Session) -> (Log, Subscription) {
    let log = Log::default();
    let own = Arc::clone(&log);
    let subscription = session.on_change(move |change| own.lock().unwrap().push(change.clone()));
    (log, subscription)
}

fn set(session: &Session, line: usize, text: &str) -> Value {
    let rows = session.read("a.txt").unwrap().text;
    let anchor = rows.lines().nth(line - 1);
    json!({"operations": [{"op": "set_line", "path": "a.txt", "anchor": anchor, "text": text}]})
}

fn scene() -> (Project, Session) {
    let project = Project::new(&[("a.txt", "one\ntwo\n")]);
    let session = project.session(&["a.txt"]);
    (project, session)
}

#[test]
fn a_listener_is_called_once_for_each_committed_patch() {
    let (_project, session) = scene();
    let (log, subscription) = listening(&session);
    let dry_run = PatchOptions { dry_run: true, ..PatchOptions::default() };
    let patch = Patch::from(set(&session, 1, "ONE"));
    applied(session.apply_with(&patch, &dry_run, &Cancel::default()).unwrap());
    let unchanged = set(&session, 2, "two");
    assert!(applied(session.apply(unchanged).unwrap()).files.is_empty());
    let stale = json!({"operations": [{"op": "delete", "path": "a.txt", "anchor": "9zz"}]});
    assert!(matches!(session.apply(stale).unwrap(), Outcome::Rejected(_)));
    assert!(log.lock().unwrap().is_empty());
    let with_diff = PatchOptions { diff_context_lines: Some(0), ..PatchOptions::default() };
    let plan = session.plan(patch, &with_diff, &Cancel::default()).unwrap();
    let outcome = applied(session.apply_plan(&plan, &Cancel::default()).unwrap());
    let other = session.spelled(Term::name);
    applied(other.apply(set(&session, 2, "TWO")).unwrap());
    let changes = std::mem::take(&mut *log.lock().unwrap());
    let [first, second] = changes.as_slice() else { panic!("{changes:?}") };
    let path = Path::new(&first.files[0].path);
    assert!(path.is_absolute() && path.ends_with("a.txt"), "{}", path.display());
    assert_eq!(first.files[0].snapshot, outcome.files[0].snapshot);
    assert_eq!(first.files[0].hunks.as_ref().unwrap()[0].lines, ["-one", "+ONE"]);
    assert!(second.files[0].hunks.is_none());
    drop(subscription);
    applied(session.apply(set(&session, 1, "1")).unwrap());
    assert!(log.lock().unwrap().is_empty());
}

#[test]
fn a_fork_has_its_own_listeners_and_a_panic_does_not_fail_the_patch() {
    let (project, session) = scene();
    let (log, _subscription) = listening(&session);
    let fork = session.fork();
    let (of_fork, _of_fork) = listening(&fork);
    applied(fork.apply(set(&fork, 1, "ONE")).unwrap());
    let panics = session.on_change(|_| panic!("in a listener"));
    applied(session.apply(set(&session, 2, "TWO")).unwrap());
    drop(panics);
    assert_eq!(project.content("a.txt"), "ONE\nTWO\n");
    assert_eq!((log.lock().unwrap().len(), of_fork.lock().unwrap().len()), (1, 1));
}

#[test]
fn patches_of_many_threads_are_reported_in_the_order_of_their_commits() {
    let (project, session) = scene();
    let (log, _subscription) = listening(&session);
    let session = Arc::new(session);
    let threads = (0..8).map(|thread| {
        let session = Arc::clone(&session);
        std::thread::spawn(move || {
            for round in 0..8 {
                let _ = session.apply(set(&session, 1, &format!("{thread} {round}")));
            }
        })
    });
    threads.collect::<Vec<_>>().into_iter().for_each(|thread| thread.join().unwrap());
    let last = log.lock().unwrap().last().cloned().unwrap();
    let snapshot = match session.read("a.txt").unwrap().views.remove(0).kind {
        hashline_core::ViewKind::Text(view) => view.snapshot,
        other => panic!("{other:?}"),
    };
    assert_eq!(last.files[0].snapshot.as_deref(), Some(snapshot.as_str()));
    assert!(project.content("a.txt").ends_with("\ntwo\n"));
}

#[test]
fn a_preview_takes_no_locks_and_teaches_the_session_nothing() {
    let (project, session) = scene();
    let anchors = set(&session, 2, "TWO");
    let other = project.session(&[]);
    let (log, _subscription) = listening(&other);
    let bytes = other.memory_bytes();
    let preview = |session: &Session, patch: &Value| {
        session.preview(&Patch::from(patch.clone()), 0, &Cancel::default()).unwrap()
    };
    // The session has seen no line of the file: refused previews do not count as shown.
    for _ in 0..4 {
        assert!(matches!(preview(&other, &anchors), Outcome::Rejected(_)));
    }
    assert_eq!(other.memory_bytes(), bytes);
    let Outcome::Rejected(refused) = other.apply(anchors.clone()).unwrap() else { panic!() };
    assert!(!refused.text.contains("in a row"), "{}", refused.text);
    let bytes = session.memory_bytes();
    let shown = applied(preview(&session, &anchors));
    assert_eq!(shown.files[0].diff.as_ref().unwrap().hunks[0].lines, ["-two", "+TWO"]);
    assert!(shown.plan.is_none());
    assert_eq!(session.memory_bytes(), bytes);
    assert_eq!(project.content("a.txt"), "one\ntwo\n");
    assert!(log.lock().unwrap().is_empty());
}
