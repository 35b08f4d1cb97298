//! The text of a session's read, and its views. The views' texts are substrings of the whole text,
//! so the engine receives the characters only once.

use std::cell::Cell;
use std::ops::Range;
use std::ptr;
use std::rc::Rc;

use hashline_core::FileView as View;
use hashline_core::host::recycle;
use napi::bindgen_prelude::{ToNapiValue, TypeName};
use napi::{Env, ValueType, sys};

use super::bulk::Objects;
use super::js::Js;
use super::read::FileView;
use super::text::Text;

/// Shorter texts are passed again, which costs less than taking a substring.
const CUT_MIN_BYTES: usize = 4 * 1024;

/// The handle of the whole text, once it is created.
type Made = Rc<Cell<sys::napi_value>>;

/// The whole text.
pub struct PageText {
    text: Text,
    made: Made,
}

/// The views that make up the whole text.
pub struct PageViews {
    views: Vec<FileView>,
    /// The ranges of the views' texts in the whole text.
    cuts: Vec<(u32, Range<usize>)>,
    made: Made,
}

/// The whole text and its views, with the ranges of their texts in it. Convert them in this order.
pub fn page(text: String, views: Vec<View>, spans: Vec<Range<usize>>) -> (PageText, PageViews) {
    let made = Made::new(Cell::new(ptr::null_mut()));
    // In ASCII, offsets in bytes are offsets in characters.
    let is_ascii = is_ascii(&text, &views, &spans);
    let mut cuts = Vec::new();
    let views = (0..).zip(views).zip(spans).map(|((index, mut view), span)| {
        if is_ascii && span.len() >= CUT_MIN_BYTES {
            recycle(std::mem::take(&mut view.text).into_bytes());
            cuts.push((index, span));
        } else if view.text.is_empty() {
            text[span].clone_into(&mut view.text);
        }
        FileView::of(view, Text::alone)
    });
    let views = views.collect();
    let text = Text::alone(text, is_ascii);
    (PageText { text, made: Rc::clone(&made) }, PageViews { views, cuts, made })
}

/// Whether the whole text is ASCII. Views know it of their own text, so only the text between them
/// is checked.
fn is_ascii(text: &str, views: &[View], spans: &[Range<usize>]) -> bool {
    let text = text.as_bytes();
    let mut at = 0;
    let known = views.iter().zip(spans).filter(|(view, span)| view.is_ascii && !span.is_empty());
    let mut between =
        known.map(|(_, span)| &text[std::mem::replace(&mut at, span.end)..span.start]);
    between.all(<[u8]>::is_ascii) && text[at..].is_ascii()
}

impl TypeName for PageText {
    fn type_name() -> &'static str {
        "String"
    }

    fn value_type() -> ValueType {
        ValueType::String
    }
}

impl ToNapiValue for PageText {
    unsafe fn to_napi_value(env: sys::napi_env, page: Self) -> napi::Result<sys::napi_value> {
        let env = Env::from_raw(env);
        let text = Js::from_rust(&env, page.text)?.raw();
        page.made.set(text);
        Ok(text)
    }
}

impl TypeName for PageViews {
    fn type_name() -> &'static str {
        "Array"
    }

    fn value_type() -> ValueType {
        ValueType::Object
    }
}

impl ToNapiValue for PageViews {
    unsafe fn to_napi_value(env: sys::napi_env, page: Self) -> napi::Result<sys::napi_value> {
        let env = Env::from_raw(env);
        let views = Js::from_rust(&env, Objects(page.views))?;
        for (index, span) in page.cuts {
            let text = Js::new(env.raw(), page.made.get()).slice(span)?;
            views.element(index)?.set(c"text", text)?;
        }
        Ok(views.raw())
    }
}
