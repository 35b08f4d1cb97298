//! The operations of a patch as a model wrote them → the form that the session takes.

use std::path::{Component, Path};

use hashline_core::Error;
use hashline_core::host::{VALUE, Value};

use crate::arguments::{
    Arguments, CallError, Fields, Repairs, Rule, TAKEN_AS_JSON, TAKEN_AS_ONE, is_null_or_empty,
    is_unset, lone_surrogate, malformed, missing, noun, parse_nested, quoted, whole_number, wrong,
};
use crate::path::{check_new_path, listed_paths, plain_path};
use crate::read::ENCODING;
use crate::table::{Allowed, Field, Kind, Operation, PATH_NAMES, op_names, operations_of};
use crate::text::{Unreadable, parse_json, without_fence};
use crate::tool::Call;

const TRANSFER: &[&str] =
    &["anchor", "block", "start_anchor", "end_anchor", "range", "to", "to_anchor", "indent"];

/// Operations on lines and files.
static LINE_OPERATIONS: &[Operation] = &[
    Operation::new("set_line", &["anchor", "text", "checksum"]).writing("text"),
    Operation::new("replace_range", &["start_anchor", "end_anchor", "block", "text", "checksum"])
        .writing("text"),
    Operation::new("insert_after", &["anchor", "block", "text"]).writing("text"),
    Operation::new("insert_before", &["anchor", "text"]).writing("text"),
    Operation::new(
        "delete",
        &["anchor", "block", "start_anchor", "end_anchor", "range", "checksum"],
    ),
    Operation::new("move_lines", TRANSFER),
    Operation::new("copy_lines", TRANSFER),
    Operation::new("replace_text", &["old_text", "new_text", "all"]).writing("new_text"),
    Operation::new("add_file", &["content", REPLACE]).writing("content"),
    Operation::new("move_file", &["from", "to", "from_path", "to_path"]),
    Operation::new("delete_file", &[]),
];

/// Operations on values of JSON documents.
static VALUE_OPERATIONS: &[Operation] = &[
    Operation::new("set_path", &["anchor", VALUE]),
    Operation::new("insert_at_path", &["anchor", VALUE, "key", "index"]),
    Operation::new("delete_path", &["anchor"]),
];

/// The field of `add_file` by which it replaces the whole content of a file.
pub const REPLACE: &str = "replace";

/// The operation that must be allowed for that, because it can do the same.
const REPLACE_NEEDS: &str = "replace_range";

/// Fields that every operation may have.
const COMMON: &[&str] = &["op", "path", "verbatim"];

/// Names of the new text that no operation of the schema uses.
const TEXT_NAMES: &[&str] =
    &["new_string", "newString", "newText", "new_str", "new_content", "newContent"];

/// Fields in which models write the new text of an operation.
const TEXTS: &[&str] = &["text", "new_text", "content", "lines"];

const fn op(operations: &'static [Operation]) -> Field {
    Field::new("op", Kind::Op(operations), "").required().aliases(&["type"])
}
const PATH: Field = Field::new("path", Kind::Path, "").aliases(PATH_NAMES);
const ANCHOR: Field = Field::new("anchor", Kind::Name, "");

/// The fields of operations on lines and files, in the order of the schema.
pub static LINE_FIELDS: &[Field] = &[
    op(LINE_OPERATIONS),
    PATH,
    ANCHOR.about_operations(&[(&["insert_after", "insert_before"], "For inserts also BOF, EOF")]),
    Field::new("start_anchor", Kind::Name, "").aliases(&["startAnchor"]),
    Field::new("end_anchor", Kind::Name, "").aliases(&["endAnchor"]),
    Field::new("block", Kind::Flag, "The whole function that begins there"),
    Field::new("text", Kind::Text, "New lines, without anchors"),
    Field::new("old_text", Kind::Text, "Exact, found once").aliases(OLD_TEXT_NAMES),
    Field::new("new_text", Kind::Text, ""),
    Field::new("all", Kind::Flag, "Replace every occurrence")
        .aliases(&["replace_all", "replaceAll"]),
    Field::new("content", Kind::Text, ""),
    Field::new(REPLACE, Kind::Flag, "Overwrite the whole file").aliases(&["overwrite"]),
    Field::new("to", Kind::Path, "")
        .about_operations(&[
            (&["move_file"], "The new path"),
            (&["move_lines", "copy_lines"], "lines: to another file"),
        ])
        .aliases(&["new_path", "newPath"]),
    Field::new("to_anchor", Kind::Name, "Lines go below it; or BOF, EOF").aliases(&["toAnchor"]),
    Field::new("indent", Kind::Name, "fit: as deep as there"),
    Field::new("verbatim", Kind::Flag, "Make no repairs"),
];

