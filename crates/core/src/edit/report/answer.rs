//! The options of the answer to a patch: its form and its context lines.

use serde::{Deserialize, Deserializer};

use hashline_base::shape::Whole;

/// Unchanged lines on either side of a changed region, by default.
const CONTEXT_LINES: u64 = 2;

/// The maximum for [`AnswerOptions::context_lines`].
pub const ANSWER_CONTEXT_MAX_LINES: u64 = 3;

/// How an answer shows changed lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnswerForm {
    /// As anchors with texts, with unchanged lines around them.
    #[default]
    Region,
    /// As anchors alone, because the author of the text knows it.
    Brief,
}

/// The options of an answer. They do not change refusals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AnswerOptions {
    /// How changed lines are shown; `None` means regions.
    #[serde(rename = "answer")]
    pub form: Option<AnswerForm>,
    /// Unchanged lines on either side of each changed region, at most 3; `None` means 2.
    #[serde(rename = "answerContext", deserialize_with = "context_lines")]
    pub context_lines: Option<u64>,
}

/// Deserializes the optional number of context lines.
pub fn context_lines<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    let lines: Option<Whole<0, ANSWER_CONTEXT_MAX_LINES>> = Deserialize::deserialize(from)?;
    Ok(lines.map(Whole::get))
}

impl AnswerOptions {
    /// These options; `defaults` fills in what is not set.
    pub fn or(self, defaults: AnswerOptions) -> AnswerOptions {
        AnswerOptions {
            form: self.form.or(defaults.form),
            context_lines: self.context_lines.or(defaults.context_lines),
        }
    }

    /// Whether lines that the caller knows are shown as anchors alone.
    pub fn is_brief(self) -> bool {
        self.form == Some(AnswerForm::Brief)
    }

    pub(super) fn context_lines(self) -> u64 {
        self.context_lines.unwrap_or(CONTEXT_LINES).min(ANSWER_CONTEXT_MAX_LINES)
    }

    /// The options of a dry run. Its purpose is to see what the patch would do, so it always shows
    /// regions.
    pub fn for_dry_run(self) -> AnswerOptions {
        AnswerOptions { form: Some(AnswerForm::Region), ..self }
    }
}
