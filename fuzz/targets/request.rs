//! Parses any value as a patch: it is accepted, or refused with reasons, without a panic. Three
//! sources: bytes as JSON, values from the words of requests, and nearly valid operations. The patch
//! is also applied to a small text, with all repairs enabled, and to a JSON document, which stays
//! valid JSON if all edits are by path.

#![no_main]

use arbitrary::{Result, Unstructured};
use hashline_core::Cancel;
use hashline_core::Code;
use hashline_core::Outcome;
use hashline_core::Relocate;
use hashline_core::host::Value;
use hashline_core::request::{LineEdit, Operations, PatchKind, parse};
use hashline_core::{EditOptions, apply_to_text};
use hashline_core::{RepairRules, Rule};
use hashline_fuzz::values;
use hashline_lines::dialect::{DIALECTS, Dialect};
use libfuzzer_sys::fuzz_target;

const TEXT: &str = "one\r\n\ttwo (\n\n  three\n}\n+four";

fuzz_target!(|data: &[u8]| {
    // Bytes that begin like JSON are parsed as JSON, so that seeds are readable.
    if data.first().is_some_and(|first| b"{[".contains(first)) {
        if let Ok(json) = serde_json::from_slice::<serde_json::Value>(data) {
            let value = Value::from(json);
            DIALECTS.iter().for_each(|dialect| check(dialect, &value));
        }
        return;
    }
    let _ = structured(&mut Unstructured::new(data));
});

fn structured(input: &mut Unstructured<'_>) -> Result<()> {
    let dialect = &DIALECTS[input.choose_index(DIALECTS.len())?];
    let value = match input.int_in_range(0..=3)? {
        0 => values::value(input, 0)?,
        1 => values::json_patch(input, dialect)?,
        _ => values::patch(input, dialect)?,
    };
    check(dialect, &value);
    Ok(())
}

fn check(dialect: &'static Dialect, value: &Value) {
    for target in [PatchKind::Files, PatchKind::Text] {
        match parse(dialect, target, value, &Cancel::default()) {
            Ok(patch) => {
                assert!(patch.edits.is_sorted_by_key(|operation| operation.index));
                assert!(patch.files.is_sorted_by_key(|operation| operation.index));
            }
            Err(failures) => {
                assert!(!failures.is_empty());
                assert!(failures.iter().all(|failure| !failure.message.is_empty()));
            }
        }
    }
    let mut repairs = RepairRules::default();
    for rule in Rule::ALL {
        repairs.switch(rule.name(), true).expect("a known rule");
    }
    for relocate in [Relocate::Guarded, Relocate::Unique, Relocate::Off] {
        let options = EditOptions { relocate, repairs: repairs.clone(), ..EditOptions::default() };
        apply(dialect, TEXT, value, &options);
        let Some(content) = apply(dialect, values::DOCUMENT, value, &options) else { continue };
        let is_by_path = |patch: Operations| {
            patch.edits.iter().all(|operation| matches!(operation.action, LineEdit::Json(_)))
        };
        let by_path =
            parse(dialect, PatchKind::Text, value, &Cancel::default()).is_ok_and(is_by_path);
        if by_path {
            // A rejected hash proves that the content was parsed as JSON.
            let probe = serde_json::json!([{"op": "delete_path", "anchor": "$.no:00"}]);
            let probed = apply_to_text(dialect, &content, &probe.into(), &options);
            let Outcome::Rejected(rejected) = probed.outcome else { panic!("{content}") };
            assert_eq!(rejected.code, Code::HashMismatch, "{content}\n{}", rejected.text);
        }
    }
}

/// Applies a patch to a text; returns the new content unless the patch is rejected.
fn apply(
    dialect: &'static Dialect,
    text: &str,
    value: &Value,
    options: &EditOptions,
) -> Option<String> {
    let outcome = apply_to_text(dialect, text, &value.clone().into(), options);
    match &outcome.outcome {
        Outcome::Applied(applied) => {
            assert!(outcome.content.is_some() && !applied.text.is_empty())
        }
        Outcome::Rejected(rejected) => {
            assert!(outcome.content.is_none() && !rejected.failures.is_empty());
            assert_eq!(rejected.code, rejected.failures[0].code);
            assert!(!rejected.text.is_empty());
        }
    }
    outcome.content
}
