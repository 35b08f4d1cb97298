//! Objects of options: known names only, each value of the right type, or `INVALID_ARGUMENT`
//! that says which option, what it was and what was expected.
//!
//! The properties that an object may have stand in one table: for each its name, how its value is
//! read and where it goes. What users read of it is an interface in `patch.d.ts`;
//! `__test__/options.test.mjs` compares the two.

mod field;
mod workspace;

use std::ffi::CStr;

use hashline_core::Error;
use napi::ValueType;

use super::fault::Result;
use super::js::Js;
pub use field::{Field, Holder, optional};
pub use workspace::{
    OfWorkspace, ROOT, answer_context, answer_form, spelling, workspace_defaults, workspace_options,
};

/// The properties of an object, in parts that several tables may have.
pub type Table<T> = &'static [&'static [Row<T>]];

/// A property, made by the macro `row` unless it is a signal.
pub struct Row<T> {
    pub name: &'static str,
    pub c_name: &'static CStr,
    /// Whether a missing value is read as well, and so refused.
    pub is_required: bool,
    /// Reads the value; there is none for a signal, which the call itself looks at.
    pub set: Option<Setter<T>>,
}

/// Reads a value and puts it in its place.
pub type Setter<T> = fn(&mut T, Field<'_>) -> Result<()>;

impl<T: 'static> Row<T> {
    /// The option that cancels a call.
    pub const SIGNAL: &'static [Row<T>] =
        &[Row { name: "signal", c_name: c"signal", is_required: false, set: None }];
}

/// Makes a row: the name, how the value is read, and the field that it goes to, or what is done
/// with it. A name after `required` must be there.
macro_rules! row {
    (required $($row:tt)+) => {
        $crate::options::Row { is_required: true, ..$crate::options::row!($($row)+) }
    };
    ($name:literal, $read:expr => |$given:ident, $value:ident| $put:expr) => {
        $crate::options::Row {
            name: $name,
            c_name: $crate::options::c_name(concat!($name, "\0")),
            is_required: false,
            set: Some(|$given, field| {
                let $value = ($read)(field)?;
                $put;
                Ok(())
            }),
        }
    };
    ($name:literal, $read:expr => $($place:tt)+) => {
        $crate::options::row!($name, $read => |given, value| given.$($place)+ = value.into())
    };
}
pub(super) use row;

/// A name that ends in NUL.
pub const fn c_name(name: &str) -> &CStr {
    match CStr::from_bytes_with_nul(name.as_bytes()) {
        Ok(name) => name,
        Err(_) => panic!("a name has one NUL, at its end"),
    }
}

/// Puts the properties of `value` in their places; leaves what is missing as it is. Returns the
/// signal, if there is one.
pub fn read<'env, T>(
    holder: Holder,
    value: Js<'env>,
    table: Table<T>,
    given: &mut T,
) -> Result<Option<Field<'env>>> {
    if !check_object(holder, value, table)? {
        return Ok(None);
    }
    let mut signal = None;
    for row in table.iter().copied().flatten() {
        let field = Field::property(holder, row.name, value.get(row.c_name)?);
        if !row.is_required && field.is_missing()? {
            continue;
        }
        match row.set {
            Some(set) => set(given, field)?,
            None => signal = Some(field),
        }
    }
    Ok(signal)
}

/// An object within another one; what it leaves out is as by default.
pub fn read_inside<T: Default>(field: Field<'_>, holder: Holder, table: Table<T>) -> Result<T> {
    let mut given = T::default();
    read(holder, field.value(), table, &mut given)?;
    Ok(given)
}

/// Whether there is an object; refuses what is no object and has names that are not known.
fn check_object<T>(holder: Holder, value: Js<'_>, table: Table<T>) -> Result<bool> {
    let known = || table.iter().copied().flatten().map(|row| row.name);
    let names = || known().collect::<Vec<_>>().join(", ");
    match value.kind()? {
        ValueType::Undefined | ValueType::Null
            if matches!(holder, Holder::Options | Holder::Policy) =>
        {
            return Ok(false);
        }
        ValueType::Object if !value.is_array()? && !value.is_typed_array()? => {}
        _ => {
            let is = value.describe()?;
            let or = match holder {
                Holder::Request(_) => "a path, or ",
                _ => "",
            };
            return Err(Error::argument(format!(
                "{holder} is {is}: expected {or}an object with {}",
                names()
            ))
            .into());
        }
    }
    let keys = value.own_keys()?;
    for index in 0..keys.array_len()? {
        let key = keys.element(index)?.lossy_text()?;
        if known().all(|name| name != key) {
            return Err(Error::argument(format!(
                "{holder} has the unknown name {key:?}: the known ones are {}",
                names()
            ))
            .into());
        }
    }
    Ok(true)
}
