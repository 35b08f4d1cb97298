//! Compares random patches of moves, copies, edits and renames with lists of lines: the bytes of
//! all files, and where a session finds the lines that it showed.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Scene, applied, at, in_session, refused};
use crate::support::Dice;

/// A file as a list of distinct lines.
struct Model {
    lines: Vec<String>,
    end: &'static str,
    /// The last line has no terminator.
    is_open: bool,
}

impl Model {
    fn bytes(&self) -> String {
        let all: String = self.lines.iter().map(|line| format!("{line}{}", self.end)).collect();
        match self.is_open {
            true => all[..all.len() - self.end.len()].to_owned(),
            false => all,
        }
    }
}

/// Old and new positions of lines.
type Positions = BTreeMap<(usize, usize), (usize, usize)>;

/// A patch under construction: the fate of each line, and the insertions at each gap.
struct Draft {
    taken: Vec<Vec<bool>>,
    /// Gaps strictly inside removed or replaced lines.
    closed: Vec<Vec<bool>>,
    /// The insertions at each gap: new texts, or lines by their old positions, and whether these
    /// are moved.
    put: Vec<Vec<Vec<Put>>>,
    replaced: Vec<BTreeMap<usize, Vec<String>>>,
    gone: Vec<Vec<bool>>,
    made: Vec<Put>,
    operations: Vec<Value>,
}

#[derive(Clone)]
enum Put {
    Text(String),
    Lines(usize, usize, usize, bool),
}

fn name(file: usize) -> String {
    format!("f{file}")
}

impl Draft {
    fn new(files: &[Model]) -> Draft {
        let lines = |_: ()| files.iter().map(|file| vec![false; file.lines.len()]).collect();
        let gaps = files.iter().map(|file| vec![false; file.lines.len() + 1]).collect();
        Draft {
            taken: lines(()),
            closed: gaps,
            put: files.iter().map(|file| vec![Vec::new(); file.lines.len() + 1]).collect(),
            replaced: files.iter().map(|_| BTreeMap::new()).collect(),
            gone: lines(()),
            made: Vec::new(),
            operations: Vec::new(),
        }
    }

    /// Picks a range of lines that no other operation touches.
    fn range(&mut self, files: &[Model], dice: &mut Dice) -> Option<(usize, usize, usize)> {
        let file = dice.below(files.len());
        let count = files[file].lines.len() - usize::from(files[file].is_open);
        if count == 0 {
            return None;
        }
        let first = dice.below(count);
        let last = (first + dice.below(4)).min(count - 1);
        let is_free = (first..=last).all(|line| !self.taken[file][line])
            && (first + 1..=last).all(|gap| self.put[file][gap].is_empty());
        is_free.then_some((file, first, last))
    }

    fn take(&mut self, (file, first, last): (usize, usize, usize)) {
        (first..=last).for_each(|line| self.taken[file][line] = true);
        (first + 1..=last).for_each(|gap| self.closed[file][gap] = true);
    }

    fn gap(&self, files: &[Model], dice: &mut Dice) -> Option<(usize, usize)> {
        let file = dice.below(files.len());
        let gap = dice.below(files[file].lines.len() + 1);
        (!self.closed[file][gap]).then_some((file, gap))
    }

    fn add(&mut self, files: &[Model], dice: &mut Dice, serial: &mut usize) {
        let anchor = |file: usize, line: usize| at(line as u64 + 1, &files[file].lines[line]);
        let place = |file: usize, gap: usize| match gap {
            0 => "BOF".to_owned(),
            gap => anchor(file, gap - 1),
        };
        match dice.below(6) {
            0 => {
                let Some((file, gap)) = self.gap(files, dice) else { return };
                *serial += 1;
                let text = format!("inserted {serial}");
                self.operations.push(json!({
                    "op": "insert_after", "path": name(file), "anchor": place(file, gap),
                    "text": text, "verbatim": true,
                }));
                self.put[file][gap].push(Put::Text(text));
            }
            1 => {
                let Some(range @ (file, first, last)) = self.range(files, dice) else { return };
                self.take(range);
                *serial += 1;
                let text = format!("replaced {serial}");
                self.operations.push(json!({
                    "op": "replace_range", "path": name(file), "start_anchor": anchor(file, first),
                    "end_anchor": anchor(file, last), "text": text, "verbatim": true,
                }));
                self.replaced[file].insert(first, vec![text]);
                (first..=last).for_each(|line| self.gone[file][line] = true);
            }
            kind => self.transfer(files, dice, kind == 2),
        }
    }

    fn transfer(&mut self, files: &[Model], dice: &mut Dice, is_copy: bool) {
        let anchor = |file: usize, line: usize| at(line as u64 + 1, &files[file].lines[line]);
        let Some(range @ (file, first, last)) = self.range(files, dice) else { return };
        let mut operation = json!({
            "op": if is_copy { "copy_lines" } else { "move_lines" }, "path": name(file),
            "start_anchor": anchor(file, first), "end_anchor": anchor(file, last),
        });
        let put = Put::Lines(file, first, last, is_copy);
        if dice.one_in(6) {
            operation["to"] = "new".into();
            self.made.push(put);
        } else {
            let Some((destination, gap)) = self.gap(files, dice) else { return };
            if destination == file && gap > first && gap <= last && !is_copy {
                return;
            }
            operation["to_anchor"] = match gap {
                0 => "BOF".into(),
                gap => anchor(destination, gap - 1).into(),
            };
            if destination != file || dice.one_in(2) {
                operation["to"] = name(destination).into();
            }
            self.put[destination][gap].push(put);
        }
        if !is_copy {
            self.take(range);
            (first..=last).for_each(|line| self.gone[file][line] = true);
        }
        self.operations.push(operation);
    }