/// The fields of operations on values of JSON documents, in the order of the schema.
pub static VALUE_FIELDS: &[Field] = &[
    op(VALUE_OPERATIONS),
    PATH,
    ANCHOR
        .about("Of the value")
        .about_operations(&[(&["insert_at_path"], "insert_at_path: of the object or array")])
        .required(),
    Field::new(
        VALUE,
        Kind::Value,
        "The new value as JSON text, like \"a\" in quotes, 5 or {\"b\":true}",
    ),
    Field::new("key", Kind::Text, "Into an object: the new key"),
    Field::new("index", Kind::Count, "Into an array: before this element; default: the end"),
];

/// Fields of operations that no schema has: other ways to name lines and paths.
static UNLISTED_FIELDS: &[Field] = &[
    Field::unlisted("range", Kind::Name),
    Field::unlisted("from", Kind::Path),
    Field::unlisted("from_path", Kind::Path).aliases(&["fromPath"]),
    Field::unlisted("to_path", Kind::Path).aliases(&["toPath"]),
    Field::unlisted("checksum", Kind::Name),
];

const OLD_TEXT_NAMES: &[&str] = &["old_string", "oldString", "oldText", "old_str"];

fn all_fields() -> impl Iterator<Item = &'static Field> {
    LINE_FIELDS.iter().chain(VALUE_FIELDS).chain(UNLISTED_FIELDS)
}

fn field_of(name: &str) -> Option<&'static Field> {
    all_fields().find(|field| field.name == name)
}

/// The arguments of a tool that takes operations with these fields.
pub const fn arguments(fields: &'static [Field]) -> [Field; 2] {
    [SHARED_PATH, Field::new(LIST, Kind::Operations(fields), "").required()]
}

const LIST: &str = "operations";
const EDITS: &str = "edits";

/// The fields next to `operations`: the path that all of them share.
const SHARED_PATH: Field = PATH.about("Of all operations, or each has its own");
static TOP_LEVEL_FIELDS: &[Field] = &[Field::new(LIST, Kind::Texts, ""), SHARED_PATH];
/// The fields next to `edits`, as other tools write them.
static EDITS_FIELDS: &[Field] = &[
    Field::new(EDITS, Kind::Texts, ""),
    SHARED_PATH,
    Field::new("rename", Kind::Path, ""),
    Field::new("delete", Kind::Flag, ""),
    Field::new("snapshots", Kind::Texts, ""),
];

/// Reads the patch of one call.
pub struct PatchReader<'a> {
    call: &'a Call<'a>,
    repairs: &'a mut Repairs,
    /// The fields of the schema, including those of operations that are not allowed.
    schema: &'static [Field],
}

impl<'a> PatchReader<'a> {
    /// The patch in the arguments. The session checks what is not checked here.
    pub fn patch(
        call: &'a Call<'a>,
        schema: &'static [Field],
        given: Arguments<'a>,
    ) -> Result<Value, CallError> {
        let Arguments { mut fields, repairs } = given;
        // An option of the call, not of the patch.
        fields.take(ENCODING.name);
        let mut reader = PatchReader { call, repairs, schema };
        if let Some(edits) = reader.take_edits(&mut fields)? {
            if fields.given(LIST).is_some_and(|list| !is_unset(list)) {
                return Err(malformed(format!(
                    "{EDITS} and {LIST} are both given: give only {LIST}"
                )));
            }
            if edits.is_empty() || !edits.iter().all(is_operation) {
                return reader.edits_of_file(fields, edits);
            }
            reader.repairs.add(Rule::OtherName, EDITS, format!("taken as {LIST}"));
            fields.put(LIST, Value::Array(edits));
        }
        reader.patch_of(fields)
    }

    fn patch_of(&mut self, fields: Fields) -> Result<Value, CallError> {
        let (items, shared) = self.items(fields)?;
        let mut operations = Vec::with_capacity(items.len());
        for (at, item) in items.into_iter().enumerate() {
            let location = format!("{LIST}[{at}]");
            operations.push(match self.parse_item(item, &location)? {
                Value::Object(fields) => {
                    self.operation(Fields(fields), shared.as_ref(), &location)?
                }
                other => other,
            });
        }
        Ok(Value::Object(vec![(LIST.to_owned(), Value::Array(operations))]))
    }

