//! The tools of an agent over a session: their definitions, and calls with the arguments that a
//! model wrote.

use hashline_core::{AnswerOptions, Cancel, Code, Error, ReadImage, Result};
use hashline_tools::{Allowed, CallOptions, Definition, Names, ToolKind, Tools, ToolsOptions};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::buffer::{Input, parsed_options};
use crate::calls::data;
use crate::sessions::session;

/// `HashToolsOptions` and `dryRun`, without the options of answers.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
struct Given {
    names: GivenNames,
    operations: Option<Vec<String>>,
    json: bool,
    undo: bool,
    dry_run: bool,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
struct GivenNames {
    read: Option<String>,
    search: Option<String>,
    apply: Option<String>,
    read_json: Option<String>,
    apply_json: Option<String>,
    undo: Option<String>,
}

impl From<GivenNames> for Names {
    fn from(given: GivenNames) -> Names {
        let GivenNames { read, search, apply, read_json, apply_json, undo } = given;
        let own = Names::default();
        Names {
            read: read.unwrap_or(own.read),
            search: search.unwrap_or(own.search),
            apply: apply.unwrap_or(own.apply),
            read_json: read_json.unwrap_or(own.read_json),
            apply_json: apply_json.unwrap_or(own.apply_json),
            undo: undo.unwrap_or(own.undo),
        }
    }
}

/// The tools over a session.
struct Offered {
    tools: Tools,
    kinds: Vec<ToolKind>,
    names: Names,
    call: CallOptions,
}

impl Offered {
    fn of(number: u64, options: Input<'_>) -> Result<Offered> {
        let session = session(number)?;
        let mut given: Map<String, Value> = options.object_or_default()?;
        let mut of_answer = Map::new();
        for name in ["answer", "answerContext"] {
            of_answer.extend(given.remove_entry(name));
        }
        let answer: AnswerOptions = parsed_options(of_answer)?;
        let Given { names, operations, json, undo, dry_run } = parsed_options(given)?;
        let wrong = |error: Error| Error::argument(format!("options: {}", error.message));
        let names = Names::from(names);
        let operations = match operations {
            Some(operations) => Allowed::only(&operations).map_err(wrong)?,
            None => Allowed::default(),
        };
        let dialect = session.options().workspace.dialect;
        let is_offered = |kind: &ToolKind| match kind {
            ToolKind::Read | ToolKind::Search | ToolKind::Apply => true,
            ToolKind::ReadJson | ToolKind::ApplyJson => json,
            ToolKind::Undo => undo,
        };
        let kinds: Vec<_> = ToolKind::ALL.into_iter().filter(is_offered).collect();
        for &kind in &kinds {
            operations.check(kind, dialect).map_err(wrong)?;
        }
        let options = ToolsOptions { names: names.clone(), operations, ..ToolsOptions::default() };
        let tools = Tools::new(&session, options);
        Ok(Offered {
            tools,
            kinds,
            names,
            call: CallOptions { dry_run, answer, ..CallOptions::default() },
        })
    }
}

/// The definitions of the tools.
pub(crate) fn definitions(number: u64, options: Input<'_>) -> Result<Vec<u8>> {
    let Offered { tools, kinds, .. } = Offered::of(number, options)?;
    let definitions: Vec<Definition> = kinds.iter().map(|&kind| tools.describe(kind)).collect();
    data(&definitions)
}

/// The result of a call, as in JavaScript.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CallResult {
    text: String,
    is_error: bool,
    summary: String,
    images: Vec<ReadImage>,
    structured: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
}

/// Runs a call. An error of the call is a result, too.
pub(crate) fn call(
    number: u64,
    name: Input<'_>,
    arguments: Input<'_>,
    options: Input<'_>,
) -> Result<Vec<u8>> {
    let Offered { tools, kinds, names, call } = Offered::of(number, options)?;
    let name = name.text()?;
    let Some(&kind) = kinds.iter().find(|&&kind| names.of(kind) == name) else {
        let known: Vec<&str> = kinds.iter().map(|&kind| names.of(kind)).collect();
        let message = format!("there is no tool {name:?}: use one of {}", known.join(", "));
        return Err(Error::new(Code::InvalidArgument, message));
    };
    let turn = tools.enter(kind, None);
    // The tools read the text as models write it.
    let given = Ok(Value::from(arguments.text()?).into());
    let result = tools.run(kind, turn, given, &call, &Cancel::default(), &|_, _| ())?;
    data(&CallResult {
        text: result.text,
        is_error: result.is_error,
        summary: result.summary,
        images: result.images,
        structured: result.structured,
        diff: result.diff,
    })
}
