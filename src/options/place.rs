//! The place of a value, for messages.

use std::fmt;

/// The place of a value, such as `patch.operations[0].value`.
#[derive(Clone, Copy)]
pub enum Place<'a> {
    Argument(&'static str),
    /// One of the options of the call.
    Option(&'static str),
    Item(&'a Place<'a>, u32),
    Field(&'a Place<'a>, &'a str),
    /// An entry of an object whose names are data.
    Entry(&'a Place<'a>, &'a str),
}

impl Place<'_> {
    pub fn depth(&self) -> u32 {
        match self {
            Place::Argument(_) | Place::Option(_) => 0,
            Place::Item(holder, _) | Place::Field(holder, _) | Place::Entry(holder, _) => {
                holder.depth() + 1
            }
        }
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Argument(name) => out.write_str(name),
            Place::Option(name) => write!(out, "options.{name}"),
            Place::Item(holder, index) => write!(out, "{holder}[{index}]"),
            Place::Field(holder, name) => write!(out, "{holder}.{name}"),
            Place::Entry(holder, name) => write!(out, "{holder}[{name:?}]"),
        }
    }
}
