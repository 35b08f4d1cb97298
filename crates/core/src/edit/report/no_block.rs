//! The refusal of an operation on a block where no block begins, with the nearest lines where one
//! does.

use super::rejected::AnchorReport;
use crate::edit::block::MissingBlock;
use crate::edit::outcome::Failure;
use crate::edit::request::Operation;
use crate::edit::resolve::CurrentText;
use hashline_base::error::Code;

/// The failure of an operation that names a block where none begins, and its report. `line` is the
/// current line of its anchor.
pub fn no_block_failure(
    current_text: &CurrentText<'_>,
    path: &str,
    operation: &Operation,
    line: u64,
    missing: &MissingBlock,
) -> (Failure, AnchorReport) {
    let fresh = |line: u64| current_text.fresh(line).unwrap_or_default();
    let named = operation.action.anchors().next().map(|one| one.text(current_text.dialect));
    let named = named.unwrap_or_else(|| fresh(line));
    let nearest = match (missing.above, missing.below) {
        (None, None) => "Name the lines by start_anchor and end_anchor.".to_owned(),
        (Some(one), None) | (None, Some(one)) => {
            format!("The nearest line where one begins is {}.", fresh(one))
        }
        (Some(above), Some(below)) => {
            format!("The nearest lines where one begins are {} and {}.", fresh(above), fresh(below))
        }
    };
    let lines = [missing.above, Some(line), missing.below].into_iter().flatten();
    let ranges: Vec<(u64, u64)> = lines.map(|line| (line, line)).collect();
    let headline = format!("No block at {named}.");
    let explanation = format!("No block begins at line {line}: {}. {nearest}", missing.why);
    let report = AnchorReport::new(current_text, path, headline, &ranges, explanation);
    let failure = report.failure(operation, Code::NoBlock, named);
    (failure, report)
}
