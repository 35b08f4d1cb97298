//! Repairs of the text of a model. Each repair is a named rule with one function, and the answer
//! reports it when it is applied.
//!
//! A rule compares the new lines with the lines that they replace or are inserted next to. It
//! returns the repaired lines, or nothing. If it might be wrong, it returns nothing: a repair must
//! never make an ordinary edit impossible.

mod cuts;
mod description;
mod echoes;
mod indentation;
mod layout;
mod markers;

use std::borrow::Cow;
use std::fmt;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use hashline_base::cancel::Cancel;
use hashline_base::error::{Error, Result};
use hashline_lines::anchor::RowAnchor;
use hashline_lines::dialect::Dialect;
use hashline_lines::normalize::visible_chars;
use hashline_memory::Reindentation;

pub use cuts::cut_row;
pub use description::removed_anchors;
pub use echoes::{Repeat, TextEnd, repeats};
pub use indentation::{Reindented, Shift, reindented, shift};
pub use markers::{RowEvidence, invented_row, strip_rows};

/// A named repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rule {
    /// Diff markers copied into the text.
    StripPlus,
    /// Anchors copied into the text.
    StripAnchors,
    /// Others have re-indented the lines since they were shown.
    FollowIndent,
    /// The first line has lost its indentation.
    InheritIndent,
    /// The text repeats a neighbouring line. A repeated line with letters or digits is refused
    /// instead ([`repeats`]), except in dialects with recorded repairs.
    Echoes,
    /// One line of the text is two merged lines of the file.
    Merges,
    /// Several lines of the text are one wrapped line of the file.
    Wraps,
    /// Single lines have lost their indentation.
    PairedIndent,
    /// Characters that look like hyphens.
    Confusables,
}

impl Rule {
    /// Every rule, in the order in which they run.
    pub const ALL: [Rule; 9] = [
        Rule::StripPlus,
        Rule::StripAnchors,
        Rule::FollowIndent,
        Rule::InheritIndent,
        Rule::Echoes,
        Rule::Merges,
        Rule::Wraps,
        Rule::PairedIndent,
        Rule::Confusables,
    ];

    /// The name callers use.
    pub fn name(self) -> &'static str {
        match self {
            Rule::StripPlus => "strip-plus",
            Rule::StripAnchors => "strip-anchors",
            Rule::FollowIndent => "follow-indent",
            Rule::InheritIndent => "inherit-indent",
            Rule::Echoes => "echoes",
            Rule::Merges => "merges",
            Rule::Wraps => "wraps",
            Rule::PairedIndent => "paired-indent",
            Rule::Confusables => "confusables",
        }
    }

    /// Whether the rule is on by default.
    fn is_default(self, dialect: &Dialect) -> bool {
        match self {
            Rule::StripPlus | Rule::StripAnchors | Rule::FollowIndent | Rule::InheritIndent => true,
            Rule::Echoes => !dialect.recorded_repairs,
            Rule::Merges | Rule::Wraps | Rule::PairedIndent | Rule::Confusables => false,
        }
    }

    fn apply(self, context: &EditContext<'_, '_>, draft: &ModelText) -> Option<ModelText> {
        let lines = match self {
            Rule::StripPlus => markers::strip_plus(context, draft),
            Rule::StripAnchors => markers::strip_anchors(context, draft),
            Rule::FollowIndent => indentation::follow_indent(context, draft),
            Rule::InheritIndent => layout::inherit_indent(context, draft),
            Rule::Echoes if context.dialect.recorded_repairs => echoes::drop_echoes(context, draft),
            Rule::Echoes => echoes::drop_bracket_echoes(context, draft),
            Rule::Merges => return layout::expand_merge(context, draft),
            Rule::Wraps => layout::restore_wraps(context, draft),
            Rule::PairedIndent => layout::paired_indent(context, draft),
            Rule::Confusables => layout::plain_hyphens(context, draft),
        };
        lines.map(|lines| ModelText { site: draft.site, lines })
    }
}

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// The rules that are on: the default rules or none, with single rules switched on or off by name.
/// As data: `true` is the default rules, `false` is none, and an object from names to `true` or
/// `false` switches rules, starting from the default ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairRules {
    with_defaults: bool,
    switched: Vec<(Rule, bool)>,
}

impl Default for RepairRules {
    fn default() -> RepairRules {
        RepairRules { with_defaults: true, switched: Vec::new() }
    }
}

impl RepairRules {
    /// No rule.
    pub fn none() -> RepairRules {
        RepairRules { with_defaults: false, switched: Vec::new() }
    }

    /// These rules and no other.
    pub fn of(rules: &[Rule]) -> RepairRules {
        let switched = rules.iter().map(|&rule| (rule, true)).collect();
        RepairRules { with_defaults: false, switched }
    }

    /// Switches one rule on or off. The error for an unknown name lists all names.
    pub fn switch(&mut self, name: &str, on: bool) -> Result<()> {
        let rule = Rule::ALL.into_iter().find(|rule| rule.name() == name).ok_or_else(|| {
            let names = Rule::ALL.map(Rule::name).join(", ");
            Error::argument(format!("unknown repair {name:?}: the repairs are {names}"))
        })?;
        self.switched.retain(|&(known, _)| known != rule);
        self.switched.push((rule, on));
        Ok(())
    }

    /// Whether a rule is on.
    pub fn has(&self, rule: Rule, dialect: &Dialect) -> bool {
        let switched = self.switched.iter().find(|(known, _)| *known == rule);
        switched.map_or(self.with_defaults && rule.is_default(dialect), |&(_, on)| on)
    }
}

impl<'de> Deserialize<'de> for RepairRules {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Rules;