    /// The operations (an array, its JSON text, or a single operation) and the path that they
    /// share.
    fn items(&mut self, mut fields: Fields) -> Result<(Vec<Value>, Option<Value>), CallError> {
        let list = fields.take(LIST).filter(|list| !is_missing_list(list));
        let (mut list, mut shared) = match list {
            Some(list) => (list, self.shared_path(fields)?),
            None if is_single_operation(&fields) => (Value::Object(fields.0), None),
            None => return Err(missing(LIST, "an array of operations", &fields)),
        };
        if let Value::String(text) = &list {
            list = parse_nested(text, LIST, self.repairs)?;
        }
        if let Value::Object(held) = list {
            let mut held = Fields(held);
            list = match held.take(LIST) {
                Some(inner) => {
                    self.repairs.add(Rule::Wrapped, LIST, "taken from the object around them");
                    let inner_path = self.shared_path(held)?;
                    if let (Some(inner_path), Some(shared)) = (&inner_path, &shared) {
                        check_same(inner_path, shared, &format!("{LIST}."))?;
                    }
                    shared = shared.or(inner_path);
                    match inner {
                        Value::String(text) => parse_nested(&text, LIST, self.repairs)?,
                        inner => inner,
                    }
                }
                None => Value::Object(held.0),
            };
        }
        let mut items = match list {
            Value::Array(items) => items,
            one => {
                self.repairs.add(Rule::Wrapped, LIST, TAKEN_AS_ONE);
                vec![one]
            }
        };
        // The array as JSON text, as its only item.
        if let [Value::String(text)] = items.as_slice() {
            items = match parse_nested(text, &format!("{LIST}[0]"), self.repairs)? {
                Value::Array(items) => items,
                one => vec![one],
            };
        }
        Ok((items, shared))
    }

    /// The path that all operations share. Any other field next to them is refused.
    fn shared_path(&mut self, fields: Fields) -> Result<Option<Value>, CallError> {
        let mut given = Arguments { fields, repairs: self.repairs };
        given.normalize(TOP_LEVEL_FIELDS)?;
        let path = given.fields.take("path").filter(|path| !is_unset(path));
        match path.map(|path| self.path(path, "path")).transpose()? {
            Some(other) if !matches!(other, Value::String(_)) => {
                Err(wrong("path", &other, "a path"))
            }
            path => Ok(path),
        }
    }

    fn parse_item(&mut self, item: Value, location: &str) -> Result<Value, CallError> {
        match item {
            Value::String(text) => parse_nested(&text, location, self.repairs),
            other => Ok(other),
        }
    }

    /// Converts one operation; `shared` is the path that all operations share.
    fn operation(
        &mut self,
        mut fields: Fields,
        shared: Option<&Value>,
        location: &str,
    ) -> Result<Value, CallError> {
        let prefix = format!("{location}.");
        self.rename(&mut fields, &prefix)?;
        let operation = self.find_allowed(&fields, location)?;
        self.check_text(operation, &fields, location)?;
        self.check_fields(operation, &fields, location)?;
        self.drop_unused(operation, &mut fields, &prefix);
        for (name, value) in &mut fields.0 {
            let held = std::mem::replace(value, Value::Null);
            *value = self.convert(name, held, &format!("{prefix}{name}"))?;
        }
        self.check_replace(&fields, location)?;
        self.share_path(operation, &mut fields, shared, &prefix)?;
        let new_names = match operation.name {
            "add_file" => &["path"][..],
            "move_file" => &["to", "to_path"],
            _ => &[],
        };
        for name in new_names {
            if let Some(Value::String(path)) = fields.get(name) {
                check_new_path(self.call, path, &format!("{prefix}{name}"))?;
            }
        }
        Ok(Value::Object(fields.0))
    }

    /// Renames aliases, and adds the `op` of an operation whose fields imply it.
    fn rename(&mut self, fields: &mut Fields, prefix: &str) -> Result<(), CallError> {
        let op = self.schema.iter().find(|field| field.name == "op");
        for field in op.into_iter().chain(all_fields().filter(|field| field.name != "op")) {
            fields.rename_one(field.name, field.aliases, prefix, self.repairs)?;
        }
        if fields.given("op").is_none() && fields.given("old_text").is_some() {
            fields.put("op", Value::String("replace_text".to_owned()));
            let message = "taken as replace_text, because it has old_text";
            self.repairs.add(Rule::ImpliedOp, &format!("{prefix}op"), message);
        }
        let text =
            fields.string("op").and_then(find_operation).and_then(|operation| operation.text);
        match text {
            Some(text) => fields.rename_one(text, TEXT_NAMES, prefix, self.repairs),
            None => Ok(()),
        }
    }

