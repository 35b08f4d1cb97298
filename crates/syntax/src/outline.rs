//! The outline of a text: its definitions, and the lines that a view may fold.

use std::collections::{HashMap, HashSet};

use memchr::memmem;
use tree_sitter::Node;

use crate::block::{extent, is_alone_at_start};
use crate::budget::{Budget, Meter};
use crate::headings;
use crate::language::{Grammar, Role, Tests, Value};
use crate::lookup::{Lookup, Wide, field, is_one_of, own_start};
use crate::source::Source;
use crate::structure::{Definition, Fold, Outline};
use crate::value::{ValueName, value_names};
use crate::walk::Walk;

/// The minimum number of lines of a fold.
const FOLD_MIN_LINES: usize = 2;

/// The minimum number of similar top-level lines that are folded.
const RUN_MIN_LINES: usize = 6;

/// The limit on the length of a name.
const NAME_LIMIT_CHARS: usize = 100;

impl Source {
    /// Definitions and folds; `None` if the search exceeds the budget.
    pub fn outline(&self, budget: &Budget<'_>) -> Option<Outline> {
        let meter = &budget.meter();
        let outline = match (&self.tree, &self.lexical) {
            (Some(tree), Some(lexical)) if matches!(self.language.grammar, Grammar::Script(..)) => {
                let ranges = tree.included_ranges();
                let rows = ranges.iter().map(|range| {
                    (range.start_point.row as u32 + 1, range.end_point.row as u32 + 1)
                });
                let template = lexical.outline(self, meter).without(&rows.collect::<Vec<_>>());
                Outliner::new(self).run(meter).with(template)
            }
            (Some(_), _) => Outliner::new(self).run(meter),
            (None, Some(lexical)) => lexical.outline(self, meter),
            (None, None) => headings::outline(self),
        };
        (!meter.is_spent()).then_some(outline)
    }

    /// All definitions, including those that outlines do not have; `None` if the search exceeds the
    /// budget.
    pub fn definitions(&self, budget: &Budget<'_>) -> Option<Vec<Definition>> {
        self.definitions_with("", budget)
    }

    /// The definitions whose text contains a part of a name, and so do those around them; `None` if
    /// the search exceeds the budget. Most of the tree is not visited.
    pub(crate) fn definitions_with(
        &self,
        part: &str,
        budget: &Budget<'_>,
    ) -> Option<Vec<Definition>> {
        // Names have U+FFFD in place of invalid bytes.
        if self.tree.is_none() || part.contains('\u{fffd}') {
            return Some(self.outline(budget)?.definitions);
        }
        let meter = &budget.meter();
        let definitions = Outliner::new(self).definitions_with(part, meter);
        (!meter.is_spent()).then_some(definitions)
    }

    /// The first lines of the blocks around a line, outermost first; empty if the search exceeds
    /// the budget.
    pub fn enclosing(&self, line: u32, budget: &Budget<'_>) -> Vec<u32> {
        let row = line.saturating_sub(1) as usize;
        if line == 0 || line > self.lines() {
            return Vec::new();
        }
        let meter = &budget.meter();
        if let Some(lexical) = self.lexical_at(row) {
            let rows = lexical.enclosing(self, line, meter);
            return if meter.is_spent() { Vec::new() } else { rows };
        }
        let Some(tree) = &self.tree else {
            let outline = headings::outline(self);
            return outline.path(line).map(|one| one.first).filter(|&first| first < line).collect();
        };
        let at = self.first_byte(row).unwrap_or_else(|| self.start_of(row));
        let kinds = self.kinds();
        let wide = &Wide::default();
        let lookup = Lookup { source: self, tree, meter, wide };
        let mut rows: Vec<u32> = Vec::new();
        for node in lookup.path_to(at).into_iter().skip(1) {
            if is_one_of(node, kinds.texts) {
                break;
            }
            let start = self.row_of(own_start(node, kinds));
            let is_block = !is_one_of(node, kinds.lists) && is_alone_at_start(lookup, node);
            if is_block && start < row && self.row_of(node.end_byte()) >= row {
                rows.push(start as u32 + 1);
            }
        }
        rows.dedup();
        if meter.is_spent() { Vec::new() } else { rows }
    }
}

