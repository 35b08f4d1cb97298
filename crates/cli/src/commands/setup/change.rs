//! Computes the changes that add entries to a document of any format, or remove them.

use serde_json::{Map, Value, json};

use super::entry::{COMMAND, Entry, HOOKS, Kind, Share, is_own_command, overlay};

/// A step on the path to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Key(String),
    At(usize),
}

/// A change at the place that its steps lead to.
#[derive(Debug)]
pub enum Change {
    Set {
        at: Vec<Step>,
        value: Value,
    },
    /// A new field of an object.
    Insert {
        at: Vec<Step>,
        key: String,
        value: Value,
    },
    /// A new last element of a list.
    Append {
        at: Vec<Step>,
        value: Value,
    },
    Delete {
        at: Vec<Step>,
    },
}

/// Hooks of the user that run for the agent's own edit tools, but not for the edit tool of hashline.
#[derive(Clone, Copy)]
pub struct EditHooks {
    /// The agent's names of its edit tools.
    pub tools: &'static [&'static str],
    /// The agent's name of the edit tool of hashline.
    pub ours: &'static str,
    /// The files of a project that may have hooks.
    pub project_files: &'static [&'static str],
}

/// A matcher of such hooks, and the command of the first.
pub struct EditHook {
    pub at: Vec<Step>,
    pub event: String,
    pub matcher: String,
    pub command: String,
}

impl EditHooks {
    /// Those that do not name the edit tool of hashline.
    pub fn found(&self, document: &Value) -> Vec<EditHook> {
        let is_missed = |hook: &EditHook| {
            let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let mut words = hook.matcher.split(|c| !is_word(c));
            words.any(|word| self.tools.contains(&word)) && !hook.matcher.contains(self.ours)
        };
        matchers(document).into_iter().filter(is_missed).collect()
    }

    /// The changes that add the edit tool of hashline to the matchers.
    pub fn extend(&self, document: &Value) -> Vec<Change> {
        let set = |hook: EditHook| Change::Set {
            value: format!("{}|{}", hook.matcher, self.ours).into(),
            at: hook.at,
        };
        self.found(document).into_iter().map(set).collect()
    }

    /// The changes that remove it again.
    pub fn restore(&self, document: &Value) -> Vec<Change> {
        let restore = |hook: EditHook| {
            let matcher = hook.matcher.strip_suffix(self.ours)?.strip_suffix('|')?;
            Some(Change::Set { value: matcher.into(), at: hook.at })
        };
        matchers(document).into_iter().filter_map(restore).collect()
    }
}

/// The matchers of groups in which the user has hooks.
fn matchers(document: &Value) -> Vec<EditHook> {
    let mut found = Vec::new();
    for (event, groups) in document[HOOKS].as_object().into_iter().flatten() {
        for (index, group) in groups.as_array().into_iter().flatten().enumerate() {
            let Some(matcher) = group[MATCHER].as_str() else { continue };
            let hooks = group[HOOKS].as_array().into_iter().flatten();
            let mut commands = hooks.filter_map(|hook| hook[COMMAND].as_str());
            if let Some(command) = commands.find(|command| !is_own_command(command)) {
                let place = steps(&[HOOKS, event]);
                let at = below(&below(&place, Step::At(index)), Step::Key(MATCHER.to_owned()));
                let (matcher, command) = (matcher.to_owned(), command.to_owned());
                found.push(EditHook { at, event: event.clone(), matcher, command });
            }
        }
    }
    found
}

/// A value has another type than expected.
pub struct Misfit {
    pub at: Vec<Step>,
    pub wanted: &'static str,
}

/// The changes that add the entries.
pub fn put(document: &Value, entries: &[Entry]) -> Result<Vec<Change>, Misfit> {
    let mut changes = Vec::new();
    // Missing objects are added last, because several entries may need the same one.
    let mut missing = Vec::new();
    for entry in entries {
        let (found, value, rest) = deepest(document, entry.keys);
        if let [first, deeper @ ..] = rest {
            expect(found, value.is_object(), "an object")?;
            add_missing(&mut missing, found, first, nested(deeper, entry));
        } else if entry.is_element() {
            expect(found, value.is_array(), "a list")?;
            put_element(&mut changes, entry, value);
        } else if entry.kind == Kind::Key {
            differences(&mut changes, steps(found), value, &entry.updated(value));
        }
    }
    changes.extend(missing);
    Ok(changes)
}

fn add_missing(missing: &mut Vec<Change>, found: &[&str], first: &str, more: Value) {
    let place = steps(found);
    for change in &mut *missing {
        if let Change::Insert { at, key, value } = change
            && *at == place
            && key == first
        {
            merge(value, more);
            return;
        }
    }
    missing.push(Change::Insert { at: place, key: first.to_owned(), value: more });
}