        impl<'de> Visitor<'de> for Rules {
            type Value = RepairRules;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("true, false, or an object with true or false per rule")
            }

            fn visit_bool<E>(self, on: bool) -> std::result::Result<RepairRules, E> {
                Ok(if on { RepairRules::default() } else { RepairRules::none() })
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut switches: A,
            ) -> std::result::Result<RepairRules, A::Error> {
                let mut rules = RepairRules::default();
                while let Some((name, on)) = switches.next_entry::<String, bool>()? {
                    rules.switch(&name, on).map_err(A::Error::custom)?;
                }
                Ok(rules)
            }
        }

        deserializer.deserialize_any(Rules)
    }
}

/// Where new lines go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditSite {
    /// In place of the lines from the first to the last.
    Lines(u64, u64),
    /// After a line.
    After(u64),
    /// Before a line.
    Before(u64),
    /// Between the first line and the second.
    Between(u64, u64),
    /// At the start or the end of the file, without an anchor.
    End,
}

impl EditSite {
    /// The first line that a text replaces here, or next to which it is inserted.
    pub fn line(self) -> Option<u64> {
        match self {
            EditSite::Lines(line, _)
            | EditSite::After(line)
            | EditSite::Before(line)
            | EditSite::Between(line, _) => Some(line),
            EditSite::End => None,
        }
    }
}

/// The new lines and where they go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelText {
    /// Where the lines go. A rule may extend it by one line.
    pub site: EditSite,
    /// The new lines.
    pub lines: Vec<String>,
}

impl ModelText {
    fn line_count(&self) -> u64 {
        match self.site {
            EditSite::Lines(first, last) => last - first + 1,
            _ => 0,
        }
    }

    fn non_blank_lines(&self) -> impl Iterator<Item = &String> {
        self.lines.iter().filter(|line| !line.trim().is_empty())
    }
}

/// The file and the patch that an edit belongs to.
pub struct EditContext<'s, 'a> {
    /// The dialect of the anchors.
    pub dialect: &'static Dialect,
    /// The text of a line by number; `None` outside the file.
    pub line: &'s dyn Fn(u64) -> Option<Cow<'a, str>>,
    /// Whether another operation of the patch changes a line.
    pub is_touched: &'s dyn Fn(u64) -> bool,
    /// Whether the file parses if this text is its only change; `None` if that is unknown.
    pub parses: &'s dyn Fn(&ModelText) -> Option<bool>,
    /// Whether the session showed exactly this row.
    pub has_shown: &'s dyn Fn(&RowAnchor<'_>) -> bool,
    /// Whether lines of the file begin like rows.
    pub file_has_rows: &'s dyn Fn() -> bool,
    /// Whether the file is prose, in which any line may be at the margin.
    pub is_prose: bool,
    /// How others have re-indented these lines since they were shown, one change after the other.
    pub reindented: &'s [Reindentation],
    /// Checked between rules, because the result of a cancelled call is not used.
    pub cancel: &'s Cancel,
}

impl<'s, 'a> EditContext<'s, 'a> {
    /// What is known of rows in a text.
    pub fn row_evidence(&self) -> RowEvidence<'s, 'a> {
        let &EditContext { dialect, line, has_shown, file_has_rows, .. } = self;
        RowEvidence { dialect, has_shown, line, file_has_rows }
    }

    fn text(&self, number: u64) -> Cow<'a, str> {
        (self.line)(number).unwrap_or_default()
    }

    /// The lines that the text replaces.
    fn replaced(&self, draft: &ModelText) -> Vec<Cow<'a, str>> {
        match draft.site {
            EditSite::Lines(first, last) => {
                (first..=last).map(|number| self.text(number)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The lines that the text replaces, or next to which it is inserted.
    fn reference_lines(&self, draft: &ModelText) -> Vec<Cow<'a, str>> {
        match draft.site {
            EditSite::Lines(..) => self.replaced(draft),
            EditSite::After(line) | EditSite::Before(line) => vec![self.text(line)],
            EditSite::Between(after, before) => vec![self.text(after), self.text(before)],
            EditSite::End => Vec::new(),
        }
    }
}

/// An application of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppliedRepair {
    /// The rule.
    pub rule: Rule,
    /// The lines before the repair, joined by `\n`.
    pub before: String,
    /// The lines after the repair, joined by `\n`.
    pub after: String,
    /// What was done, for the model.
    pub description: String,
}

/// Applies the rules that are on, in the order of [`Rule::ALL`], and appends each repair to
/// `applied`.
pub fn repair(
    rules: &RepairRules,
    context: &EditContext<'_, '_>,
    mut draft: ModelText,
    applied: &mut Vec<AppliedRepair>,
) -> ModelText {
    for rule in Rule::ALL.into_iter().filter(|&rule| rules.has(rule, context.dialect)) {
        if draft.lines.is_empty() || context.cancel.is_cancelled() {
            break;
        }
        if let Some(repaired) = rule.apply(context, &draft).filter(|repaired| *repaired != draft) {
            let (before, after) = (draft.lines.join("\n"), repaired.lines.join("\n"));
            let description = description::describe(rule, context, &draft, &repaired);
            applied.push(AppliedRepair { rule, before, after, description });
            draft = repaired;
        }
    }
    draft
}

/// The spaces and tabs at the start of a line.
fn indentation(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Whether lines equal others except for whitespace. Stops at the first difference.
fn equal_ignoring_whitespace(one: &[impl AsRef<str>], other: &[impl AsRef<str>]) -> bool {
    let one = one.iter().flat_map(|line| visible_chars(line.as_ref()));
    one.eq(other.iter().flat_map(|line| visible_chars(line.as_ref())))
}

#[cfg(test)]
mod recorded;
#[cfg(test)]
mod tests;