    /// Refuses to replace a file where its lines cannot be replaced.
    fn check_replace(&self, fields: &Fields, location: &str) -> Result<(), CallError> {
        if fields.get(REPLACE) != Some(&Value::Bool(true)) || self.call.allowed.has(REPLACE_NEEDS) {
            return Ok(());
        }
        Err(malformed(format!(
            "{location} sets {REPLACE}, but replacing the lines of files is not allowed: use a path that does not exist"
        )))
    }

    fn find_allowed(
        &self,
        fields: &Fields,
        location: &str,
    ) -> Result<&'static Operation, CallError> {
        let what = match fields.get("op") {
            Some(Value::String(op)) => match find_operation(op) {
                Some(operation) if self.call.allowed.has(operation.name) => return Ok(operation),
                Some(_) => format!("is {op}, which is not allowed"),
                None => format!("has the unknown op {}", quoted(op)),
            },
            Some(Value::IllFormed) => return Err(lone_surrogate(&format!("{location}.op"))),
            None => "has no op".to_owned(),
            Some(other) => format!("has {} as its op", noun(other)),
        };
        Err(self.invalid_op(location, &what))
    }

    /// The error for an operation that is unknown or not allowed.
    fn invalid_op(&self, location: &str, what: &str) -> CallError {
        let known = op_names(self.operations()).join(", ");
        malformed(format!("{location} {what}: expected one of {known}"))
    }

    /// The operations of the schema that are allowed.
    fn operations(&self) -> impl Iterator<Item = &'static Operation> {
        operations_of(self.schema, self.call.allowed)
    }

    /// Refuses an edit that is equivalent to an operation that is not allowed. If operations are
    /// limited, unknown edits are refused, too.
    fn check_allowed(
        &self,
        operation: Option<&'static Operation>,
        location: &str,
    ) -> Result<(), CallError> {
        match operation {
            Some(one) if self.call.allowed.has(one.name) => Ok(()),
            Some(Operation { name, .. }) => {
                let what = format!("does the same as {name}, which is not allowed");
                Err(self.invalid_op(location, &what))
            }
            None if self.call.allowed.is_all() => Ok(()),
            None => Err(self.invalid_op(location, "has no known edit")),
        }
    }

    /// Refuses an operation without its new text: the session would delete the lines.
    fn check_text(
        &self,
        operation: &Operation,
        fields: &Fields,
        location: &str,
    ) -> Result<(), CallError> {
        let text = fields.get("text");
        if operation.text != Some("text") || !is_absent(text) {
            return Ok(());
        }
        let how = text.map_or("missing", absent_noun);
        let is_held =
            |name: &&&str| **name != "text" && fields.get(name).is_some_and(|held| !is_unset(held));
        let instead = match TEXTS.iter().find(is_held) {
            Some(held) => format!("Move the content of {held} there."),
            None if self.call.allowed.has("delete") => {
                "To delete lines, use delete; an empty string is an empty line.".to_owned()
            }
            None => "An empty string is an empty line.".to_owned(),
        };
        let op = operation.name;
        Err(malformed(format!(
            "the field {location}.text is {how}, but {op} needs the new lines in it. {instead}"
        )))
    }

    /// Refuses an operation with a field that it does not have: ignoring the field would do
    /// something else than the model asked for.
    fn check_fields(
        &self,
        operation: &Operation,
        fields: &Fields,
        location: &str,
    ) -> Result<(), CallError> {
        let is_unknown =
            |(name, value): &&(String, Value)| !operation.has(name) && !is_unset(value);
        let Some((name, _)) = fields.0.iter().find(is_unknown) else { return Ok(()) };
        let op = operation.name;
        let own = operation.listed();
        let takes = format!("{op} takes {own}");
        let instead = match operation.text {
            Some(text) if TEXTS.contains(&name.as_str()) || TEXT_NAMES.contains(&name.as_str()) => {
                format!("put its text into {text}")
            }
            _ => match self.operations_with(name) {
                none if none.is_empty() => takes,
                owners => format!("it belongs to {}; {takes}", owners.join(", ")),
            },
        };
        Err(malformed(format!("{location} is {op}, which has no field {name}: {instead}")))
    }

    /// The operations of the schema that have a field.
    fn operations_with(&self, name: &str) -> Vec<&'static str> {
        op_names(self.operations().filter(|operation| operation.fields.contains(&name)))
    }

    /// Drops fields that models only fill in: null, an empty string in a field that takes no text,
    /// and empty values in fields of other operations.
    fn drop_unused(&mut self, operation: &Operation, fields: &mut Fields, prefix: &str) {
        let repairs = &mut *self.repairs;
        fields.0.retain(|(name, value)| {
            let is_text = field_of(name).is_some_and(|field| matches!(field.kind, Kind::Text));
            let is_unused = match value {
                Value::Null => true,
                Value::String(text) if operation.has(name) => text.is_empty() && !is_text,
                other => !operation.has(name) && is_unset(other),
            };
            if is_unused {
                repairs.add(
                    Rule::Unused,
                    &format!("{prefix}{name}"),
                    "omitted because it is empty",
                );
            }
            !is_unused
        });
    }

    /// Adds the shared path to an operation without one, and renames the `path` of `move_file`.
    fn share_path(
        &mut self,
        operation: &Operation,
        fields: &mut Fields,
        shared: Option<&Value>,
        prefix: &str,
    ) -> Result<(), CallError> {
        let is_move = operation.name == "move_file";
        let sources = ["path", "from", "from_path"];
        let given = sources.iter().filter(|name| fields.get(name).is_some()).count();
        let targets = ["to", "to_path"].iter().filter(|name| fields.get(name).is_some()).count();
        if is_move && (given > 1 || targets > 1) {
            let location = prefix.trim_end_matches('.');
            return Err(malformed(format!(
                "{location} is move_file and names one path twice: give only path and to"
            )));
        }
        let own =
            sources.iter().find_map(|name| fields.get(name).filter(|_| is_move || *name == "path"));
        match (own, shared) {
            (Some(own), Some(shared)) => check_same(own, shared, prefix)?,
            (Some(_), None) => {}
            (None, Some(shared)) => fields.put("path", shared.clone()),
            (None, None) => {
                let what = "a path in the operation, or one next to operations";
                return Err(missing(&format!("{prefix}path"), what, fields));
            }
        }
        if is_move && let Some(path) = fields.take("path") {
            // The session calls it `from`.
            fields.put("from", path);
            self.repairs.add(Rule::MovePath, &format!("{prefix}path"), "taken as from");
        }
        Ok(())
    }

    /// Converts the value of a field to the form that the session takes.
    fn convert(&mut self, name: &str, held: Value, location: &str) -> Result<Value, CallError> {
        let Some(field) = field_of(name) else { return Ok(held) };
        match (field.kind, held) {
            (Kind::Path, held) => self.path(held, location),
            (Kind::Flag, Value::String(word)) if word == "true" || word == "false" => {
                self.repairs.add(Rule::JsonText, location, format!("taken as {word}"));
                Ok(Value::Bool(word == "true"))
            }
            (Kind::Count, held @ Value::String(_)) => Ok(match whole_number(&held) {
                Some(number) => {
                    self.repairs.add(Rule::Number, location, format!("taken as {number}"));
                    Value::Number(number as f64)
                }
                None => held,
            }),
            (Kind::Name, held @ Value::Number(_)) if self.may_be_blank_line(name) => {
                Ok(match whole_number(&held) {
                    Some(number) => {
                        self.repairs.add(Rule::Number, location, format!("taken as {number}"));
                        Value::String(number.to_string())
                    }
                    None => held,
                })
            }
            (Kind::Value, Value::Json(text)) if self.takes_json_text(name) => {
                self.value_of_text(text, location)
            }
            (_, held) => Ok(held),
        }
    }

    /// Whether a field takes anchors, in a dialect in which the anchor of a blank line is a number.
    fn may_be_blank_line(&self, name: &str) -> bool {
        name.ends_with("anchor") && self.call.session.options().workspace.dialect.bare_blanks
    }

    /// A path, or an array of one path.
    fn path(&mut self, held: Value, location: &str) -> Result<Value, CallError> {
        match held {
            Value::String(path) => match &listed_paths(self.call, &path).unwrap_or_default()[..] {
                [only] => {
                    self.repairs.add(Rule::JsonText, location, TAKEN_AS_JSON);
                    plain_path(self.call, only.clone(), location, self.repairs).map(Value::String)
                }
                _ => plain_path(self.call, path, location, self.repairs).map(Value::String),
            },
            Value::Array(mut items) if items.len() == 1 => {
                let item = items.remove(0);
                if !matches!(item, Value::String(_)) {
                    return Err(wrong(location, &Value::Array(vec![item]), "a path"));
                }
                self.repairs.add(Rule::Unwrapped, location, "taken out of its array");
                self.path(item, location)
            }
            other @ Value::Array(_) => Err(wrong(location, &other, "one path")),
            other => Ok(other),
        }
    }

    /// Whether the schema takes a value as JSON text. Elsewhere a string is a string.
    fn takes_json_text(&self, name: &str) -> bool {
        self.schema.iter().any(|field| field.name == name)
    }

    /// The value of a field for JSON text. Text that cannot be meant as JSON is taken as a string;
    /// text that resembles JSON is refused, because its meaning is uncertain.
    fn value_of_text(&mut self, json: String, location: &str) -> Result<Value, CallError> {
        let text = match parse_json(&json) {
            Ok(Value::String(text)) => text,
            Ok(Value::IllFormed) => return Ok(Value::IllFormed),
            // The model wrote the value itself instead of its text.
            _ => return Ok(Value::Json(json)),
        };
        match parse_value(&text) {
            Some(value) => Ok(value),
            None if is_plain_word(&text) => {
                let message = "taken as a string, because it is not JSON";
                self.repairs.add(Rule::JsonString, location, message);
                Ok(Value::Json(json))
            }
            None => Err(malformed(format!(
                "the field {location} is {}, which is not JSON: expected JSON text, with strings in double quotes",
                noun(&Value::String(text))
            ))),
        }
    }

    /// The items of `edits`, if the call has that field.
    fn take_edits(&mut self, fields: &mut Fields) -> Result<Option<Vec<Value>>, CallError> {
        let Some(held) = fields.take(EDITS).filter(|held| *held != Value::Null) else {
            return Ok(None);
        };
        if is_unset(&held) && fields.given(LIST).is_some() {
            return Ok(None);
        }
        let list = match held {
            Value::String(text) => parse_nested(&text, EDITS, self.repairs)?,
            other => other,
        };
        let items = match list {
            Value::Array(items) => items,
            one => {
                self.repairs.add(Rule::Wrapped, EDITS, TAKEN_AS_ONE);
                vec![one]
            }
        };
        let item = |(at, item)| self.parse_item(item, &format!("{EDITS}[{at}]"));
        items.into_iter().enumerate().map(item).collect::<Result<_, _>>().map(Some)
    }

    /// The edits of one file in the shapes of other tools, which the session can read.
    fn edits_of_file(&mut self, fields: Fields, edits: Vec<Value>) -> Result<Value, CallError> {
        let mut given = Arguments { fields, repairs: self.repairs };
        given.normalize(EDITS_FIELDS)?;
        let mut fields = given.fields;
        let mut items = Vec::with_capacity(edits.len());
        for (at, edit) in edits.into_iter().enumerate() {
            let location = format!("{EDITS}[{at}]");
            items.push(self.edit(edit, &location)?);
        }
        for (name, operation) in [("rename", "move_file"), ("delete", "delete_file")] {
            if fields.get(name).is_some_and(|value| *value != Value::Bool(false)) {
                self.check_allowed(find_operation(operation), name)?;
            }
        }
        for name in ["path", "rename"] {
            if let Some(path) = fields.take(name) {
                let path = self.path(path, name)?;
                fields.put(name, path);
            }
        }
        fields.put(EDITS, Value::Array(items));
        Ok(Value::Object(fields.0))
    }

    /// Converts a keyed edit, `{set_line: {…}}`, or a tagged one, `{op: "set", …}`.
    fn edit(&mut self, edit: Value, location: &str) -> Result<Value, CallError> {
        let Value::Object(held) = edit else { return Ok(edit) };
        let fields = Fields(held);
        if let Some(op @ ("set" | "replace")) = fields.string("op") {
            self.check_new_text(&fields, "content", op, location)?;
        }
        let Fields(mut held) = fields;
        for (key, value) in &mut held {
            let Value::Object(fields) = value else { continue };
            let location = format!("{location}.{key}");
            let mut inner = Fields(std::mem::take(fields));
            for field in all_fields().filter(|field| field.name != "op") {
                let prefix = format!("{location}.");
                inner.rename_one(field.name, field.aliases, &prefix, self.repairs)?;
            }
            let text = if key == "insert_after" { "text" } else { "new_text" };
            inner.rename_one(text, TEXT_NAMES, &format!("{location}."), self.repairs)?;
            if ["set_line", "replace_lines"].contains(&key.as_str()) {
                self.check_new_text(&inner, "new_text", key, &location)?;
            }
            *fields = inner.0;
        }
        let fields = Fields(held);
        self.check_allowed(equivalent_operation(&fields), location)?;
        Ok(Value::Object(fields.0))
    }

    /// Refuses an edit whose missing text would delete lines, or whose text is in a wrong field and
    /// would be lost. In these shapes an empty string deletes lines on purpose.
    fn check_new_text(
        &self,
        fields: &Fields,
        name: &str,
        key: &str,
        location: &str,
    ) -> Result<(), CallError> {
        let is_held = |field: &&&str| {
            **field != name && fields.get(field).is_some_and(|held| !is_unset(held))
        };
        if let Some(other) = TEXTS.iter().find(is_held) {
            return Err(malformed(format!(
                "{location} has no field {other}: put the new lines into {name} of {key}"
            )));
        }
        let text = fields.get(name);
        if !is_absent(text) {
            return Ok(());
        }
        let how = text.map_or("missing", absent_noun);
        let instead = if self.call.allowed.has("delete") {
            " To delete lines, use the operation delete."
        } else {
            ""
        };
        Err(malformed(format!(
            "the field {location}.{name} is {how}, but {key} needs the new lines in it.{instead}"
        )))
    }
}

