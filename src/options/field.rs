//! A value that was passed, with its name for messages, and how it is read.

use std::fmt;
use std::path::PathBuf;

use hashline_core::{Code, Dialect, Error, FOLD_LINES, Folding};
use napi::ValueType;

use crate::fault::{Fault, Result};
use crate::js::Js;

/// The largest number that JavaScript counts to without gaps.
const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// What a value was found in, for messages.
#[derive(Clone, Copy, Debug)]
pub enum Holder {
    /// It is an argument itself.
    Arguments,
    /// The last argument.
    Options,
    /// The only request of a read, or the one at an index.
    Request(Option<u32>),
    /// The query of a search.
    Query,
    /// What a shell command is judged by.
    Policy,
    /// The names of tools in it.
    PolicyTools,
    /// The rules that it switches.
    PolicyRules,
    /// An object among the options.
    Inside(&'static str),
}

impl fmt::Display for Holder {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Holder::Arguments => out.write_str("the call"),
            Holder::Options => out.write_str("options"),
            Holder::Query => out.write_str("query"),
            Holder::Policy => out.write_str("policy"),
            Holder::PolicyTools => out.write_str("policy.tools"),
            Holder::PolicyRules => out.write_str("policy.rules"),
            Holder::Inside(name) => write!(out, "options.{name}"),
            Holder::Request(None) => out.write_str("requests"),
            Holder::Request(Some(index)) => write!(out, "requests[{index}]"),
        }
    }
}

/// A value with its name.
#[derive(Clone, Copy)]
pub struct Field<'env> {
    holder: Holder,
    name: &'static str,
    /// The element of an array that it is.
    index: Option<u32>,
    value: Js<'env>,
}

/// Reads a field that may be left out.
pub fn optional<'env, T>(
    field: Option<Field<'env>>,
    read: impl FnOnce(Field<'env>) -> Result<T>,
) -> Result<Option<T>> {
    field.map(read).transpose()
}

impl<'env> Field<'env> {
    /// A value that stands where its holder's object might.
    pub fn instead_of(holder: Holder, value: Js<'env>) -> Self {
        Field { holder, name: "", index: None, value }
    }

    /// An argument of the call.
    pub fn argument(name: &'static str, value: Js<'env>) -> Self {
        Field { holder: Holder::Arguments, name, index: None, value }
    }

    /// An argument that may be left out.
    pub fn optional_argument(name: &'static str, value: Js<'env>) -> Result<Option<Self>> {
        let field = Field::argument(name, value);
        Ok(if field.is_missing()? { None } else { Some(field) })
    }

    /// A property of the holder's object.
    pub fn property(holder: Holder, name: &'static str, value: Js<'env>) -> Self {
        Field { holder, name, index: None, value }
    }

    /// Whether it counts as left out.
    pub fn is_missing(self) -> napi::Result<bool> {
        self.value.is_missing()
    }

    pub fn value(self) -> Js<'env> {
        self.value
    }

    /// The refusal of the value.
    pub fn wrong(self, expected: &str) -> Fault {
        match self.value.describe() {
            Ok(is) => Error::argument(format!("{self} is {is}: expected {expected}")).into(),
            Err(error) => error.into(),
        }
    }

    pub fn is(self, kind: ValueType) -> Result<bool> {
        Ok(self.value.kind()? == kind)
    }

    pub fn flag(self) -> Result<bool> {
        if self.is(ValueType::Boolean)? {
            Ok(self.value.boolean()?)
        } else {
            Err(self.wrong("true or false"))
        }
    }

    pub fn text(self) -> Result<String> {
        if !self.is(ValueType::String)? {
            return Err(self.wrong("a string"));
        }
        self.value.text()?.ok_or_else(|| {
            Error::new(
                Code::UnencodableText,
                format!("{self} holds a lone surrogate: expected a string that is valid Unicode"),
            )
            .into()
        })
    }

    pub fn path(self) -> Result<PathBuf> {
        Ok(self.text()?.into())
    }

    /// A string, or an array of strings.
    pub fn texts(self) -> Result<Vec<String>> {
        if self.is(ValueType::String)? {
            return Ok(vec![self.text()?]);
        }
        if !self.value.is_array()? {
            return Err(self.wrong("a string or an array of strings"));
        }
        (0..self.value.array_len()?)
            .map(|index| {
                let item = Field { index: Some(index), value: self.value.element(index)?, ..self };
                item.text()
            })
            .collect()
    }

    /// A path, or an array of them.
    pub fn paths(self) -> Result<Vec<PathBuf>> {
        Ok(self.texts()?.into_iter().map(PathBuf::from).collect())
    }

    /// A whole number within bounds.
    pub fn whole(self, min: u64, max: u64) -> Result<u64> {
        if self.is(ValueType::Number)? {
            let number = self.value.number()?;
            if number.fract() == 0.0 && number >= min as f64 && number <= max as f64 {
                return Ok(number as u64);
            }
        }
        Err(self.wrong(&format!("a whole number from {min} to {max}")))
    }

    /// A number of things.
    pub fn count(self) -> Result<u64> {
        self.whole(0, MAX_SAFE_INTEGER)
    }

    /// How far a view is folded.
    pub fn folding(self) -> Result<Option<Folding>> {
        if self.is(ValueType::Boolean)? {
            return Ok(self.value.boolean()?.then_some(Folding::To(FOLD_LINES)));
        }
        if self.is(ValueType::Number)? {
            return Ok(Some(Folding::To(self.count()?)));
        }
        Err(self.wrong("true, false or a number of lines"))
    }

    /// The number of a line, as an anchor can say it.
    pub fn line_number(self) -> Result<u64> {
        self.whole(1, u32::MAX.into())
    }

    /// Two numbers of things.
    pub fn pair(self) -> Result<(u64, u64)> {
        if !self.value.is_array()? || self.value.array_len()? != 2 {
            return Err(self.wrong("an array of two whole numbers"));
        }
        let item = |index| -> Result<u64> {
            Field { index: Some(index), value: self.value.element(index)?, ..self }.count()
        };
        Ok((item(0)?, item(1)?))
    }

    /// A number of bytes in memory; more than there can be is as good as the most.
    pub fn size(self) -> Result<usize> {
        Ok(usize::try_from(self.count()?).unwrap_or(usize::MAX))
    }

    /// One of a few words.
    pub fn choice<T: Copy>(self, choices: &[(&str, T)]) -> Result<T> {
        let word = if self.is(ValueType::String)? { self.value.text()? } else { None };
        let found = choices.iter().find(|(name, _)| word.as_deref() == Some(*name));
        found.map(|(_, choice)| *choice).ok_or_else(|| {
            let names: Vec<_> = choices.iter().map(|(name, _)| format!("{name:?}")).collect();
            self.wrong(&format!("one of {}", names.join(", ")))
        })
    }

    pub fn dialect(self) -> Result<&'static Dialect> {
        if !self.is(ValueType::String)? {
            return Err(self.wrong("the name of a dialect"));
        }
        Dialect::by_name(&self.value.lossy_text()?)
            .map_err(|error| Error::argument(format!("{self}: {}", error.message)).into())
    }
}

impl fmt::Display for Field<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.holder {
            Holder::Arguments => out.write_str(self.name),
            holder if self.name.is_empty() => holder.fmt(out),
            holder => write!(out, "{holder}.{}", self.name),
        }?;
        match self.index {
            Some(index) => write!(out, "[{index}]"),
            None => Ok(()),
        }
    }
}
