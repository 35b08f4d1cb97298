//! Checks all recorded hashes and renderings exactly.

use hashline_lines::dialect::Dialect;
use hashline_lines::hash::{hash_line, verify};
use hashline_lines::normalize::normalized;
use hashline_lines::rows::format_hashed;
use hashline_lines::tag::Tag;
use serde_json::Value;

fn rows(name: &str) -> Vec<Value> {
    let path = format!("{}/../../vectors/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|cause| panic!("{path}: {cause}"));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn check_hashes(file: &str, dialect: &str, field: &str, expected_rows: usize) {
    let dialect = Dialect::by_name(dialect).unwrap();
    let rows = rows(file);
    assert_eq!(rows.len(), expected_rows);
    for row in rows {
        let line = row["line"].as_str().unwrap();
        let number = row["lineNumber"].as_u64().unwrap_or(1);
        let expected = row[field].as_str().unwrap();
        assert_eq!(dialect.hash_text(hash_line(dialect, number, line)), expected, "{row}");
        assert!(verify(dialect, number, line, expected), "{row}");
    }
}

#[test]
fn pi() {
    check_hashes("pi.hash", "pi", "pi", 2000);
    let rule = &Dialect::by_name("pi").unwrap().normalization;
    for row in rows("pi.hash") {
        let text = normalized(rule, row["line"].as_str().unwrap().as_bytes());
        assert_eq!(text, row["normalized"].as_str().unwrap().as_bytes(), "{row}");
    }
}

#[test]
fn pi26() {
    check_hashes("pi.hash", "pi26", "pi26", 2000);
}

#[test]
fn cli() {
    check_hashes("cli.hash", "cli", "hash", 2000);
}

#[test]
fn lean() {
    check_hashes("lean.hash", "lean", "hash", 2083);
}

#[test]
fn omp() {
    check_hashes("omp.hash", "omp", "hash", 2000);
}

#[test]
fn omp13() {
    check_hashes("omp13.hash", "omp13", "hash", 2000);
}

#[test]
fn omp18_tags() {
    let rows = rows("omp18.tag");
    assert_eq!(rows.len(), 500);
    for row in rows {
        let tag = Tag::of(row["text"].as_str().unwrap().as_bytes());
        assert_eq!(tag.to_string(), row["tag"].as_str().unwrap(), "{row}");
    }
}

#[test]
fn omp_format() {
    let dialect = Dialect::by_name("omp").unwrap();
    let rows = rows("omp.format");
    assert_eq!(rows.len(), 100);
    for row in rows {
        let start_line = row["startLine"].as_u64().unwrap();
        let shown = format_hashed(dialect, row["text"].as_str().unwrap().as_bytes(), start_line);
        assert_eq!(shown, row["formatted"].as_str().unwrap().as_bytes(), "{row}");
    }
}