impl Operation {
    /// Whether it accepts a field.
    pub fn has(&self, name: &str) -> bool {
        self.fields.contains(&name) || COMMON.contains(&name)
    }

    /// Its own fields that are in the schema, for messages.
    fn listed(&self) -> String {
        let is_listed = |name: &&&str| field_of(name).is_some_and(|field| field.is_listed);
        match self.fields.iter().filter(is_listed).copied().collect::<Vec<_>>() {
            none if none.is_empty() => "path alone".to_owned(),
            listed => listed.join(", "),
        }
    }
}

/// The fields of the allowed operations on lines and files besides the path, for the description.
/// Operations with the same fields share a row.
pub fn usage(allowed: &Allowed) -> String {
    let operations: Vec<&'static Operation> = operations_of(LINE_FIELDS, allowed).collect();
    let same = operations.chunk_by(|one, next| one.fields == next.fields);
    let with_own = same.filter(|group| !group[0].fields.is_empty());
    let rows = with_own.map(|group| {
        let names = op_names(group.iter().copied()).join(", ");
        format!("{names}: {}", group[0].listed())
    });
    rows.collect::<Vec<_>>().join("\n")
}

/// All operations, in the order in which they are listed.
pub fn all_operations() -> impl Iterator<Item = &'static Operation> {
    LINE_OPERATIONS.iter().chain(VALUE_OPERATIONS)
}

