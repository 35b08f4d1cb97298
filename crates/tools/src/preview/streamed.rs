//! Arguments that are still arriving → the operations that are complete, and the start of the next.

use std::ops::Range;

use hashline_core::Code;
use hashline_core::host::{PartHead, ScriptPart, Value, script_parts};

use super::{LineNames, Refusal};
use crate::apply::{OP, OPERATIONS};
use crate::arguments::{Arguments, CallError, Fields, Repairs, is_null_or_empty};
use crate::operations::{PatchReader, is_operation, is_single_operation};
use crate::script::{self, PATCH};
use crate::table::{Field, PATH_NAMES};
use crate::text::Arriving;
use crate::title::PartialArguments;
use crate::tool::Call;

/// What has arrived of a call.
#[derive(Default)]
pub struct Streamed {
    pub source: Source,
    /// Operations that the tool itself refuses, and the call as a whole.
    pub refused: Vec<Refusal>,
    /// The operation that is still arriving.
    pub pending: Option<Pending>,
}

/// The start of an operation.
#[derive(Default)]
pub struct Pending {
    pub op: Option<String>,
    pub path: Option<String>,
    pub anchor: Option<String>,
    pub lines: LineNames,
}

/// The operations that are complete.
#[derive(Default)]
pub struct Source {
    /// Their numbers in the call.
    pub numbers: Vec<usize>,
    parts: Parts,
}

/// The parts of a patch, one for each operation.
enum Parts {
    /// Fields that all share, the name of the list, and the operations.
    Operations { shared: Vec<(String, Value)>, list: &'static str, parts: Vec<Part> },
    /// A patch in oh-my-pi's language: for each hunk the bytes of its header, its own, and its verb.
    Script { text: String, hunks: Vec<(Range<usize>, Range<usize>, bool)> },
}

enum Part {
    Item(Value),
    /// A field next to `edits` that is an operation by itself.
    Field(String, Value),
}

impl Default for Parts {
    fn default() -> Parts {
        Parts::Operations { shared: Vec::new(), list: OPERATIONS.name, parts: Vec::new() }
    }
}

impl Source {
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// The patch of some of the operations.
    pub fn patch(&self, chosen: &[usize]) -> Value {
        match &self.parts {
            Parts::Operations { shared, list, parts } => {
                let (mut fields, mut items) = (shared.clone(), Vec::new());
                for &at in chosen {
                    match &parts[at] {
                        Part::Item(item) => items.push(item.clone()),
                        Part::Field(name, value) => fields.push((name.clone(), value.clone())),
                    }
                }
                fields.push(((*list).to_owned(), Value::Array(items)));
                Value::Object(fields)
            }
            Parts::Script { text, hunks } => {
                let (mut patch, mut header) = (String::new(), None);
                for &at in chosen {
                    let (of_section, hunk, _) = &hunks[at];
                    if header != Some(of_section) {
                        patch += text[of_section.clone()].trim_end_matches('\n');
                        patch.push('\n');
                        header = Some(of_section);
                    }
                    patch += &text[hunk.clone()];
                    if !patch.ends_with('\n') {
                        patch.push('\n');
                    }
                }
                script_patch(patch)
            }
        }
    }

