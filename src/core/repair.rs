//! Repairs of model text.

/// A named repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// Diff markers copied into the text.
    StripPlus,
    /// Anchors copied into the text.
    StripAnchors,
    /// Indentation of the first line lost.
    InheritIndent,
    /// A neighbouring line repeated in the text.
    Echoes,
    /// Two lines merged into one.
    Merges,
    /// One line wrapped into several.
    Wraps,
    /// Indentation lost line by line.
    PairedIndent,
    /// Hyphens that look alike.
    Confusables,
}

impl Rule {
    /// Every rule, in the order in which they run.
    pub const ALL: [Rule; 8] = [
        Rule::StripPlus,
        Rule::StripAnchors,
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
            Rule::InheritIndent => "inherit-indent",
            Rule::Echoes => "echoes",
            Rule::Merges => "merges",
            Rule::Wraps => "wraps",
            Rule::PairedIndent => "paired-indent",
            Rule::Confusables => "confusables",
        }
    }
}

/// The rules that are switched on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules(Vec<Rule>);

impl Default for Rules {
    fn default() -> Rules {
        Rules(vec![
            Rule::StripPlus,
            Rule::StripAnchors,
            Rule::InheritIndent,
        ])
    }
}

impl Rules {
    /// No rule.
    pub fn none() -> Rules {
        Rules(Vec::new())
    }

    /// Switches one rule; unknown names are refused with the list of names.
    pub fn switch(&mut self, name: &str, on: bool) -> crate::error::Result<()> {
        let rule = Rule::ALL
            .into_iter()
            .find(|rule| rule.name() == name)
            .ok_or_else(|| {
                let names = Rule::ALL.map(Rule::name).join(", ");
                crate::error::Error::argument(format!(
                    "unknown repair {name:?}: the repairs are {names}"
                ))
            })?;
        self.0.retain(|&known| known != rule);
        if on {
            self.0.push(rule);
        }
        Ok(())
    }

    /// Whether a rule is on.
    pub fn has(&self, rule: Rule) -> bool {
        self.0.contains(&rule)
    }
}