/// The names of all operations.
pub fn operation_names() -> Vec<&'static str> {
    op_names(all_operations())
}

/// The operation with a name.
pub fn find_operation(name: &str) -> Option<&'static Operation> {
    all_operations().find(|operation| operation.name == name)
}

impl Allowed {
    /// Allows only these operations. Refuses an empty list and unknown names.
    pub fn only<T: AsRef<str>>(names: &[T]) -> Result<Allowed, Error> {
        let known = || op_names(all_operations()).join(", ");
        if names.is_empty() {
            let known = known();
            return Err(Error::argument(format!("the list is empty: add at least one of {known}")));
        }
        let name_of = |name: &T| match find_operation(name.as_ref()) {
            Some(operation) => Ok(operation.name),
            None => Err(Error::argument(format!(
                "there is no operation {}: expected some of {}",
                quoted(name.as_ref()),
                known()
            ))),
        };
        let names: Result<_, Error> = names.iter().map(name_of).collect();
        Ok(Allowed(Some(names?)))
    }
}

/// The keys of keyed edits, `{set_line: {…}}`, with the equivalent operations.
const KEYS: &[(&str, &str)] = &[
    ("set_line", "set_line"),
    ("replace_lines", "replace_range"),
    ("insert_after", "insert_after"),
    ("replace", "replace_text"),
    ("set_path", "set_path"),
    ("insert_at_path", "insert_at_path"),
    ("delete_path", "delete_path"),
];