    /// Applies the patch to the model: the lines of the files, those of a new file last, and the new
    /// positions of the old lines.
    fn apply(&self, files: &[Model]) -> (Vec<Vec<String>>, Positions) {
        let mut positions = Positions::new();
        let mut after = Vec::new();
        let insert = |into: &mut Vec<String>,
                      destination: usize,
                      put: &Put,
                      positions: &mut Positions| match put {
            Put::Text(text) => into.push(text.clone()),
            Put::Lines(file, first, last, is_copy) => {
                for line in *first..=*last {
                    if !is_copy {
                        positions.insert((*file, line), (destination, into.len()));
                    }
                    into.push(files[*file].lines[line].clone());
                }
            }
        };
        for (at, file) in files.iter().enumerate() {
            let mut lines = Vec::new();
            for gap in 0..=file.lines.len() {
                self.put[at][gap]
                    .iter()
                    .for_each(|put| insert(&mut lines, at, put, &mut positions));
                if gap == file.lines.len() {
                    break;
                }
                lines.extend(self.replaced[at].get(&gap).into_iter().flatten().cloned());
                if !self.gone[at][gap] {
                    positions.insert((at, gap), (at, lines.len()));
                    lines.push(file.lines[gap].clone());
                }
            }
            after.push(lines);
        }
        let mut made = Vec::new();
        self.made.iter().for_each(|put| insert(&mut made, files.len(), put, &mut positions));
        after.push(made);
        (after, positions)
    }
}

fn round(seed: u64) {
    let mut dice = Dice(seed);
    let mut serial = 0;
    let files: Vec<Model> = (0..3)
        .map(|file| {
            let count = dice.below(12);
            let is_open = count > 0 && dice.one_in(4);
            // A file without line terminators uses `\n`.
            let has_ends = count > usize::from(is_open);
            Model {
                lines: (0..count).map(|line| format!("file {file} line {line}")).collect(),
                end: if has_ends && dice.one_in(3) { "\r\n" } else { "\n" },
                is_open,
            }
        })
        .collect();
    let mut draft = Draft::new(&files);
    for _ in 0..1 + dice.below(6) {
        draft.add(&files, &mut dice, &mut serial);
    }
    if draft.operations.is_empty() {
        return;
    }
    let (after, positions) = draft.apply(&files);
    let moved = dice.one_in(4).then(|| dice.below(files.len()));
    let now = |file: usize| match file {
        file if file == files.len() => "new".to_owned(),
        file if moved == Some(file) => "moved".to_owned(),
        file => name(file),
    };
    if let Some(file) = moved {
        draft.operations.push(json!({"op": "move_file", "from": name(file), "to": "moved"}));
    }
    let names: Vec<String> = (0..files.len()).map(name).collect();
    let contents: Vec<String> = files.iter().map(Model::bytes).collect();
    let pairs: Vec<(&str, &[u8])> =
        names.iter().zip(&contents).map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    let scene = Scene::new(&pairs);
    let session = scene.session(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let operations = Value::Array(draft.operations.clone());
    let answer = applied(in_session(&session, &operations)).text;
    for (file, model) in files.iter().enumerate() {
        let (end, is_open) = (model.end, model.is_open);
        let expected = Model { lines: after[file].clone(), end, is_open };
        let found = scene.content(&now(file));
        assert_eq!(found, expected.bytes(), "seed {seed}: {}\n{operations}\n{answer}", now(file));
    }
    let made: Vec<String> = match draft.made.is_empty() {
        true => Vec::new(),
        false => scene.content("new").lines().map(str::to_owned).collect(),
    };
    assert_eq!(made, after[files.len()], "seed {seed}: {operations}");
    for (file, model) in files.iter().enumerate() {
        for (line, text) in model.lines.iter().enumerate() {
            let anchor = format!("{}|{text}", at(line as u64 + 1, text));
            let delete = json!([{"op": "delete", "path": now(file), "anchor": anchor}]);
            let is_copied = after[file].get(line) == Some(text);
            match positions.get(&(file, line)) {
                // A copy at the old line number has the same anchor as the line shown.
                position if is_copied && position != Some(&(file, line)) => {}
                Some(&(destination, _)) if destination == file => {
                    let fork = session.fork();
                    let before = scene.bytes(&now(file));
                    applied(in_session(&fork, &delete));
                    let mut left = after[file].clone();
                    let at = positions[&(file, line)].1;
                    assert_eq!(left.remove(at), *text);
                    let found = scene.content(&now(file));
                    let found: Vec<&str> = found.lines().collect();
                    assert_eq!(found, left, "seed {seed}: {anchor} of {file}\n{operations}");
                    scene.write(&now(file), &before);
                }
                Some(&(destination, place)) => {
                    let text = refused(in_session(&session, &delete)).text;
                    let there = at(place as u64 + 1, &model.lines[line]);
                    let said = format!("to {}: use {there} there", now(destination));
                    assert!(text.contains(&said), "seed {seed}: {said}\n{text}\n{operations}");
                }
                None => {
                    refused(in_session(&session, &delete));
                }
            }
        }
    }
}

#[test]
fn random_patches_agree_with_lists_of_lines() {
    (0..60).for_each(round);
}

#[test]
#[ignore = "takes minutes"]
fn many_random_patches_agree_with_lists_of_lines() {
    (1_000..21_000).for_each(round);
}
