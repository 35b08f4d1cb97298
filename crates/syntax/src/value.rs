//! The names that a node defines as variables, constants or members.

use tree_sitter::Node;

use crate::budget::Meter;
use crate::language::{Value, When};
use crate::lookup::{field, fields};
use crate::source::Source;

/// The limit on the names of one node.
const NAMES_LIMIT: usize = 10_000;

/// A name in its declaration.
#[derive(Clone, Copy)]
pub(crate) struct ValueName<'tree> {
    pub node: Node<'tree>,
    /// Whether it is defined elsewhere: a prototype, or `extern`.
    pub is_declared: bool,
}

/// The names that a node of this kind defines, in their order.
pub(crate) fn value_names<'tree>(
    source: &Source,
    node: Node<'tree>,
    value: &Value,
    meter: &Meter<'_>,
) -> Vec<ValueName<'tree>> {
    let mut names = Vec::new();
    if !is_defined(source, node, value.when) {
        return names;
    }
    let is_declared = is_extern(source, node);
    let parts = match value.names {
        "" => node.named_child(0).into_iter().collect(),
        name => fields(node, name).collect::<Vec<_>>(),
    };
    for part in parts {
        bound_names(ValueName { node: part, is_declared }, &mut names, meter);
    }
    match value.when {
        When::IsPrototype => names.retain(|name| name.is_declared),
        When::IsCustomProperty => names.retain(|name| source.slice(name.node).starts_with("--")),
        _ => {}
    }
    names
}

fn is_defined(source: &Source, node: Node<'_>, when: When) -> bool {
    match when {
        When::Always | When::IsPrototype | When::IsCustomProperty => true,
        When::NotImported => !field(node, "value").is_some_and(|value| is_import(source, value)),
        When::Exported => is_export(source, node),
        When::HasModifier => {
            let mut cursor = node.walk();
            node.children(&mut cursor)
                .any(|child| matches!(child.kind(), "accessibility_modifier" | "readonly"))
        }
    }
}

/// `require('a')`, `await import('a')`, and members of these.
fn is_import(source: &Source, mut value: Node<'_>) -> bool {
    loop {
        value = match value.kind() {
            "await_expression" => match value.named_child(0) {
                Some(inner) => inner,
                None => return false,
            },
            "member_expression" => match field(value, "object") {
                Some(object) => object,
                None => return false,
            },
            "call_expression" => {
                let called = field(value, "function").map(|called| source.slice(called));
                return called.is_some_and(|called| matches!(&*called, "require" | "import"));
            }
            _ => return false,
        }
    }
}

/// `exports.name = …`, unless the value is defined elsewhere.
fn is_export(source: &Source, node: Node<'_>) -> bool {
    let object = field(node, "left").and_then(|left| field(left, "object"));
    let is_exports =
        object.is_some_and(|one| matches!(&*source.slice(one), "exports" | "module.exports"));
    let is_name = |value: Node<'_>| matches!(value.kind(), "identifier" | "member_expression");
    is_exports
        && field(node, "right").is_some_and(|value| !is_name(value) && !is_import(source, value))
}

fn is_extern(source: &Source, node: Node<'_>) -> bool {
    let mut cursor = node.walk();
    node.kind() == "declaration"
        && node.children(&mut cursor).any(|child| {
            child.kind() == "storage_class_specifier" && source.slice(child) == "extern"
        })
}

/// The names in a pattern or declarator. Not recursive, because it may be nested deeper than any
/// stack.
fn bound_names<'tree>(
    pattern: ValueName<'tree>,
    names: &mut Vec<ValueName<'tree>>,
    meter: &Meter<'_>,
) {
    let mut open = vec![pattern];
    while let Some(part) = open.pop() {
        if !meter.step() || names.len() >= NAMES_LIMIT {
            return;
        }
        if is_name(part.node.kind()) {
            names.push(part);
            if part.node.kind() == "nested_identifier" {
                outer_names(part, names, meter);
            }
            continue;
        }
        let inner = match part.node.kind() {
            "pair_pattern" => field(part.node, "value"),
            "assignment_pattern" | "object_assignment_pattern" => field(part.node, "left"),
            "variable_declarator" => field(part.node, "name"),
            "member_expression" => field(part.node, "property"),
            "generic_type" => part.node.named_child(0),
            kind if kind.ends_with("_declarator") && field(part.node, "declarator").is_some() => {
                field(part.node, "declarator")
            }
            kind if is_group(kind) => {
                let mut cursor = part.node.walk();
                let from = open.len();
                open.extend(
                    part.node.named_children(&mut cursor).map(|node| ValueName { node, ..part }),
                );
                open[from..].reverse();
                None
            }
            _ => None,
        };
        let is_prototype = part.node.kind() == "function_declarator"
            && inner.is_some_and(|inner| inner.kind() != "parenthesized_declarator");
        let is_declared = part.is_declared || is_prototype;
        open.extend(inner.map(|node| ValueName { node, is_declared }));
    }
}

/// `namespace A.B.C` is an `A` and an `A.B`, too.
fn outer_names<'tree>(
    name: ValueName<'tree>,
    names: &mut Vec<ValueName<'tree>>,
    meter: &Meter<'_>,
) {
    let mut outer = field(name.node, "object");
    while let Some(node) = outer.filter(|_| meter.step() && names.len() < NAMES_LIMIT) {
        names.push(ValueName { node, ..name });
        outer = field(node, "object");
    }
}

fn is_name(kind: &str) -> bool {
    kind.ends_with("identifier")
        || kind.ends_with("_selector")
        || matches!(
            kind,
            "shorthand_property_identifier_pattern"
                | "string"
                | "number"
                | "computed_property_name"
                | "destructor_name"
                | "operator_name"
                | "property_name"
                | "keyframes_name"
                | "tag_name"
        )
}

/// Whether all named parts of a node are patterns or declarators.
fn is_group(kind: &str) -> bool {
    matches!(
        kind,
        "object_pattern"
            | "array_pattern"
            | "rest_pattern"
            | "pattern_list"
            | "tuple_pattern"
            | "list_pattern"
            | "list_splat_pattern"
            | "parenthesized_declarator"
            | "reference_declarator"
            | "attributed_declarator"
            | "structured_binding_declarator"
            | "selectors"
            | "type"
    )
}