/// The operation that is equivalent to an edit in the shape of another tool. A replacement without
/// new text is a deletion.
fn equivalent_operation(edit: &Fields) -> Option<&'static Operation> {
    let (name, text) = match edit.get("op") {
        Some(Value::String(op)) => (tagged_operation(op, edit)?, edit.get("content")),
        Some(_) => return None,
        None => KEYS.iter().find_map(|(key, name)| match edit.get(key) {
            Some(Value::Object(held)) => Some((*name, field(held, "new_text"))),
            _ => None,
        })?,
    };
    let replaces = matches!(name, "set_line" | "replace_range");
    let deletes = replaces && text.is_none_or(is_null_or_empty);
    find_operation(if deletes { "delete" } else { name })
}

fn field<'a>(held: &'a [(String, Value)], name: &str) -> Option<&'a Value> {
    held.iter().find(|(field, _)| field == name).map(|(_, value)| value)
}

/// The operation that is equivalent to a tagged edit, `{op: "set", …}`.
fn tagged_operation(op: &str, edit: &Fields) -> Option<&'static str> {
    Some(match op {
        "set" => "set_line",
        "replace" => "replace_range",
        "append" => "insert_after",
        "prepend" => "insert_before",
        "insert" if edit.given("after").is_some() => "insert_after",
        "insert" => "insert_before",
        "replaceText" => "replace_text",
        _ => return None,
    })
}

