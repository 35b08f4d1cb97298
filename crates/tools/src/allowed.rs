//! Which operations a harness allows, and which of them an edit in the shape of another tool is.

use std::sync::Arc;

use hashline_core::host::Value;
use hashline_core::{Dialect, Error};

use crate::arguments::{Fields, quoted, says_nothing};
use crate::operations::{all_operations, find_operation};
use crate::script::NOT_LIMITED;
use crate::table::{Field, Kind, Operation, op_names, operations_of};
use crate::tool::ToolKind;

/// The operations that a harness allows: all, unless it says which.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allowed(Option<Arc<[&'static str]>>);

impl Allowed {
    /// These alone. Refuses a list that is empty, and names that no operation has.
    pub fn only<T: AsRef<str>>(names: &[T]) -> Result<Allowed, Error> {
        let known = || op_names(all_operations()).join(", ");
        if names.is_empty() {
            let known = known();
            return Err(Error::argument(format!("the list is empty: expected some of {known}")));
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

    /// Refuses to allow none of the operations of a tool that has some, and to allow some alone of a
    /// tool that takes whole patches.
    pub fn check(&self, kind: ToolKind, dialect: &Dialect) -> Result<(), Error> {
        let is_script = kind == ToolKind::Apply && !dialect.has_hashes();
        if is_script && !self.is_all() {
            return Err(Error::argument(NOT_LIMITED));
        }
        let Some(fields) = kind.tool().fields.iter().find_map(of_operations) else {
            return Ok(());
        };
        if operations_of(fields, self).next().is_some() {
            return Ok(());
        }
        let known = op_names(operations_of(fields, &Allowed::default())).join(", ");
        let title = kind.tool().title;
        Err(Error::argument(format!(
            "the tool {title} could do nothing: expected some of {known} as well"
        )))
    }

    /// Whether an operation is allowed.
    pub fn has(&self, name: &str) -> bool {
        self.0.as_ref().is_none_or(|names| names.contains(&name))
    }

    /// Whether all operations are.
    pub fn is_all(&self) -> bool {
        self.0.is_none()
    }
}

fn of_operations(field: &Field) -> Option<&'static [Field]> {
    match field.kind {
        Kind::Operations(fields) => Some(fields),
        _ => None,
    }
}

/// The keys by which edits say what they do, `{set_line: {…}}`, and the operation that each is.
const KEYS: &[(&str, &str)] = &[
    ("set_line", "set_line"),
    ("replace_lines", "replace_range"),
    ("insert_after", "insert_after"),
    ("replace", "replace_text"),
    ("set_path", "set_path"),
    ("insert_at_path", "insert_at_path"),
    ("delete_path", "delete_path"),
];

/// The operation that does the same as an edit in the shape of another tool, if that is known. An
/// edit that puts nothing in the place of lines deletes them.
pub fn operation_of(edit: &Fields) -> Option<&'static Operation> {
    let (name, text) = match edit.get("op") {
        Some(Value::String(op)) => (of_tagged(op, edit)?, edit.get("content")),
        Some(_) => return None,
        None => KEYS.iter().find_map(|(key, name)| match edit.get(key) {
            Some(Value::Object(held)) => Some((*name, field(held, "new_text"))),
            _ => None,
        })?,
    };
    let replaces = matches!(name, "set_line" | "replace_range");
    let deletes = replaces && text.is_none_or(says_nothing);
    find_operation(if deletes { "delete" } else { name })
}

fn field<'a>(held: &'a [(String, Value)], name: &str) -> Option<&'a Value> {
    held.iter().find(|(field, _)| field == name).map(|(_, value)| value)
}

/// The operation that `{op: "set", …}` and its like are.
fn of_tagged(op: &str, edit: &Fields) -> Option<&'static str> {
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
