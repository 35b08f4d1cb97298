//! How an answer tells what was done, as its caller wishes.

use serde::{Deserialize, Deserializer};

use hashline_base::shape::Whole;

/// Unchanged lines on either side of a changed region, where nothing is said.
const CONTEXT_LINES: u64 = 2;

/// The most that an answer shows.
pub const ANSWER_CONTEXT_MAX_LINES: u64 = 3;

/// In which form changed lines are told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnswerForm {
    /// Their text with their anchors, and unchanged lines around them.
    #[default]
    Region,
    /// Their anchors alone: whoever wrote the text knows it.
    Brief,
}

/// How an answer tells what was done. A refusal is told in one way alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AnswerOptions {
    /// In which form changed lines are told; `None`: as regions.
    #[serde(rename = "answer")]
    pub form: Option<AnswerForm>,
    /// Unchanged lines on either side of each changed region, at most 3; `None`: 2.
    #[serde(rename = "answerContext", deserialize_with = "context_lines")]
    pub context_lines: Option<u64>,
}

/// Reads how many lines are shown, if it is said.
pub fn context_lines<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    let lines: Option<Whole<0, ANSWER_CONTEXT_MAX_LINES>> = Deserialize::deserialize(from)?;
    Ok(lines.map(Whole::get))
}

impl AnswerOptions {
    /// These, and what others say where these say nothing.
    pub fn or(self, others: AnswerOptions) -> AnswerOptions {
        AnswerOptions {
            form: self.form.or(others.form),
            context_lines: self.context_lines.or(others.context_lines),
        }
    }

    /// Whether anchors are enough where the text is known.
    pub fn is_brief(self) -> bool {
        self.form == Some(AnswerForm::Brief)
    }

    pub(super) fn context_lines(self) -> u64 {
        self.context_lines.unwrap_or(CONTEXT_LINES).min(ANSWER_CONTEXT_MAX_LINES)
    }

    /// The same where nothing is written: who tries a patch wants to see what it would do.
    pub fn of_trial(self) -> AnswerOptions {
        AnswerOptions { form: Some(AnswerForm::Region), ..self }
    }
}