    /// Whether an operation deletes or moves a file.
    pub fn frees_name(&self, at: usize) -> bool {
        match &self.parts {
            Parts::Script { hunks, .. } => hunks[at].2,
            Parts::Operations { parts, .. } => match &parts[at] {
                Part::Field(..) => true,
                Part::Item(item) => {
                    let op = PartialArguments::of(item).scalar(&OP);
                    matches!(op.as_deref(), Some("delete_file" | "move_file"))
                }
            },
        }
    }
}

/// A patch in oh-my-pi's language, as the session takes it.
pub fn script_patch(text: String) -> Value {
    Value::Object(vec![(PATCH.name.to_owned(), Value::String(text))])
}

const EDITS: &str = "edits";
pub const PATH: Field = Field::new("path", crate::table::Kind::Path, "").aliases(PATH_NAMES);
const SOURCE_PATH: Field =
    Field::new("from", crate::table::Kind::Path, "").aliases(&["from_path", "fromPath"]);

/// Whether a field next to `edits` is an operation by itself.
fn is_alone(name: &str) -> bool {
    matches!(name, "rename" | "delete")
}

/// Reads the arguments of a tool that takes operations with the fields of a schema.
pub fn operations(
    call: &Call<'_>,
    schema: &'static [Field],
    root: Arriving,
    whole: Option<Result<Value, CallError>>,
) -> Streamed {
    let is_whole = whole.is_some();
    let Listed { shared, list, items, pending } = listed(root, is_whole);
    let reading = Reading { call, schema, shared, list, is_whole };
    let pending = pending.map(|fields| reading.pending(fields));
    let mut streamed = Streamed { pending, ..Streamed::default() };
    match whole {
        Some(Ok(patch)) => streamed.source = source_of(patch),
        None if items.is_empty() => {}
        whole => match reading.all(&items) {
            Some(Ok(patch)) if whole.is_none() => streamed.source = source_of(patch),
            _ => {
                (streamed.source, streamed.refused) = reading.one_by_one(items);
                if let (Some(Err(error)), true) = (whole, streamed.refused.is_empty()) {
                    streamed.refused.push(Refusal::of_call(None, error));
                }
            }
        },
    }
    streamed
}

/// The fields and operations of a call that have arrived.
struct Listed {
    /// The fields next to the operations.
    shared: Vec<(String, Value)>,
    list: &'static str,
    items: Vec<Value>,
    /// The complete fields of the next operation.
    pending: Option<Vec<(String, Value)>>,
}

fn listed(root: Arriving, is_whole: bool) -> Listed {
    let (mut fields, last) = root.into_fields();
    let list_name = |name: &str| [OPERATIONS.name, EDITS].into_iter().find(|list| *list == name);
    let is_list =
        |(name, value): &(String, Value)| list_name(name).is_some() && !is_null_or_empty(value);
    let arriving = match fields.iter().position(is_list) {
        Some(at) => {
            let (name, value) = fields.remove(at);
            Some((name, Arriving::whole(value)))
        }
        None => last.filter(|(name, _)| list_name(name).is_some()),
    };
    match arriving {
        Some((name, arriving)) => {
            let list = list_name(&name).unwrap_or(OPERATIONS.name);
            let (items, pending) = items_of(arriving, &mut fields, 0);
            Listed { shared: fields, list, items, pending }
        }
        None => {
            let is_single = is_single_operation(&Fields(fields.clone()));
            let list = OPERATIONS.name;
            let (items, pending) = match (is_single, is_whole) {
                (true, true) => (vec![Value::Object(std::mem::take(&mut fields))], None),
                (true, false) => (Vec::new(), Some(fields.clone())),
                (false, _) => (Vec::new(), None),
            };
            Listed { shared: fields, list, items, pending }
        }
    }
}

/// How many layers models put around a list.
const MAX_LAYERS: usize = 4;

/// The complete items of a list and the fields of the next one: an array, an object with one, or the
/// JSON text of these.
fn items_of(
    list: Arriving,
    shared: &mut Vec<(String, Value)>,
    layers: usize,
) -> (Vec<Value>, Option<Vec<(String, Value)>>) {
    if layers == MAX_LAYERS {
        return (Vec::new(), None);
    }
    match &list.value {
        Value::String(text) => match Arriving::of(text) {
            Some(inner) => items_of(inner, shared, layers + 1),
            None => (Vec::new(), None),
        },
        Value::Array(only) if matches!(only.as_slice(), [Value::String(text)] if text.trim_start().starts_with('[')) =>
        {
            let (mut items, last) = list.into_items();
            match items.pop().map(Arriving::whole).or(last) {
                Some(inner) => items_of(inner, shared, layers + 1),
                None => (Vec::new(), None),
            }
        }
        Value::Array(_) => {
            let (items, last) = list.into_items();
            (items, last.map(pending_fields))
        }
        Value::Object(_) => {
            let is_whole = list.is_whole();
            let (mut fields, last) = list.into_fields();
            let is_list = |name: &str| name == OPERATIONS.name;
            let inner = match fields.iter().position(|(name, _)| is_list(name)) {
                Some(at) => Some(Arriving::whole(fields.remove(at).1)),
                None => last.and_then(|(name, inner)| is_list(&name).then_some(inner)),
            };
            match inner {
                Some(inner) => {
                    shared.extend(fields);
                    items_of(inner, shared, layers + 1)
                }
                None if is_whole => (vec![Value::Object(fields)], None),
                None => (Vec::new(), Some(fields)),
            }
        }
        _ => (Vec::new(), None),
    }
}

/// The complete fields of an operation that is still arriving. Those of a keyed edit,
/// `{set_line: {…}}`, are one layer deeper.
fn pending_fields(item: Arriving) -> Vec<(String, Value)> {
    let item = match &item.value {
        Value::String(text) => Arriving::of(text).unwrap_or_else(|| Arriving::whole(Value::Null)),
        _ => item,
    };
    let (mut fields, last) = item.into_fields();
    if let Some((key, inner)) = last
        && matches!(inner.value, Value::Object(_))
    {
        fields.extend(inner.into_fields().0);
        fields.push((OP.name.to_owned(), Value::String(key)));
    }
    fields
}

/// How the items of a call are read.
struct Reading<'a> {
    call: &'a Call<'a>,
    schema: &'static [Field],
    shared: Vec<(String, Value)>,
    list: &'static str,
    is_whole: bool,
}

