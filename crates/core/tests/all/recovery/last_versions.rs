//! No recovery removes the only copy of a version, even if other processes changed the files, and
//! however often the recovery is interrupted.

use std::collections::BTreeMap;

use super::*;

/// A scene with only these files.
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

fn set_first_line(scene: &Scene, name: &str, line: &str) -> Value {
    let path = scene.path(name);
    json!({"op": "set_line", "path": path, "anchor": anchor(1, line), "text": "edited"})
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

/// The contents of all files in the directory and in the state directory.
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

/// Replaces a file by a new one with another inode, as editors do.
fn replace(path: &Path, content: &str) {
    let written = path.with_extension("written");
    fs::write(&written, content).unwrap();
    fs::rename(&written, path).unwrap();
}

fn is_reported(report: &RecoveryReport, path: &Path) -> bool {
    report.conflicts.iter().any(|one| Path::new(&one.path) == path)
}

fn is_published(scene: &Scene) -> bool {
    read_journal(scene).is_some_and(|text| text.contains("\"published\""))
}

fn is_committed(scene: &Scene) -> bool {
    read_journal(scene).is_some_and(|text| text.contains("\"committed\""))
}

/// Kept versions were named after their files, so that one overwrote the other; if the names were
/// long, none could be written.
#[test]
fn regression_kept_versions_of_files_with_equal_names_all_exist() {
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

/// The new version of a moved file was lost, and another process's file has its name.
#[test]
fn regression_an_old_version_is_kept_if_another_file_has_the_new_name() {
    let mut times = 0;
    each_crash_of(
        || scene(&[("from", "old\n")]),
        |scene| json!([move_file(scene, "from", "to"), set_first_line(scene, "from", "old")]),
        |scene, label| {
            if !is_committed(scene) || !scene.path("from").exists() {
                return;
            }
            remove_temporaries(scene);
            fs::write(scene.path("to"), "theirs\n").unwrap();
            let report = scene.recover();
            assert_eq!(scene.read("from"), "old\n", "{label}: {report:?}");
            assert_eq!(scene.read("to"), "theirs\n", "{label}: {report:?}");
            assert!(is_reported(&report, &scene.path("to")), "{label}: {report:?}");
            scene.check_clean(label);
            times += 1;
        },
    );
    assert!(times > 0);
}

/// A patch deletes and recreates a file; the new version was lost, and another process has created
/// the file. Also after the journal recorded that all was published.
#[test]
fn regression_a_deleted_version_is_kept_if_its_replacement_is_lost() {
    let (mut times, mut published) = (0, 0);
    each_crash_of(
        || scene(&[("f", "old\n")]),
        |scene| {
            let delete = json!({"op": "delete_file", "path": scene.path("f")});
            json!([delete, add_file(scene, "f")])
        },
        |scene, label| {
            // The old version is still staged.
            let waiting = temporaries(scene.dir.path()).into_iter();
            let mut waiting = waiting.filter(|name| scene.read(name) == "old\n");
            if !is_committed(scene) || waiting.next().is_none() {
                return;
            }
            let lost = temporaries(scene.dir.path()).into_iter();
            for name in lost.filter(|name| scene.read(name) == "new f\n") {
                fs::remove_file(scene.path(&name)).unwrap();
            }
            replace(&scene.path("f"), "theirs\n");
            let is_done = is_published(scene);
            let report = scene.recover();
            assert_eq!(scene.read("f"), "theirs\n", "{label}: {report:?}");
            assert!(has_content(scene, "old\n"), "{label}: {report:?}");
            assert!(is_reported(&report, &scene.path("f")), "{label}: {report:?}");
            scene.check_clean(label);
            times += 1;
            published += usize::from(is_done);
        },
    );
    assert!(times > published && published > 0, "{times}, {published}");
}

/// The new version of an edited file is lost, and another process's file has the name.
#[test]
fn regression_an_edit_lost_under_another_file_is_reported() {
    let mut times = 0;
    each_crash_of(
        || scene(&[("a", "old\n"), ("b", "old\n")]),
        |scene| json!([set_first_line(scene, "a", "old"), set_first_line(scene, "b", "old")]),
        |scene, label| {
            if !is_committed(scene) || is_published(scene) {
                return;
            }
            // The temporary file of `a` is the first in the journal.
            let journal = read_journal(scene).unwrap();
            let temporary = journal.split("\"temporary\":\"").nth(1).unwrap();
            fs::remove_file(temporary.split('"').next().unwrap()).unwrap();
            replace(&scene.path("a"), "theirs\n");
            let report = scene.recover();
            assert_eq!(scene.read("a"), "theirs\n", "{label}: {report:?}");
            assert!(is_reported(&report, &scene.path("a")), "{label}: {report:?}");
            times += 1;
        },
    );
    assert!(times > 0);
}

/// On a case-insensitive file system both names are the same file; its only name was removed, or
/// its content was moved away.
#[cfg(target_os = "linux")]
#[test]
fn regression_a_change_of_case_is_completed_or_rolled_back() {
    let mut found = [0, 0];
    for (loses_new_file, has_rival) in [(false, false), (true, false), (false, true)] {
        for n in 1.. {
            let scene = scene(&[("name", "old\n")]);
            let crashing = Interrupted::new(|at| {
                if has_rival && at + 1 == n {
                    let _ = fs::write(scene.path("z"), "theirs\n");
                }
                let is_over = at >= n && !has_rival;
                if is_over { Err(std::io::ErrorKind::Other.into()) } else { Ok(()) }
            });
            let crashing = crashing.folding_case();
            let patch = json!({
                "operations": [move_file(&scene, "name", "Name"), add_file(&scene, "z")]
            });
            let options = options(scene.state.path(), Durability::Process);
            let outcome = Workspace::on(&crashing, &options).apply(patch);
            if crashing.count() < n {
                break;
            }
            if loses_new_file {
                remove_temporaries(&scene);
            }
            let recovering = Interrupted::new(|_| Ok(())).folding_case();
            let report = recover_through(&recovering, scene.state.path()).unwrap();
            let label = format!("before operation {n}: {outcome:?}, {report:?}");
            assert!(report.failed.is_empty() && report.conflicts.is_empty(), "{label}");
            if has_rival {
                assert!(report.is_empty(), "{label}");
            }
            scene.check_clean(&label);
            let names: Vec<_> = snapshot(scene.dir.path()).into_keys().collect();
            let is_new = names.contains(&"Name".to_owned());
            let name = if is_new { "Name" } else { "name" };
            let expected = if is_new || has_rival { vec![name, "z"] } else { vec![name] };
            assert_eq!(names, expected, "{label}");
            assert_eq!(scene.read(name), "old\n", "{label}");
            found[usize::from(is_new)] += 1;
        }
    }
    assert!(found[0] > 0 && found[1] > 0);
}

/// A patch that lost a new version is rolled back. The recovery is killed before each of its
/// operations, and the next one also rolls back. A version that may be another process's is kept.
#[cfg(unix)]
#[test]
fn regression_a_killed_rollback_is_continued_as_a_rollback() {
    let before = snapshot(Scene::new().dir.path());
    let (mut times, mut crashes) = (0, 0);
    for can_exchange in [true, false] {
        for n in (1..).step_by(29 * stride()) {
            let scene = Scene::new();
            if !crash_through(&scene, n, can_exchange) {
                break;
            }
            let Some(inodes) = staged_inodes(&scene) else { continue };
            for nth in 0..=inodes.len() {
                // Each kind of loss at one crash or another.
                let loss = [Loss::Emptied, Loss::Half, Loss::Removed][(nth + crashes) % 3];
                let lost = Lost { n, can_exchange, nth, loss };
                times += lost.each_kill(&before);
            }
            crashes += 1;
        }
    }
    assert!(times > 100, "{times}");
}

/// Interrupts a patch with every kind of operation before operation `n`.
#[cfg(unix)]
fn crash_through(scene: &Scene, n: u64, can_exchange: bool) -> bool {
    let fs = killed_before(n);
    let fs = if can_exchange { fs } else { fs.without_exchange() };
    let options = options(scene.state.path(), Durability::Process);
    let patch = patch(scene.dir.path());
    let _ = Workspace::on(&fs, &options).apply(patch);
    fs.count() >= n
}

#[cfg(unix)]
fn killed_before(n: u64) -> Interrupted<impl Fn(u64) -> std::io::Result<()>> {
    let fault = || std::io::Error::from_raw_os_error(crate::support::errors::EIO);
    Interrupted::new(move |at| if at >= n { Err(fault()) } else { Ok(()) })
}

/// A crash before operation `n`, and the loss of the `nth` staged file; the index after the last
/// one is the copy for the file that is rewritten in place.
#[cfg(unix)]
#[derive(Clone, Copy, Debug)]
struct Lost {
    n: u64,
    can_exchange: bool,
    nth: usize,
    loss: Loss,
}

#[cfg(unix)]
impl Lost {
    /// The scene, and the content that may be another process's.
    fn scene(self) -> Option<(Scene, Option<Vec<u8>>)> {
        let scene = Scene::new();
        crash_through(&scene, self.n, self.can_exchange);
        let inodes = staged_inodes(&scene)?;
        let text = read_journal(&scene)?;
        let lost = match inodes.get(self.nth) {
            Some(&inode) => paths_of(&scene, &[inode]),
            None if scene.read("linked") == linked(true) => return None,
            None => copy_of_linked(&scene, &text, "ready").into_iter().collect(),
        };
        let lost = lost.into_iter().find(|path| path.exists())?;
        let is_waiting = lost.to_str().unwrap().contains(TEMPORARY_PREFIX);
        let loss = if is_waiting { self.loss } else { self.loss.of_placed() };
        loss.happen(&lost);
        let is_in_doubt = matches!(loss, Loss::Half) && self.nth < inodes.len();
        Some((scene, is_in_doubt.then(|| fs::read(&lost).unwrap())))
    }

    /// The number of kills, one before every few operations of the recovery.
    fn each_kill(self, before: &BTreeMap<String, Vec<u8>>) -> usize {
        let mut times = 0;
        for killed_at in (1 + self.nth as u64..).step_by(11) {
            let Some((scene, in_doubt)) = self.scene() else { return times };
            let fs = killed_before(killed_at);
            let fs = if self.can_exchange { fs } else { fs.without_exchange() };
            let _ = recover_through(&fs, scene.state.path());
            let report = scene.recover();
            let label = format!("{self:?}, killed at {killed_at}: {report:?}");
            assert!(report.failed.is_empty() && report.finished.is_empty(), "{label}");
            scene.check_clean(&label);
            let now = snapshot(scene.dir.path());
            let other = now.iter().find(|(name, content)| before.get(*name) != Some(content));
            assert_eq!(other.map(|(name, _)| name), None, "{label}");
            assert_eq!(now.len(), before.len(), "{label}");
            if let Some(half) = in_doubt {
                assert!(contents(&scene).contains(&half), "{label}: a half is not kept");
            }
            times += 1;
            if fs.count() < killed_at {
                break;
            }
        }
        times
    }
}

/// A patch is rolled forward although another process changed its file. If that recovery is killed,
/// the next one also rolls forward.
#[test]
fn regression_a_killed_roll_forward_is_continued_as_one() {
    let operations = |scene: &Scene| {
        let edit = set_first_line(scene, "edited", "old");
        json!([edit, add_file(scene, "added"), move_file(scene, "moved", "arrived")])
    };
    let mut times = 0;
    for n in 1.. {
        for killed_at in (1..).step_by(2) {
            let scene = scene(&[("edited", "old\n"), ("moved", "moved\n")]);
            if !scene.crash(n, json!({"operations": operations(&scene)})) {
                assert!(times > 50, "{times}");
                return;
            }
            let is_committed = read_journal(&scene)
                .is_some_and(|text| text.contains("\"committed\"") && !text.contains("published"));
            if !is_committed || scene.path("added").exists() {
                break;
            }
            fs::write(scene.path("added"), "theirs\n").unwrap();
            let fs = Interrupted::new(|at| {
                if at >= killed_at { Err(std::io::ErrorKind::Other.into()) } else { Ok(()) }
            });
            let _ = recover_through(&fs, scene.state.path());
            let report = scene.recover();
            let label = format!("before operation {n}, killed at {killed_at}: {report:?}");
            assert!(report.failed.is_empty() && report.undone.is_empty(), "{label}");
            scene.check_clean(&label);
            let files = [("edited", "edited\n"), ("added", "theirs\n"), ("arrived", "moved\n")];
            assert!(files.iter().all(|(name, text)| scene.read(name) == *text), "{label}");
            assert!(has_content(&scene, "new added\n"), "{label}");
            times += 1;
            if fs.count() < killed_at {
                break;
            }
        }
    }
}

/// A file has the reused inode of a new version and an older time, as `tar`, `rsync -t` and `cp -p`
/// set it. The completed patch was rolled back, and the file was removed.
#[cfg(unix)]
#[test]
fn regression_a_file_with_a_reused_inode_and_an_older_time_is_another_file() {
    let mut times = 0;
    each_crash(|scene, label| {
        if !is_published(scene) || temporaries(scene.dir.path()).is_empty() {
            return;
        }
        let expected = snapshot(scene.dir.path());
        for name in ["new/added", "edited"] {
            fs::write(scene.path(name), "ours\n").unwrap();
            let file = fs::File::options().append(true).open(scene.path(name)).unwrap();
            file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
        }
        let report = scene.recover();
        assert_eq!((report.finished.len(), report.failed.len()), (1, 0), "{label}: {report:?}");
        for (name, content) in snapshot(scene.dir.path()) {
            let is_theirs = ["new/added", "edited"].contains(&name.as_str());
            let expected = if is_theirs { b"ours\n" } else { &expected[&name][..] };
            assert_eq!(content, expected, "{label}: {name}, {report:?}");
        }
        scene.check_clean(label);
        times += 1;
    });
    assert!(times > 0);
}

/// Everything was published, then a power failure emptied one new version. The other new versions,
/// which their user may have seen, are kept.
#[cfg(unix)]
#[test]
fn regression_complete_new_files_of_a_completed_patch_are_kept() {
    let mut times = 0;
    each_crash(|scene, label| {
        if !is_published(scene) || temporaries(scene.dir.path()).is_empty() {
            return;
        }
        Loss::Emptied.happen(&scene.path("new/changed"));
        let report = scene.recover();
        assert!(report.failed.is_empty(), "{label}: {report:?}");
        assert!(has_content(scene, "added\n"), "{label}: {report:?}");
        scene.check_clean(label);
        times += 1;
    });
    assert!(times > 0);
}

/// A directory that the user may not read cannot be flushed; the remaining ones can.
#[test]
fn regression_directories_after_one_that_cannot_be_read_are_flushed() {
    let mut times = 0;
    each_crash_of(
        || scene(&[("a/f", "old\n"), ("b/f", "old\n")]),
        |scene| json!([set_first_line(scene, "a/f", "old"), set_first_line(scene, "b/f", "old")]),
        |scene, label| {
            if !is_committed(scene) || scene.read("a/f") != "old\n" {
                return;
            }
            let [a, b] = ["a", "b"].map(|name| scene.path(name).canonicalize().unwrap());
            let fs = Interrupted::new(|_| Ok(())).with_unreadable(a);
            let report = recover_through(&fs, scene.state.path()).unwrap();
            assert_eq!(report.finished.len(), 1, "{label}: {report:?}");
            let times_flushed = fs.flushed().iter().filter(|one| **one == b).count();
            assert_eq!(times_flushed, 2, "{label}: after the exchange and the removal");
            times += 1;
        },
    );
    assert!(times > 0);
}

/// Everything was published, then a power failure lost the last rename: the only copy has its
/// temporary name again.
#[test]
fn regression_a_file_whose_new_name_was_lost_is_not_removed() {
    let mut times = 0;
    each_crash_of(
        || scene(&[("one", "1\n"), ("two", "2\n"), ("edited", "old\n")]),
        |scene| {
            let moves = [move_file(scene, "one", "two"), move_file(scene, "two", "one")];
            json!([moves[0], moves[1], set_first_line(scene, "edited", "old")])
        },
        |scene, label| {
            if !is_published(scene) || temporaries(scene.dir.path()).is_empty() {
                return;
            }
            let journal = read_journal(scene).unwrap();
            let parked = journal.split("\"parked\":\"").nth(1).unwrap().split('"').next().unwrap();
            fs::rename(scene.path("two"), parked).unwrap();
            let report = scene.recover();
            let now = ["one", "two", "edited"].map(|name| scene.read(name));
            assert_eq!(now, ["2\n", "1\n", "edited\n"], "{label}: {report:?}");
            scene.check_clean(label);
            times += 1;
        },
    );
    assert!(times > 0);
}

/// The journal is read-only, so no recovery can record its direction; all go in the same direction.
#[cfg(unix)]
#[test]
fn recoveries_with_a_read_only_journal_go_in_the_same_direction() {
    let crashed = |n| {
        let scene = scene(&[("linked", "a long old line\n"), ("moved", "moved\n")]);
        fs::hard_link(scene.path("linked"), scene.path("other")).unwrap();
        let edit = set_first_line(&scene, "linked", "a long old line");
        let operations = [edit, move_file(&scene, "moved", "arrived"), add_file(&scene, "z")];
        let is_over = !scene.crash(n, json!({"operations": operations}));
        let is_written = is_committed(&scene) && scene.read("linked") != "a long old line\n";
        let is_lost = is_written && !temporaries(scene.dir.path()).is_empty();
        remove_temporaries(&scene);
        (is_over, is_lost.then_some(scene))
    };
    let mut times = 0;
    for n in 1.. {
        for killed_at in 1.. {
            let scene = match crashed(n) {
                (true, _) => {
                    assert!(times > 20, "{times}");
                    return;
                }
                (false, None) => break,
                (false, Some(scene)) => scene,
            };
            let killed = killed_before(killed_at).protecting_journals();
            let _ = recover_through(&killed, scene.state.path());
            let whole = Interrupted::new(|_| Ok(())).protecting_journals();
            let report = recover_through(&whole, scene.state.path()).unwrap();
            let label = format!("before operation {n}, killed at {killed_at}: {report:?}");
            assert!(report.failed.is_empty() && report.finished.is_empty(), "{label}");
            scene.check_clean(&label);
            assert_eq!(scene.read("linked"), "a long old line\n", "{label}");
            assert_eq!(scene.read("moved"), "moved\n", "{label}");
            times += 1;
            if killed.count() < killed_at {
                break;
            }
        }
    }
}
