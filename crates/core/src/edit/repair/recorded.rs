//! Compares the repairs `echoes`, `merges`, `wraps` and `paired-indent` with the recorded results
//! of the origin of dialect `omp` (`vectors/omp.apply.jsonl`), in every case of a single edit.

use std::borrow::Cow;

use hashline_base::cancel::Cancel;
use hashline_lines::dialect::Dialect;
use serde_json::Value;

use super::{EditContext, EditSite, ModelText, RepairRules, Rule, repair};

fn rows() -> Vec<Value> {
    let path = format!("{}/../../vectors/omp.apply.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|cause| panic!("{path}: {cause}"));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The site of a recorded edit; `None` at the start and the end of the text, where nothing is
/// repaired.
fn site_of(edit: &Value) -> Option<EditSite> {
    let line = |name: &str| edit[name]["line"].as_u64();
    Some(match edit["op"].as_str().unwrap() {
        "set" => EditSite::Lines(line("tag")?, line("tag")?),
        "replace" => EditSite::Lines(line("first")?, line("last")?),
        "append" => EditSite::After(line("after")?),
        "prepend" => EditSite::Before(line("before")?),
        _ => EditSite::Between(line("after")?, line("before")?),
    })
}

/// The text after an edit with repaired lines.
fn repaired(content: &str, edit: &Value) -> Option<String> {
    let mut text: Vec<Cow<'_, str>> = content.split('\n').map(Cow::Borrowed).collect();
    let lines = edit["content"].as_array().unwrap().iter();
    let lines = lines.map(|line| line.as_str().unwrap().to_owned()).collect();
    let line = |number: u64| text.get((number as usize).checked_sub(1)?).cloned();
    let site = site_of(edit)?;
    let is_touched = |number| match site {
        EditSite::Lines(first, last) => (first..=last).contains(&number),
        _ => false,
    };
    let context = EditContext {
        dialect: Dialect::by_name("omp").unwrap(),
        line: &line,
        is_touched: &is_touched,
        parses: &|_| None,
        has_shown: &|_| false,
        file_has_rows: &|| false,
        is_prose: false,
        reindented: &[],
        cancel: &Cancel::default(),
    };
    let run =
        |rules: &[Rule], draft| repair(&RepairRules::of(rules), &context, draft, &mut Vec::new());
    // The origin tries merges first, only in edits of one line. After a merge it repairs only the
    // indentation of the first line.
    let draft = ModelText { site, lines };
    let merged =
        if edit["op"] == "set" { run(&[Rule::Merges], draft.clone()) } else { draft.clone() };
    let ModelText { site, lines } = match (draft.site, merged.site) {
        (own, taken) if own == taken => {
            run(&[Rule::Echoes, Rule::Wraps, Rule::PairedIndent], draft)
        }
        (_, EditSite::Lines(first, last)) => {
            let site = EditSite::Lines(first, first);
            let ModelText { lines, .. } = run(&[Rule::PairedIndent], ModelText { site, ..merged });
            ModelText { site: EditSite::Lines(first, last), lines }
        }
        _ => unreachable!("a line that took in another replaces both"),
    };
    let range = match site {
        EditSite::Lines(first, last) => first as usize - 1..last as usize,
        EditSite::After(line) => line as usize..line as usize,
        EditSite::Before(line) | EditSite::Between(_, line) => line as usize - 1..line as usize - 1,
        EditSite::End => return None,
    };
    text.splice(range, lines.into_iter().map(Cow::Owned));
    Some(text.join("\n"))
}

#[test]
fn single_edits_are_repaired_as_recorded() {
    let mut compared = 0;
    let mut changed = 0;
    for row in rows() {
        let edits = row["edits"].as_array().unwrap();
        let Some(expected) = row["result"]["content"].as_str() else { continue };
        if row["autocorrect"] != true || edits.len() != 1 {
            continue;
        }
        let content = row["content"].as_str().unwrap();
        let Some(actual) = repaired(content, &edits[0]) else { continue };
        // An edit that changes nothing is not repaired.
        let is_noop = !row["result"]["noopEdits"].is_null();
        assert_eq!(if is_noop { content } else { &actual }, expected, "{row}");
        compared += 1;
        changed += usize::from(actual != content);
    }
    assert!(compared > 100 && changed > 50, "only {compared} were compared, {changed} changed");
}