fn put_element(changes: &mut Vec<Change>, entry: &Entry, array: &Value) {
    let place = steps(entry.keys);
    let append = Change::Append { at: place.clone(), value: entry.value.clone() };
    let elements = array.as_array().map_or(&[][..], Vec::as_slice);
    let mut shares = elements.iter().map(|element| entry.share_of(element)).enumerate();
    let Some((index, share)) = shares.find(|(_, share)| *share != Share::Nothing) else {
        changes.push(append);
        return;
    };
    let (at, old) = (below(&place, Step::At(index)), &elements[index]);
    let Share::Hooks(own) = share else {
        differences(changes, at, old, &entry.updated(old));
        return;
    };
    let hooks = below(&at, Step::Key(HOOKS.to_owned()));
    // The matcher also applies to the other hooks of the group.
    if old.get(MATCHER) == entry.value.get(MATCHER) {
        let at = below(&hooks, Step::At(own[0]));
        let old = &old[HOOKS][own[0]];
        differences(changes, at, old, &overlay(old, entry.hook()));
    } else {
        let gone = |hook: &usize| Change::Delete { at: below(&hooks, Step::At(*hook)) };
        changes.extend(own.iter().map(gone));
        changes.push(append);
    }
}

/// The field of a group that names its tools.
const MATCHER: &str = "matcher";

/// The changes that turn a value into another one with at least its fields.
fn differences(changes: &mut Vec<Change>, at: Vec<Step>, old: &Value, new: &Value) {
    match (old, new) {
        (old, new) if old == new => {}
        (Value::Object(old), Value::Object(new)) => {
            for (key, value) in new {
                match old.get(key) {
                    Some(old) => {
                        differences(changes, below(&at, Step::Key(key.clone())), old, value);
                    }
                    None => changes.push(Change::Insert {
                        at: at.clone(),
                        key: key.clone(),
                        value: value.clone(),
                    }),
                }
            }
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            for (index, (old, new)) in old.iter().zip(new).enumerate() {
                differences(changes, below(&at, Step::At(index)), old, new);
            }
        }
        _ => changes.push(Change::Set { at, value: new.clone() }),
    }
}

/// Returns the places of the entries. Sets each entry to null instead of removing it, so that all
/// other places stay valid.
pub fn take(document: &mut Value, entries: &[Entry]) -> Vec<Vec<Step>> {
    let mut taken = Vec::new();
    for entry in entries {
        let place = steps(entry.keys);
        let Some(value) = lookup_mut(document, entry.keys) else { continue };
        match value {
            value if entry.kind == Kind::Key => {
                *value = Value::Null;
                taken.push(place);
            }
            Value::Array(elements) if entry.is_element() => {
                for (index, element) in elements.iter_mut().enumerate() {
                    let at = below(&place, Step::At(index));
                    taken.extend(take_element(element, at, entry));
                }
            }
            _ => {}
        }
    }
    taken
}

fn take_element(element: &mut Value, at: Vec<Step>, entry: &Entry) -> Vec<Vec<Step>> {
    match entry.share_of(element) {
        Share::Nothing => Vec::new(),
        Share::All => {
            *element = Value::Null;
            vec![at]
        }
        Share::Hooks(own) => {
            let hooks = below(&at, Step::Key(HOOKS.to_owned()));
            let take = |hook: usize| {
                element[HOOKS][hook] = Value::Null;
                below(&hooks, Step::At(hook))
            };
            own.into_iter().map(take).collect()
        }
    }
}

/// A document that has only the entries.
pub fn fresh(entries: &[Entry]) -> Value {
    let mut document = Value::Object(Map::new());
    for entry in entries {
        merge(&mut document, nested(entry.keys, entry));
    }
    document
}

/// The value of an entry, nested in objects with its keys.
fn nested(keys: &[&str], entry: &Entry) -> Value {
    let value = if entry.is_element() { json!([entry.value]) } else { entry.value.clone() };
    keys.iter().rev().fold(value, |value, key| json!({*key: value}))
}

/// Merges the fields and elements of another value.
fn merge(value: &mut Value, other: Value) {
    match (value, other) {
        (Value::Object(fields), Value::Object(others)) => {
            for (key, other) in others {
                match fields.get_mut(&key) {
                    Some(known) => merge(known, other),
                    None => _ = fields.insert(key, other),
                }
            }
        }
        (Value::Array(elements), Value::Array(others)) => elements.extend(others),
        (value, other) => *value = other,
    }
}

/// The keys that exist, with their value, and the keys that are missing.
fn deepest<'v, 'k>(
    document: &'v Value,
    keys: &'k [&'static str],
) -> (&'k [&'static str], &'v Value, &'k [&'static str]) {
    let mut value = document;
    for (depth, key) in keys.iter().enumerate() {
        match value.get(key) {
            Some(inner) => value = inner,
            None => return (&keys[..depth], value, &keys[depth..]),
        }
    }
    (keys, value, &[])
}

fn lookup_mut<'v>(document: &'v mut Value, keys: &[&str]) -> Option<&'v mut Value> {
    keys.iter().try_fold(document, |value, key| value.get_mut(key))
}

fn steps(keys: &[&str]) -> Vec<Step> {
    keys.iter().map(|key| Step::Key((*key).to_owned())).collect()
}

fn below(at: &[Step], step: Step) -> Vec<Step> {
    [at, &[step]].concat()
}

fn expect(keys: &[&str], is_fit: bool, wanted: &'static str) -> Result<(), Misfit> {
    if is_fit { Ok(()) } else { Err(Misfit { at: steps(keys), wanted }) }
}
