//! Plans: a patch that is shown first, and then applied exactly as shown, or not at all.

use hashline_core::{Cancel, Code, Outcome, PatchOptions, Plan, Session};
use serde_json::{Value, json};

use crate::support::{Project, applied, refused};

fn plan(session: &Session, operations: Value) -> Plan {
    let patch = json!({ "operations": operations });
    session.plan(patch, &PatchOptions::default(), &Cancel::default()).unwrap()
}

fn apply(session: &Session, plan: &Plan) -> Outcome {
    session.apply_plan(plan, &Cancel::default()).unwrap()
}

fn set(session: &Session, path: &str, line: usize, text: &str) -> Value {
    let rows = session.read(path).unwrap().text;
    json!({"op": "set_line", "path": path, "anchor": rows.lines().nth(line - 1), "text": text})
}

fn scene() -> (Project, Session) {
    let project =
        Project::new(&[("a.txt", "one\ntwo\n"), ("b.txt", "three\n"), ("c.txt", "four\n")]);
    let session = project.session(&["a.txt", "b.txt", "c.txt"]);
    (project, session)
}

#[test]
fn a_plan_writes_what_it_showed() {
    let (project, session) = scene();
    let plan = plan(
        &session,
        json!([
            set(&session, "a.txt", 2, "TWO"),
            {"op": "delete_file", "path": "b.txt"},
            {"op": "move_file", "from": "c.txt", "to": "d.txt"},
            {"op": "add_file", "path": "e.txt", "content": "five\n"},
        ]),
    );
    let Outcome::Applied(shown) = &plan.outcome else { panic!("{:?}", plan.outcome) };
    assert_eq!(project.content("a.txt"), "one\ntwo\n");
    let outcome = applied(apply(&session, &plan));
    assert_eq!(outcome.files.len(), shown.files.len());
    assert_eq!(outcome.files[0].snapshot, shown.files[0].snapshot);
    assert_eq!(project.content("a.txt"), "one\nTWO\n");
    assert_eq!(
        ["b.txt", "c.txt", "d.txt", "e.txt"].map(|name| project.exists(name)),
        [false, false, true, true]
    );
    // It is not possible twice.
    assert_eq!(refused(apply(&session, &plan)).code, Code::ConcurrentChange);
}

#[test]
fn a_plan_is_refused_if_anything_that_it_read_was_changed() {
    let take = |session: &Session| {
        let anchor = session.read("b.txt").unwrap().text;
        json!({"op": "copy_lines", "path": "b.txt", "anchor": anchor, "to": "a.txt", "to_anchor": "EOF"})
    };
    type Change = fn(&Project);
    let changes: [(&str, Change); 6] = [
        // By two lines: without a plan, the edit would follow.
        ("a.txt", |project| project.write("a.txt", "x\ny\none\ntwo\n")),
        ("a.txt", |project| project.write("a.txt", "one\n2\n")),
        ("a.txt", |project| std::fs::remove_file(project.dir.path().join("a.txt")).unwrap()),
        // Lines are copied from this one.
        ("b.txt", |project| project.write("b.txt", "three\nmore\n")),
        ("c.txt", |project| project.write("c.txt", "other\n")),
        ("d.txt", |project| project.write("d.txt", "")),
    ];
    for (path, change) in changes {
        let (project, session) = scene();
        let plan = plan(
            &session,
            json!([
                set(&session, "a.txt", 2, "TWO"),
                take(&session),
                {"op": "move_file", "from": "c.txt", "to": "d.txt"},
            ]),
        );
        assert!(matches!(plan.outcome, Outcome::Applied(_)), "{:?}", plan.outcome);
        change(&project);
        let before = crate::support::snapshot(project.dir.path());
        let rejected = refused(apply(&session, &plan));
        assert_eq!(rejected.code, Code::ConcurrentChange, "{path}: {}", rejected.text);
        assert!(rejected.text.contains("was changed since"), "{}", rejected.text);
        assert_eq!(crate::support::snapshot(project.dir.path()), before);
    }
}

#[test]
fn a_plan_of_documents_is_bound_to_their_texts() {
    let (_project, session) = scene();
    session.set_document("a.txt", "one\ntwo\n", None).unwrap();
    let planned = plan(&session, json!([set(&session, "a.txt", 1, "ONE")]));
    session.set_document("a.txt", "zero\none\ntwo\n", None).unwrap();
    assert_eq!(refused(apply(&session, &planned)).code, Code::ConcurrentChange);
    session.set_document("a.txt", "one\ntwo\n", None).unwrap();
    applied(apply(&session, &planned));
}

#[test]
fn regression_a_refused_plan_stays_refused() {
    let (project, session) = scene();
    let planned = plan(&session, json!([{"op": "delete_file", "path": "later.txt"}]));
    let shown = refused(planned.outcome.clone());
    // Now it would be possible, but the plan did not show what it does.
    project.write("later.txt", "text\n");
    assert_eq!(refused(apply(&session, &planned)).text, shown.text);
    assert!(project.exists("later.txt"));
}

#[cfg(unix)]
#[test]
fn regression_a_plan_reports_why_a_file_cannot_be_written() {
    let (project, session) = scene();
    let edit = set(&session, "a.txt", 1, "ONE");
    let moved = json!({"op": "move_file", "from": "a.txt", "to": "moved.txt"});
    let [from, to] = ["a.txt", "linked.txt"].map(|name| project.dir.path().join(name));
    std::fs::hard_link(from, to).unwrap();
    let planned = plan(&session, json!([edit, moved]));
    let rejected = refused(apply(&session, &planned));
    assert!(rejected.text.contains("2 names (hard links)"), "{}", rejected.text);
}