/// A bracket that is not closed so far.
struct OpenBracket {
    closing_bracket: &'static str,
    row: usize,
}

/// Consecutive lines of one kind.
#[derive(Default)]
struct Run {
    kind: u16,
    first: usize,
    last: usize,
}

/// A function, in which variables are local, or another definition.
struct Scope {
    depth: u32,
    is_function: bool,
}

/// A traversal of a tree.
struct Outliner<'a> {
    source: &'a Source,
    outline: Outline,
    /// The enclosing definitions, each with its depth in the tree.
    ancestors: Vec<(u32, usize)>,
    brackets: Vec<OpenBracket>,
    /// For a lookup, the functions and definitions around, each with its depth in the tree.
    scopes: Vec<Scope>,
    /// The names that were assigned, each with the definition around it.
    assigned: HashSet<(Option<usize>, String)>,
    /// The depth at which the next node is a test, according to an attribute.
    test_attribute_depth: Option<u32>,
    /// The last line of the last token that is not a comment.
    token_row: usize,
    comments: Option<Run>,
    similar: Option<Run>,
    folds: Foldable,
}

impl<'a> Outliner<'a> {
    fn new(source: &'a Source) -> Outliner<'a> {
        Outliner {
            source,
            outline: Outline::default(),
            ancestors: Vec::new(),
            brackets: Vec::new(),
            scopes: Vec::new(),
            assigned: HashSet::new(),
            test_attribute_depth: None,
            token_row: 0,
            comments: None,
            similar: None,
            folds: Foldable::default(),
        }
    }

    fn run(mut self, meter: &Meter<'_>) -> Outline {
        let Some(root) = self.source.root() else { return self.outline };
        let mut walk = Walk::new(root, meter);
        loop {
            self.visit(walk.node(), walk.depth());
            if !walk.advance() {
                break;
            }
        }
        self.end_of_comments();
        self.end_of_similar();
        self.folds.finish(self.outline)
    }

    fn definitions_with(mut self, part: &str, meter: &Meter<'_>) -> Vec<Definition> {
        let Some(root) = self.source.root() else { return Vec::new() };
        let found: Vec<usize> = match part {
            "" => Vec::new(),
            part => memmem::find_iter(&self.source.text, part).collect(),
        };
        // The matches do not overlap, so another one in a node overlaps with one of them.
        let has_part = |node: Node<'_>| {
            if part.is_empty() {
                return true;
            }
            let next = found.partition_point(|at| at + part.len() <= node.start_byte());
            found.get(next).is_some_and(|&at| at < node.end_byte())
        };
        let mut walk = Walk::new(root, meter);
        loop {
            let (node, depth) = (walk.node(), walk.depth());
            self.leave_to(depth);
            let has_next = if has_part(node) {
                let own = self.definition(node, depth);
                self.values(node, own, depth, meter);
                walk.advance()
            } else {
                // It can be an attribute of the next node.
                self.is_marked_as_test(node, depth);
                walk.advance_past()
            };
            if !has_next {
                break;
            }
        }
        self.outline.definitions
    }

    /// Ends the definitions that do not contain the next node.
    fn leave_to(&mut self, depth: u32) {
        while self.ancestors.last().is_some_and(|&(open, _)| open >= depth) {
            self.ancestors.pop();
        }
        while self.scopes.last().is_some_and(|open| open.depth >= depth) {
            self.scopes.pop();
        }
    }

