//! The tools of an agent over a session: their definitions, and calls with the arguments that a
//! model wrote.

use hashline_core::{AnswerOptions, Cancel, Error, Result};
use hashline_tools::{Allowed, CallOptions, Definition, Names, ToolKind, Tools, ToolsOptions};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::buffer::{Input, parsed_options, taken_options};
use crate::calls::data;
use crate::sessions::session;

/// `HashToolsOptions` and `dryRun`, without the options of answers.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
struct Given {
    names: Names,
    operations: Option<Vec<String>>,
    json: bool,
    undo: bool,
    dry_run: bool,
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
        let answer: AnswerOptions = taken_options(&mut given, &["answer", "answerContext"])?;
        let Given { names, operations, json, undo, dry_run } = parsed_options(given)?;
        let wrong = |error: Error| Error::argument(format!("options: {}", error.message));
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
        names.check(&kinds).map_err(wrong)?;
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
        return Err(Error::argument(message));
    };
    let turn = tools.enter(kind, None);
    // The tools read the text as models write it.
    let given = Ok(Value::from(arguments.text()?).into());
    data(&tools.run(kind, turn, given, &call, &Cancel::default(), &|_, _| ())?)
}