/// Whether the arguments are a single operation without a list around it.
pub fn is_single_operation(fields: &Fields) -> bool {
    fields.given("op").is_some() || fields.given("type").is_some() || has_old_text(fields)
}

fn has_old_text(fields: &Fields) -> bool {
    std::iter::once(&"old_text").chain(OLD_TEXT_NAMES).any(|name| fields.given(name).is_some())
}

/// Whether a value is an operation of the schema rather than an edit in the shape of another tool.
pub fn is_operation(value: &Value) -> bool {
    let Value::Object(fields) = value else { return false };
    let word = |name: &str| fields.iter().find(|(field, _)| field == name).map(|(_, held)| held);
    match word("op").or_else(|| word("type")) {
        Some(Value::String(op)) => find_operation(op).is_some(),
        Some(_) => false,
        None => has_old_text(&Fields(fields.clone())),
    }
}

/// Refuses an operation whose path differs from the shared one.
fn check_same(own: &Value, shared: &Value, prefix: &str) -> Result<(), CallError> {
    match (own, shared) {
        (Value::String(own), Value::String(shared)) if !parts(own).eq(parts(shared)) => {
            let (own, shared) = (quoted(own), quoted(shared));
            Err(malformed(format!(
                "{prefix}path is {own}, but the path next to operations is {shared}: give each operation its own path, and omit that one"
            )))
        }
        _ => Ok(()),
    }
}

/// The components of a path without `.`.
fn parts(path: &str) -> impl Iterator<Item = Component<'_>> {
    Path::new(path).components().filter(|part| *part != Component::CurDir)
}

/// Whether a list of operations is absent, which is not the same as empty.
fn is_missing_list(list: &Value) -> bool {
    matches!(list, Value::Null) || matches!(list, Value::String(text) if text.trim().is_empty())
}

fn is_absent(text: Option<&Value>) -> bool {
    match text {
        None | Some(Value::Null) => true,
        Some(Value::Array(items)) => items.is_empty(),
        Some(_) => false,
    }
}

fn absent_noun(value: &Value) -> &'static str {
    if *value == Value::Null { "null" } else { "[]" }
}

/// The value of a JSON text, with or without a code block around it.
fn parse_value(text: &str) -> Option<Value> {
    let text = without_fence(text).unwrap_or(text);
    match parse_json(text) {
        Ok(Value::IllFormed) => Some(Value::IllFormed),
        // The core reports the duplicate key.
        Ok(_) | Err(Unreadable::DuplicateKey(_)) => Some(Value::Json(text.trim().to_owned())),
        Err(_) => None,
    }
}

/// What other languages write for the literals of JSON.
const WORDS_FOR_VALUES: &[&str] = &[
    "True",
    "False",
    "TRUE",
    "FALSE",
    "None",
    "undefined",
    "nil",
    "NULL",
    "Null",
    "NaN",
    "Infinity",
];

/// Whether a text that is not JSON can only be meant as a string.
fn is_plain_word(text: &str) -> bool {
    let text = text.trim();
    let first = text.chars().next();
    let looks_like_json = |first: char| "{}[]\"'`+-".contains(first) || first.is_ascii_digit();
    let is_comment = text.starts_with("//") || text.starts_with("/*");
    let is_fraction = text
        .strip_prefix('.')
        .is_some_and(|rest| rest.starts_with(|char: char| char.is_ascii_digit()));
    // The start of a literal.
    let is_broken =
        text.len() > 1 && ["true", "false", "null"].into_iter().any(|word| word.starts_with(text));
    first.is_some_and(|first| !looks_like_json(first))
        && !(is_comment || is_fraction || is_broken)
        && !WORDS_FOR_VALUES.contains(&text)
}