    fn visit(&mut self, node: Node<'_>, depth: u32) {
        let kinds = self.source.kinds();
        self.leave_to(depth);
        if is_one_of(node, kinds.comments) {
            self.comment(node);
            return;
        }
        self.definition(node, depth);
        let (first, last) =
            (self.source.row_of(node.start_byte()), self.source.row_of(node.end_byte()));
        if depth == 1 && node.is_named() {
            self.top_level(node);
        }
        if is_one_of(node, kinds.bodies) {
            self.body(node);
        } else if is_one_of(node, kinds.texts) {
            self.fold(first + 1, last.saturating_sub(1));
        }
        if node.child_count() == 0 {
            self.bracket(node, first);
            self.token_row = last;
        }
    }

    fn fold(&mut self, first: usize, last: usize) {
        self.folds.add(first, last);
    }

    fn bracket(&mut self, node: Node<'_>, row: usize) {
        let closing_bracket = match node.kind() {
            "{" | "${" | "#{" => "}",
            "[" => "]",
            "(" => ")",
            kind @ ("}" | "]" | ")") => {
                if self
                    .brackets
                    .last()
                    .is_some_and(|open_bracket| open_bracket.closing_bracket == kind)
                    && let Some(open_bracket) = self.brackets.pop()
                {
                    self.fold(open_bracket.row + 1, row.saturating_sub(1));
                }
                return;
            }
            _ => return,
        };
        self.brackets.push(OpenBracket { closing_bracket, row });
    }

    /// Folds an indented body, or the lines between tags.
    fn body(&mut self, node: Node<'_>) {
        let last = self.source.row_of(extent(self.source, node).1.saturating_sub(1));
        if node.kind() == "jsx_element" {
            let inside =
                node.child(0).zip(node.child_count().checked_sub(1).and_then(|at| node.child(at)));
            if let Some((open, close)) = inside {
                self.fold(
                    self.source.row_of(open.end_byte()) + 1,
                    self.source.row_of(close.start_byte()).saturating_sub(1),
                );
            }
        } else if self.source.kinds().definitions.iter().any(|(kind, _)| *kind == node.kind()) {
            self.fold(self.source.row_of(node.start_byte()) + 1, last);
        } else if !self.ancestors.is_empty() || self.source.begins_with_depth(node) {
            self.fold(self.token_row + 1, last);
        }
    }

    fn comment(&mut self, node: Node<'_>) {
        let first = self.source.row_of(node.start_byte());
        let end = self.source.text[..node.end_byte()].trim_ascii_end().len();
        let last = self.source.row_of(end.saturating_sub(1));
        match &mut self.comments {
            Some(run) if run.last + 1 == first => run.last = last,
            _ => {
                self.end_of_comments();
                let run = Run { kind: 0, first, last };
                self.comments = self.source.begins_line(node.start_byte()).then_some(run);
            }
        }
    }

    fn end_of_comments(&mut self) {
        if let Some(run) = self.comments.take() {
            self.fold(run.first + 1, run.last);
        }
    }

    /// Handles imports, rows of tables and the like.
    fn top_level(&mut self, node: Node<'_>) {
        let row = self.source.row_of(node.start_byte());
        let is_line = self.source.row_of(node.end_byte().saturating_sub(1)) == row;
        match &mut self.similar {
            Some(run) if is_line && run.kind == node.kind_id() && run.last + 1 == row => {
                run.last = row;
            }
            _ => {
                self.end_of_similar();
                self.similar = is_line.then(|| Run { kind: node.kind_id(), first: row, last: row });
            }
        }
    }

    fn end_of_similar(&mut self) {
        if let Some(run) = self.similar.take()
            && run.last + 1 >= run.first + RUN_MIN_LINES
        {
            self.fold(run.first + 1, run.last);
        }
    }

