//! What the tools have in common: how they are described, how a call is carried out, how it is
//! answered.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hashline_core::{Cancel, Code, Dialect, Error, ReadImage, ReadTurn, Session, WriteTurn};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, MetaObject, Tool, ToolAnnotations};
use serde_json::{Value as Json, json};

use super::arguments::{Arguments, OtherNames, Repairs, Trouble};
use super::server::Progress;

/// How the answer to a call begins that was to write and is refused.
pub const NOTHING_WRITTEN: &str = "Nothing was written.";

/// How many lines and bytes one answer may hold.
pub const MAX_LINES: usize = 2_000;
pub const MAX_BYTES: usize = 51_200;

/// A tool.
pub struct Definition {
    pub name: &'static str,
    pub title: &'static str,
    pub description: fn(&Dialect) -> String,
    pub input_schema: fn() -> Json,
    /// Fields as other tools call them.
    pub other_names: OtherNames,
    pub work: Work,
}

type Answered = Result<Answer, Trouble>;

/// What a tool does.
#[derive(Clone, Copy)]
pub enum Work {
    Reads(fn(&Call, &ReadTurn, Arguments<'_>) -> Answered),
    Writes(fn(&Call, &WriteTurn, Arguments<'_>) -> Answered),
}

/// What a call works with.
pub struct Call {
    pub session: Arc<Session>,
    /// Where relative paths start.
    pub base: PathBuf,
    pub cancel: Cancel,
    pub progress: Arc<Progress>,
}

/// A result, as far as the tools differ.
#[derive(Debug, Default)]
pub struct Answer {
    pub text: String,
    pub is_error: bool,
    pub images: Vec<ReadImage>,
    pub structured: Json,
}

/// A call that has its place in the order of calls.
pub struct Begun {
    definition: &'static Definition,
    call: Call,
    turn: Turn,
}

enum Turn {
    Reads(ReadTurn, fn(&Call, &ReadTurn, Arguments<'_>) -> Answered),
    Writes(WriteTurn, fn(&Call, &WriteTurn, Arguments<'_>) -> Answered),
}

impl Definition {
    /// The tool as clients are told of it.
    pub fn tool(&self, dialect: &Dialect) -> Tool {
        let Json::Object(schema) = (self.input_schema)() else {
            unreachable!("schemas are objects")
        };
        let writes = matches!(self.work, Work::Writes(_));
        let annotations = ToolAnnotations::with_title(self.title)
            .read_only(!writes)
            .destructive(writes)
            .idempotent(!writes)
            .open_world(false);
        // A client that loads tools when they are searched for has these at hand from the start.
        let meta = JsonObject::from_iter([("anthropic/alwaysLoad".to_owned(), true.into())]);
        Tool::new(Cow::Borrowed(self.name), (self.description)(dialect), schema)
            .with_title(self.title)
            .with_annotations(annotations)
            .with_meta(MetaObject::from(meta))
    }

    /// Takes the place of a call in the order of calls.
    pub fn begin(&'static self, call: Call) -> Begun {
        let turn = match self.work {
            Work::Reads(work) => Turn::Reads(call.session.reading(), work),
            Work::Writes(work) => Turn::Writes(call.session.writing(), work),
        };
        Begun { definition: self, call, turn }
    }

    /// The answer to a call that ended in an error. Of misuse it is certain that it wrote nothing;
    /// a fault of the disk says itself what became of the files.
    fn failed(&self, trouble: &Trouble) -> Answer {
        let (code, text) = match trouble {
            Trouble::Malformed(message) => {
                (Code::InvalidArgument, format!("{}: {message}", self.name))
            }
            Trouble::Engine(error) => {
                (error.code, format!("{}: {}", error.code.as_str(), error.message))
            }
        };
        let is_untouched = matches!(self.work, Work::Writes(_)) && code == Code::InvalidArgument;
        let text = if is_untouched { format!("{NOTHING_WRITTEN}\n{text}") } else { text };
        let structured = json!({"code": code.as_str()});
        Answer { text, is_error: true, structured, ..Answer::default() }
    }

    /// The result of a call that could not even begin.
    pub fn refused(&self, error: Error, is_structured: bool) -> CallToolResult {
        let answer = self.failed(&Trouble::Engine(error));
        result(answer, &Repairs::default(), is_structured)
    }
}

impl Begun {
    /// Carries out the call.
    pub fn carry_out(self, arguments: Json, is_structured: bool) -> CallToolResult {
        let Begun { definition, call, turn } = self;
        let mut repairs = Repairs::default();
        let answer = Arguments::of(arguments, definition.other_names, &mut repairs)
            .and_then(|given| match &turn {
                Turn::Reads(turn, work) => work(&call, turn, given),
                Turn::Writes(turn, work) => work(&call, turn, given),
            })
            .unwrap_or_else(|trouble| definition.failed(&trouble));
        result(answer, &repairs, is_structured)
    }
}

/// An answer as clients take it.
fn result(answer: Answer, repairs: &Repairs, is_structured: bool) -> CallToolResult {
    let Answer { text, is_error, images, mut structured } = answer;
    let mut content = vec![ContentBlock::text(text + &repairs.told())];
    content.extend(
        images
            .iter()
            .map(|image| ContentBlock::image(STANDARD.encode(&image.data), image.mime_type)),
    );
    let mut result =
        if is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
    if is_structured {
        if !repairs.all().is_empty() {
            structured["argumentRepairs"] = json!(repairs.all());
        }
        result.structured_content = Some(structured);
    }
    result
}

/// A value of the core as data, without the text that the answer has already.
pub fn without_text(value: impl serde::Serialize) -> Json {
    let mut data = serde_json::to_value(value).unwrap_or_default();
    if let Some(fields) = data.as_object_mut() {
        fields.shift_remove("text");
    }
    data
}

/// A number of things, in words.
pub fn plural(count: u64, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

/// The part of a text that one answer may hold, in whole lines.
pub fn within(text: String) -> String {
    let mut bytes = 0;
    let mut lines = text.split('\n').enumerate();
    let fits = lines.find_map(|(at, line)| {
        let start = bytes;
        bytes += line.len() + 1;
        (at >= MAX_LINES || bytes > MAX_BYTES + 1).then_some(start)
    });
    let Some(end) = fits else { return text };
    let shown = text[..end].trim_end_matches('\n');
    let rest = text[end..].split('\n').count() as u64;
    let rest = plural(rest, "further line is", "further lines are");
    format!("{shown}\n({rest} left out. Read the files for their anchors.)")
}