impl Reading<'_> {
    fn patch(&self, fields: Vec<(String, Value)>) -> Result<Value, CallError> {
        let repairs = &mut Repairs::default();
        PatchReader::patch(self.call, self.schema, Arguments { fields: Fields(fields), repairs })
    }

    /// All items at once; `None` if some do not name their file yet.
    fn all(&self, items: &[Value]) -> Option<Result<Value, CallError>> {
        if items.iter().any(|item| self.waits_for_path(item)) {
            return None;
        }
        let mut fields = self.shared.clone();
        fields.push((self.list.to_owned(), Value::Array(items.to_vec())));
        Some(self.patch(fields))
    }

    /// Whether the path of an item can still arrive.
    fn waits_for_path(&self, item: &Value) -> bool {
        let names_path = |one: &PartialArguments| {
            one.scalar(&PATH).is_some() || one.scalar(&SOURCE_PATH).is_some()
        };
        let shared = PartialArguments::of(&Value::Object(self.shared.clone()));
        !self.is_whole
            && !names_path(&shared)
            && PartialArguments::of_object(item).is_none_or(|item| !names_path(&item))
    }

    /// Each item for itself, so that a malformed one refuses no other.
    fn one_by_one(&self, items: Vec<Value>) -> (Source, Vec<Refusal>) {
        let (mut source, mut refused) = (Source::default(), Vec::new());
        // The first item decides what the others are taken for.
        let of_schema = items.first().is_some_and(is_operation);
        let list = if of_schema { OPERATIONS.name } else { self.list };
        let mut count = 0;
        for (number, item) in items.into_iter().enumerate() {
            if self.waits_for_path(&item) {
                continue;
            }
            let mut fields = self.shared_with(&item);
            fields.push((list.to_owned(), Value::Array(vec![item])));
            match self.patch(fields) {
                Ok(patch) => source.add(source_of(patch), number),
                Err(error) => refused.push(Refusal::of_call(Some((list, number)), error)),
            }
            count = number + 1;
        }
        for field in self.shared.iter().filter(|(name, _)| is_alone(name) && list == EDITS) {
            let mut fields = self.shared_with(&Value::Null);
            fields.extend([field.clone(), (list.to_owned(), Value::Array(Vec::new()))]);
            match self.patch(fields) {
                Ok(patch) => source.add(source_of(patch), count),
                Err(error) => refused.push(Refusal::of_call(None, error)),
            }
        }
        (source, refused)
    }

    /// The shared fields that an item needs. Any other field refuses the call, but not the preview.
    fn shared_with(&self, item: &Value) -> Vec<(String, Value)> {
        let own = PartialArguments::of_object(item).and_then(|item| item.scalar(&PATH));
        let is_path = |name: &str| name == PATH.name || PATH_NAMES.contains(&name);
        let shared = self.shared.iter();
        shared.filter(|(name, _)| own.is_none() && is_path(name)).cloned().collect()
    }

    fn pending(&self, fields: Vec<(String, Value)>) -> Pending {
        let own = PartialArguments::of(&Value::Object(fields));
        let shared = PartialArguments::of(&Value::Object(self.shared.clone()));
        let path_of = |of: &PartialArguments| of.scalar(&PATH).or_else(|| of.scalar(&SOURCE_PATH));
        Pending {
            op: own.scalar(&OP),
            path: path_of(&own).or_else(|| path_of(&shared)),
            anchor: own.scalar(&ANCHOR).or_else(|| own.scalar(&START)),
            lines: LineNames::Anchors(anchors_of(&own)),
        }
    }
}

const ANCHOR: Field = Field::new("anchor", crate::table::Kind::Name, "");
const START: Field =
    Field::new("start_anchor", crate::table::Kind::Name, "").aliases(&["startAnchor"]);
const END: Field = Field::new("end_anchor", crate::table::Kind::Name, "").aliases(&["endAnchor"]);
const RANGE: Field = Field::new("range", crate::table::Kind::Name, "");
const BLOCK: Field = Field::new("block", crate::table::Kind::Flag, "");

/// The fields by which an operation names lines, as far as they have arrived.
fn anchors_of(own: &PartialArguments) -> Vec<(String, Value)> {
    let named = |field: &Field, name: &str| {
        own.scalar(field).map(|anchor| (name.to_owned(), Value::String(anchor)))
    };
    let mut fields: Vec<(String, Value)> = match (named(&START, START.name), named(&END, END.name))
    {
        (Some(start), Some(end)) => vec![start, end],
        (Some(_), None) => named(&START, ANCHOR.name).into_iter().collect(),
        _ => {
            named(&ANCHOR, ANCHOR.name).or_else(|| named(&RANGE, RANGE.name)).into_iter().collect()
        }
    };
    if own.flag(&BLOCK) && !fields.is_empty() {
        fields.push((BLOCK.name.to_owned(), Value::Bool(true)));
    }
    fields
}