    /// Adds the definition that a node is, and returns its index.
    fn definition(&mut self, node: Node<'_>, depth: u32) -> Option<usize> {
        let is_marked_as_test = self.is_marked_as_test(node, depth);
        let (qualifier, name) = name_of(self.source, node)?;
        let last = self.source.row_of(extent(self.source, node).1.saturating_sub(1));
        let first = self.source.row_of(own_start(node, self.source.kinds()));
        if self.source.kinds().only_long && first == last {
            return None;
        }
        let outer = self.ancestors.last().map(|&(_, index)| &self.outline.definitions[index]);
        let is_test = outer.is_some_and(|outer| outer.is_test)
            || is_marked_as_test
            || (qualifier.is_empty() && is_test_by_itself(self.source, node, &name));
        self.outline.definitions.push(Definition {
            qualifier,
            name,
            is_secondary: is_one_of(node, self.source.kinds().extensions)
                || node.kind() == "call_expression",
            is_minor: false,
            is_alias: false,
            bytes: own_start(node, self.source.kinds())..node.end_byte(),
            first: first as u32 + 1,
            last: last as u32 + 1,
            is_test,
            depth: self.ancestors.len() as u32,
        });
        let index = self.outline.definitions.len() - 1;
        self.ancestors.push((depth, index));
        Some(index)
    }

    /// Adds the variables, constants and members that a node defines. `own` is the definition that the node itself is.
    fn values(&mut self, node: Node<'_>, own: Option<usize>, depth: u32, meter: &Meter<'_>) {
        let kinds = self.source.kinds();
        let around = self.ancestors.iter().rev().find(|&&(open, _)| open < depth);
        let around = around.map(|&(_, index)| index);
        if let Some(own) = own {
            self.assigned.insert((around, self.outline.definitions[own].name.clone()));
        }
        let is_local = self.scopes.last().is_some_and(|scope| scope.is_function);
        let value = kinds.values.iter().find(|value| value.kind == node.kind());
        if let Some(value) = value.filter(|value| !is_local || !value.role.has_scope()) {
            let has_more = match value.role {
                // `typedef struct Node {} Node, *NodeRef;` has more names than the first one.
                Role::Global => true,
                Role::Alias => own.is_some(),
                _ => own.is_none(),
            };
            let names = value_names(self.source, node, value, meter);
            let names = names.into_iter().filter(|_| has_more);
            let before = self.outline.definitions.len();
            for name in names {
                self.value(node, value, name, around);
            }
            // `const api = { load() {} }` has an `api.load`.
            if self.outline.definitions.len() == before + 1 && field(node, "value").is_some() {
                self.ancestors.push((depth, before));
            }
        }
        let is_function = is_one_of(node, kinds.scopes);
        if is_function || kinds.definitions.iter().any(|(kind, _)| *kind == node.kind()) {
            self.scopes.push(Scope { depth, is_function });
        }
    }

    fn value(
        &mut self,
        node: Node<'_>,
        value: &Value,
        found: ValueName<'_>,
        around: Option<usize>,
    ) {
        let name = unquoted(&self.source.slice(found.node));
        let is_alias = value.role == Role::Alias;
        let is_same =
            |last: &Definition| last.name == name && (is_alias || value.role == Role::Global);
        if name == "_"
            || self.outline.definitions.last().is_some_and(is_same)
            || (value.role == Role::Assigned && !self.assigned.insert((around, name.clone())))
        {
            return;
        }
        let place = if value.role == Role::Listed { found.node } else { node };
        let first = self.source.row_of(own_start(place, self.source.kinds()));
        let last = self.source.row_of(extent(self.source, place).1.saturating_sub(1));
        let is_free =
            is_alias || value.role == Role::Global || (value.role.has_scope() && around.is_none());
        let is_test = around.is_some_and(|index| self.outline.definitions[index].is_test);
        let depth = around.map_or(0, |index| self.outline.definitions[index].depth + 1);
        self.outline.definitions.push(Definition {
            qualifier: String::new(),
            name,
            is_secondary: false,
            is_minor: found.is_declared || !is_free,
            is_alias,
            bytes: own_start(place, self.source.kinds())..place.end_byte(),
            first: first as u32 + 1,
            last: last as u32 + 1,
            is_test,
            depth,
        });
    }

