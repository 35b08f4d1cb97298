//! The declaration of arguments: fields with their types, descriptions and aliases. The schema, the
//! parsing of arguments and the list of known fields are derived from it.

use std::sync::Arc;

use serde_json::{Map, Value as Json, json};

/// A field of the arguments, or of an operation.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name in the schema.
    pub name: &'static str,
    /// The type of its value.
    pub kind: Kind,
    /// Its description in the schema; empty where the name suffices.
    pub about: &'static str,
    /// Additions to the description, each for when one of these operations is allowed.
    pub about_operations: &'static [(&'static [&'static str], &'static str)],
    /// The number that replaces `{}` in the description.
    pub number: Option<u64>,
    /// Whether the schema has it. Unlisted fields are accepted, too.
    pub is_listed: bool,
    /// Whether the schema requires it.
    pub is_required: bool,
    /// The names that other tools and models use for it.
    pub aliases: &'static [&'static str],
}

/// An operation of a patch: its name, its own fields, and which of them holds the new text.
#[derive(Debug)]
pub struct Operation {
    pub name: &'static str,
    pub fields: &'static [&'static str],
    pub text: Option<&'static str>,
}

impl Operation {
    /// An operation without new text.
    pub const fn new(name: &'static str, fields: &'static [&'static str]) -> Operation {
        Operation { name, fields, text: None }
    }

    /// The operation with its new text in this field.
    pub const fn writing(self, text: &'static str) -> Operation {
        Operation { text: Some(text), ..self }
    }
}

/// The operations that a host allows; all by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allowed(pub(crate) Option<Arc<[&'static str]>>);

impl Allowed {
    /// Whether an operation is allowed.
    pub fn has(&self, name: &str) -> bool {
        self.0.as_ref().is_none_or(|names| names.contains(&name))
    }

    /// Whether all operations are allowed.
    pub fn is_all(&self) -> bool {
        self.0.is_none()
    }
}

/// The names of operations.
pub fn op_names(operations: impl Iterator<Item = &'static Operation>) -> Vec<&'static str> {
    operations.map(|operation| operation.name).collect()
}

/// The operations of a schema that are allowed.
pub fn operations_of<'a>(
    fields: &'static [Field],
    allowed: &'a Allowed,
) -> impl Iterator<Item = &'static Operation> + 'a {
    let op = fields.iter().find_map(|field| match field.kind {
        Kind::Op(operations) => Some(operations),
        _ => None,
    });
    op.unwrap_or_default().iter().filter(|operation| allowed.has(operation.name))
}

/// The type of a field.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// The name of one of these operations.
    Op(&'static [Operation]),
    /// The path of a file.
    Path,
    /// One of these words; an empty string counts as absent.
    Word(&'static [&'static str]),
    /// A string; an empty one counts as absent.
    Name,
    /// A string; an empty one is a text, too.
    Text,
    /// An array of strings.
    Texts,
    /// A whole number.
    Count,
    /// An array of whole numbers.
    Counts,
    /// A boolean.
    Flag,
    /// The JSON text of a value.
    Value,
    /// An array of operations with these fields.
    Operations(&'static [Field]),
}

impl Field {
    /// An optional field.
    pub const fn new(name: &'static str, kind: Kind, about: &'static str) -> Field {
        Field {
            name,
            kind,
            about,
            about_operations: &[],
            number: None,
            is_listed: true,
            is_required: false,
            aliases: &[],
        }
    }

    /// A field that is accepted but not in the schema, which has other fields for the same purpose.
    pub const fn unlisted(name: &'static str, kind: Kind) -> Field {
        Field { is_listed: false, ..Field::new(name, kind, "") }
    }

    /// The field, made required.
    pub const fn required(self) -> Field {
        Field { is_required: true, ..self }
    }

    /// The field with aliases.
    pub const fn aliases(self, aliases: &'static [&'static str]) -> Field {
        Field { aliases, ..self }
    }

    /// The field with another description.
    pub const fn about(self, about: &'static str) -> Field {
        Field { about, ..self }
    }

    /// The field with a number in its description.
    pub const fn counting(self, number: u64) -> Field {
        Field { number: Some(number), ..self }
    }

    /// The field with additions to its description, each for some operations.
    pub const fn about_operations(
        self,
        about_operations: &'static [(&'static [&'static str], &'static str)],
    ) -> Field {
        Field { about_operations, ..self }
    }

    /// The description, for the operations that are allowed.
    fn description(&self, allowed: &Allowed) -> String {
        let about = match self.number {
            Some(number) => self.about.replace("{}", &number.to_string()),
            None => self.about.to_owned(),
        };
        let is_told =
            |(operations, _): &&(&[&str], &str)| operations.iter().any(|name| allowed.has(name));
        let more = self.about_operations.iter().filter(is_told).map(|(_, more)| (*more).to_owned());
        let parts = std::iter::once(about).chain(more).filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join("; ")
    }

    /// The schema without the description.
    fn schema(&self, allowed: &Allowed) -> Map<String, Json> {
        let schema = match self.kind {
            Kind::Op(operations) => {
                let allowed = operations.iter().filter(|operation| allowed.has(operation.name));
                json!({"type": "string", "enum": op_names(allowed)})
            }
            Kind::Word(words) => json!({"type": "string", "enum": words}),
            Kind::Path | Kind::Name | Kind::Text | Kind::Value => json!({"type": "string"}),
            Kind::Texts => json!({"type": "array", "items": {"type": "string"}}),
            Kind::Count => json!({"type": "integer"}),
            Kind::Counts => json!({"type": "array", "items": {"type": "integer"}}),
            Kind::Flag => json!({"type": "boolean"}),
            Kind::Operations(fields) => {
                let has =
                    |name| operations_of(fields, allowed).any(|operation| operation.has(name));
                let taken = fields.iter().filter(|field| has(field.name));
                json!({"type": "array", "items": schema(taken, allowed)})
            }
        };
        match schema {
            Json::Object(schema) => schema,
            _ => Map::new(),
        }
    }
}

/// The schema of an object with these fields, for the operations that are allowed. It is flat and
/// plain because some vendors do not accept more.
pub fn schema<'a>(fields: impl Iterator<Item = &'a Field>, allowed: &Allowed) -> Json {
    let listed: Vec<&Field> = fields.filter(|field| field.is_listed).collect();
    let properties: Map<String, Json> = listed
        .iter()
        .map(|field| {
            let mut schema = field.schema(allowed);
            let description = field.description(allowed);
            if !description.is_empty() {
                schema.insert("description".to_owned(), description.into());
            }
            (field.name.to_owned(), schema.into())
        })
        .collect();
    let required: Vec<&str> =
        listed.iter().filter(|field| field.is_required).map(|field| field.name).collect();
    json!({"type": "object", "properties": properties, "required": required})
}

/// The names of the fields that are in the schema.
pub fn names_of(fields: &[Field]) -> String {
    let listed = fields.iter().filter(|field| field.is_listed);
    listed.map(|field| field.name).collect::<Vec<_>>().join(", ")
}

/// The names that other tools use for the path of a file.
pub const PATH_NAMES: &[&str] =
    &["file_path", "filePath", "file", "filename", "fileName", "file_name", "filepath"];