impl Source {
    /// Adds the operations of an item.
    fn add(&mut self, other: Source, number: usize) {
        let Parts::Operations { shared, list, parts } = other.parts else { return };
        self.numbers.extend(parts.iter().map(|_| number));
        match &mut self.parts {
            Parts::Operations { parts: known, .. } if !known.is_empty() => known.extend(parts),
            empty => *empty = Parts::Operations { shared, list, parts },
        }
    }
}

/// The operations of a patch.
fn source_of(patch: Value) -> Source {
    let Value::Object(fields) = patch else { return Source::default() };
    let (mut shared, mut parts, mut list) = (Vec::new(), Vec::new(), OPERATIONS.name);
    let mut alone = Vec::new();
    for (name, value) in fields {
        match value {
            Value::Array(items) if name == OPERATIONS.name || name == EDITS => {
                list = if name == EDITS { EDITS } else { OPERATIONS.name };
                parts.extend(items.into_iter().map(Part::Item));
            }
            value if is_alone(&name) => {
                alone.push(Part::Field(name, value));
            }
            value => shared.push((name, value)),
        }
    }
    parts.extend(alone);
    let numbers = (0..parts.len()).collect();
    Source { numbers, parts: Parts::Operations { shared, list, parts } }
}

/// Reads the arguments of the tool that takes patches in oh-my-pi's language.
pub fn script(
    call: &Call<'_>,
    root: Arriving,
    whole: Option<Result<Arguments<'_>, CallError>>,
) -> Streamed {
    let (fields, last) = root.into_fields();
    let is_patch = |name: &str| name == PATCH.name || PATCH.aliases.contains(&name);
    let given = fields.iter().find(|(name, value)| is_patch(name) && !is_null_or_empty(value));
    let (text, is_open) = match (given, &last) {
        (Some((_, Value::String(text))), _) => (text.as_str(), false),
        (None, Some((name, Arriving { value: Value::String(text), .. }))) if is_patch(name) => {
            (text.as_str(), true)
        }
        _ => ("", false),
    };
    let mut streamed = hunks(text, is_open);
    if text.is_empty() && whole.is_none() {
        let path = PartialArguments::of(&Value::Object(fields.clone())).scalar(&PATH);
        streamed.pending = path.map(|path| Pending { path: Some(path), ..Pending::default() });
    }
    match whole.map(|given| given.and_then(|mut given| script::patch(call, &mut given))) {
        Some(Ok(patch)) if text.is_empty() => streamed.source = source_of(patch),
        Some(Err(error)) => streamed.refused.push(Refusal::of_call(None, error)),
        _ => {}
    }
    streamed
}

/// The hunks of a patch that are complete, and the next one.
fn hunks(text: &str, is_open: bool) -> Streamed {
    let rows = if is_open { text.rfind('\n').map_or(0, |end| end + 1) } else { text.len() };
    let parts = script_parts(&text[..rows]);
    let (mut header, mut path, mut hunks) = (0..0, None, Vec::new());
    let mut pending = None;
    let last = parts.len().saturating_sub(1);
    for (at, ScriptPart { span, head }) in parts.into_iter().enumerate() {
        match head {
            PartHead::Header(name) => {
                (header, path) = (span, Some(name));
                pending = is_open.then(Pending::default);
            }
            PartHead::Hunk { verb, lines, has_body } if is_open && at == last && has_body => {
                let lines =
                    lines.map(|lines| format!("{}\nCUT {lines}", text[header.clone()].trim_end()));
                pending = Some(Pending {
                    op: Some(verb.to_owned()).filter(|verb| !verb.is_empty()),
                    lines: lines.map_or_else(LineNames::default, LineNames::Cut),
                    ..Pending::default()
                });
            }
            PartHead::Hunk { verb, .. } => {
                pending = None;
                hunks.push((header.clone(), span, matches!(verb, "REM" | "MV")));
            }
        }
    }
    let path = path.map(str::to_owned);
    let pending = pending.map(|pending| Pending { path, ..pending });
    let numbers = (0..hunks.len()).collect();
    let source = Source { numbers, parts: Parts::Script { text: text.to_owned(), hunks } };
    Streamed { source, pending, ..Streamed::default() }
}

/// The code of a call that the tool refuses.
pub fn code_of(error: &CallError) -> Code {
    match error {
        CallError::Malformed(_) => Code::InvalidArgument,
        CallError::Engine(error) => error.code,
    }
}