    /// Whether an attribute above marks this as a test. Comments may be between them.
    fn is_marked_as_test(&mut self, node: Node<'_>, depth: u32) -> bool {
        let Tests::Attributes(words) = self.source.kinds().tests else { return false };
        if is_one_of(node, self.source.kinds().comments) {
            return false;
        }
        if is_one_of(node, self.source.kinds().attributes) {
            if names_test(&self.source.slice(node), words) {
                self.test_attribute_depth = Some(depth);
            }
            return false;
        }
        self.test_attribute_depth == Some(depth) && self.test_attribute_depth.take().is_some()
    }
}

/// Lines that can be folded, counted from 0, inclusive.
#[derive(Default)]
pub(crate) struct Foldable {
    ranges: Vec<(usize, usize)>,
}

impl Foldable {
    /// Adds lines, unless these are too few.
    pub fn add(&mut self, first: usize, last: usize) {
        if last + 1 >= first + FOLD_MIN_LINES {
            self.ranges.push((first, last));
        }
    }

    /// Sorts the folds, and assigns the definitions whose bodies they are.
    pub fn finish(mut self, mut outline: Outline) -> Outline {
        self.ranges.sort_unstable_by_key(|&(first, last)| (first, usize::MAX - last));
        self.ranges.dedup();
        let mut ends: Vec<usize> = Vec::new();
        for (first, last) in self.ranges {
            while ends.last().is_some_and(|&end| end < first) {
                ends.pop();
            }
            if ends.last().is_some_and(|&end| end < last) {
                continue;
            }
            outline.folds.push(Fold {
                first: first as u32 + 1,
                last: last as u32 + 1,
                definition: None,
                is_test: false,
                depth: ends.len() as u32,
            });
            ends.push(last);
        }
        name_folds(&mut outline);
        outline
    }
}

impl Outline {
    /// The folds that have no line in some ranges.
    fn without(mut self, ranges: &[(u32, u32)]) -> Outline {
        self.folds.retain(|fold| {
            let next = ranges.partition_point(|range| range.1 < fold.first);
            ranges.get(next).is_none_or(|range| range.0 > fold.last)
        });
        self
    }

    /// This outline and that of other parts of the same text.
    fn with(mut self, other: Outline) -> Outline {
        let folds = self.folds.iter().chain(&other.folds);
        let ranges = folds.map(|fold| (fold.first as usize - 1, fold.last as usize - 1)).collect();
        self.definitions.extend(other.definitions);
        self.definitions.sort_by_key(|definition| definition.bytes.start);
        self.folds = Vec::new();
        Foldable { ranges }.finish(self)
    }
}

/// A fold is the body of the definition that ends with it or on the line after it, unless a larger
/// fold is. It belongs to a test if it is within one.
fn name_folds(outline: &mut Outline) {
    let mut by_last: HashMap<u32, Vec<usize>> = HashMap::new();
    for (index, fold) in outline.folds.iter().enumerate() {
        by_last.entry(fold.last).or_default().push(index);
    }
    for (index, definition) in outline.definitions.iter().enumerate() {
        let ends = [definition.last, definition.last.saturating_sub(1)];
        let within = ends.iter().filter_map(|end| {
            let folds = by_last.get(end)?;
            let after =
                folds.partition_point(|&fold| outline.folds[fold].first <= definition.first);
            folds.get(after).copied()
        });
        if let Some(fold) = within.min() {
            outline.folds[fold].definition.get_or_insert(index as u32);
        }
    }
    let tests = outline.definitions.iter().filter(|one| one.is_test && one.last > one.first);
    let mut until = 0;
    let mut tests = tests.peekable();
    for fold in &mut outline.folds {
        while let Some(test) = tests.next_if(|test| test.first <= fold.first) {
            until = until.max(test.last);
        }
        fold.is_test = fold.last <= until;
    }
}

