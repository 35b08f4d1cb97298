//! No recovery removes the last copy of a version, whoever was at the files meanwhile, and however
//! often a recovery itself is interrupted.

use std::collections::BTreeMap;

use super::*;

/// Files with these contents, and no others.
fn scene(files: &[(&str, &str)]) -> Scene {
    let scene = Scene { dir: scratch(), state: scratch() };
    for (name, content) in files {
        fs::create_dir_all(scene.path(name).parent().unwrap()).unwrap();
        fs::write(scene.path(name), content).unwrap();
    }
    scene
}

fn move_file(scene: &Scene, from: &str, to: &str) -> Value {
    json!({"op": "move_file", "from": scene.path(from), "to": scene.path(to)})
}

fn add_file(scene: &Scene, name: &str) -> Value {
    json!({"op": "add_file", "path": scene.path(name), "content": format!("new {name}\n")})
}

/// A scene for a crash before every operation of a patch.
fn each_crash_of(
    make: impl Fn() -> Scene,
    operations: impl Fn(&Scene) -> Value,
    mut check: impl FnMut(&Scene, &str),
) {
    for n in 1.. {
        let scene = make();
        let patch = json!({"operations": operations(&scene)});
        if !scene.crash(n, patch) {
            return;
        }
        check(&scene, &format!("before operation {n}"));
    }
}

/// All contents in the directory and in the state directory.
fn contents(scene: &Scene) -> Vec<Vec<u8>> {
    let trees = [scene.dir.path(), scene.state.path()].map(snapshot);
    trees.into_iter().flat_map(BTreeMap::into_values).collect()
}

fn has_content(scene: &Scene, content: &str) -> bool {
    contents(scene).iter().any(|one| one == content.as_bytes())
}

fn remove_temporaries(scene: &Scene) {
    temporaries(scene.dir.path())
        .iter()
        .for_each(|name| fs::remove_file(scene.path(name)).unwrap());
}

/// Kept versions had the names of their files, and one was written over the other; where the names
/// were long, none could be written.
#[test]
fn regression_kept_versions_of_files_with_equal_names_are_all_there() {
    let long = "長".repeat(84);
    for (from, to) in [("a.rs", "b.rs"), (&long, &"い".repeat(84))] {
        let [x, y] = ["x", "y"].map(|dir| [from, to].map(|name| format!("{dir}/{name}")));
        let mut times = 0;
        each_crash_of(
            || scene(&[(&x[0], "old x\n"), (&y[0], "old y\n")]),
            |scene| {
                let moves = [&x, &y].map(|[from, to]| move_file(scene, from, to));
                json!([moves[0], moves[1], add_file(scene, "z")])
            },
            |scene, label| {
                let is_placed = scene.path("z").exists();
                if is_placed || !scene.path(&x[1]).exists() || !scene.path(&y[1]).exists() {
                    return;
                }
                remove_temporaries(scene);
                for [from, _] in [&x, &y] {
                    fs::write(scene.path(from), "restored\n").unwrap();
                }
                let report = scene.recover();
                assert!(report.failed.is_empty(), "{label}: {report:?}");
                let is_there = |content| has_content(scene, content);
                assert!(is_there("old x\n") && is_there("old y\n"), "{label}: {report:?}");
                times += 1;
            },
        );
        assert!(times > 0);
    }
}