/// The qualifier and the name of a definition; `None` if the node is not one.
fn name_of(source: &Source, node: Node<'_>) -> Option<(String, String)> {
    let unqualified = |name| (String::new(), name);
    let kinds = source.kinds();
    let kind = node.kind();
    if let Some((_, fields)) = kinds.definitions.iter().find(|(definition, _)| *definition == kind)
    {
        if kind.ends_with("_specifier") && field(node, "body").is_none() {
            return None;
        }
        if fields.is_empty() {
            return Some(unqualified(head(source, node)));
        }
        let parts = fields.iter().filter_map(|name| field(node, name));
        let mut parts: Vec<String> =
            parts.map(|part| unquoted(&source.slice(declared(part)))).collect();
        let name = parts.pop().unwrap_or_default();
        return Some((parts.join(" "), name));
    }
    if let Some((_, name, value)) = kinds.bindings.iter().find(|(binding, _, _)| *binding == kind) {
        let value = field(node, value)?;
        let name = field(node, name)?;
        let is_definition = is_one_of(value, kinds.functions);
        return is_definition.then(|| unqualified(cut(&source.slice(name))));
    }
    let Tests::Calls(calls) = kinds.tests else { return None };
    if kind != "call_expression" {
        return None;
    }
    let callee = field(node, "function")?;
    let callee_text = cut(&source.slice(callee));
    let first = callee_text.split(['.', '(', '`']).next()?;
    let title = field(node, "arguments")?.named_child(0).filter(|_| calls.contains(&first))?;
    match title.kind() {
        "string" | "template_string" | "identifier" | "member_expression" => {
            Some(unqualified(unquoted(&source.slice(title))))
        }
        // `beforeEach(() => {})`.
        kind if is_one_of(title, kinds.functions) || kind == "function" => {
            Some(unqualified(first.to_owned()))
        }
        // The table of `it.each([1, 2])`.
        _ => None,
    }
}

/// The first line of what precedes the body of a definition: a selector, or the name of a table.
fn head(source: &Source, node: Node<'_>) -> String {
    let mut cursor = node.walk();
    let ends = node.children(&mut cursor).find_map(|child| match child.kind() {
        "block" | "keyframe_block_list" => Some(child.start_byte()),
        "]" | "]]" => Some(child.end_byte()),
        _ => None,
    });
    let text = source.slice(node);
    let text = ends.and_then(|end| text.get(..end - node.start_byte())).unwrap_or(&text);
    let first = text.lines().next().unwrap_or_default();
    first.trim_end().trim_end_matches(['{', ',', ' ']).to_owned()
}

/// The name in a C declarator, which may be nested.
fn declared(mut node: Node<'_>) -> Node<'_> {
    while let Some(inner) = field(node, "declarator") {
        node = inner;
    }
    node
}

/// The first line of a text, up to a limit.
fn cut(text: &str) -> String {
    text.lines().next().unwrap_or_default().trim_end().chars().take(NAME_LIMIT_CHARS).collect()
}

/// A key or title without quotes.
fn unquoted(text: &str) -> String {
    cut(text.trim_matches(['"', '\'', '`']))
}

/// Whether a definition itself is marked as a test.
fn is_test_by_itself(source: &Source, node: Node<'_>, name: &str) -> bool {
    match source.kinds().tests {
        Tests::None => false,
        Tests::Names(prefixes) => prefixes.iter().any(|prefix| name.starts_with(prefix)),
        Tests::Calls(_) => node.kind() == "call_expression",
        Tests::Attributes(words) => {
            let modifiers = node.child(0).filter(|child| child.kind() == "modifiers");
            modifiers.is_some_and(|modifiers| names_test(&source.slice(modifiers), words))
        }
    }
}

fn names_test(attribute: &str, words: &[&str]) -> bool {
    let mut named =
        attribute.split(|character: char| !character.is_alphanumeric() && character != '_');
    named.any(|word| words.contains(&word)) && !attribute.contains("not(test")
}
