//! The commands that have rules, and how their options are written.

use super::Spec;

/// Readers with those of their options that take a value.
pub const READERS: [(&str, &str, &[&str]); 30] = [
    ("cat", "", &[]),
    ("gcat", "", &[]),
    (
        "bat",
        "HrlmpST",
        &["language", "line-range", "highlight-line", "style", "theme", "pager", "paging", "color"],
    ),
    (
        "batcat",
        "HrlmpST",
        &["language", "line-range", "highlight-line", "style", "theme", "pager", "paging", "color"],
    ),
    ("zcat", "", &[]),
    ("bzcat", "", &[]),
    ("xzcat", "", &[]),
    ("zstdcat", "", &[]),
    ("tac", "s", &["separator"]),
    ("gtac", "s", &["separator"]),
    (
        "nl",
        "bdfhilnsvw",
        &["body-numbering", "number-format", "number-width", "starting-line-number"],
    ),
    ("head", "nc", &["lines", "bytes"]),
    ("ghead", "nc", &["lines", "bytes"]),
    ("tail", "ncs", &["lines", "bytes", "pid", "sleep-interval"]),
    ("gtail", "ncs", &["lines", "bytes", "pid", "sleep-interval"]),
    ("less", "bhjkoOpPtTxyz#", &["pattern", "prompt", "tag", "LOG-FILE"]),
    ("zless", "", &[]),
    ("more", "n", &["lines"]),
    ("zmore", "", &[]),
    ("most", "", &[]),
    ("pg", "", &[]),
    ("view", "", &[]),
    ("od", "AjNStw", &["address-radix", "skip-bytes", "read-bytes", "format"]),
    ("god", "AjNStw", &["address-radix", "skip-bytes", "read-bytes", "format"]),
    ("hexdump", "efns", &["length", "skip"]),
    ("hd", "efns", &["length", "skip"]),
    ("xxd", "cglosnR", &["cols", "len", "seek", "groupsize"]),
    ("hexyl", "ncs", &["length", "skip"]),
    ("strings", "nteTs", &["bytes", "radix", "encoding"]),
    ("rev", "", &[]),
];

pub const GREP: Spec = Spec {
    letters: "efmABCdD",
    attached: "",
    names: &[
        "regexp",
        "file",
        "max-count",
        "after-context",
        "before-context",
        "context",
        "include",
        "exclude",
        "exclude-dir",
        "exclude-from",
        "label",
        "binary-files",
        "directories",
        "devices",
    ],
    operand_ends: false,
    single_dash: false,
};

pub const RG: Spec = Spec {
    letters: "efgtTmABCjMEdr",
    attached: "",
    names: &[
        "regexp",
        "file",
        "glob",
        "iglob",
        "type",
        "type-not",
        "max-count",
        "after-context",
        "before-context",
        "context",
        "threads",
        "max-columns",
        "encoding",
        "max-depth",
        "replace",
        "sort",
        "sortr",
        "color",
        "colors",
        "path-separator",
        "pre",
        "pre-glob",
        "engine",
        "max-filesize",
        "context-separator",
        "ignore-file",
        "type-add",
        "type-clear",
        "field-match-separator",
        "field-context-separator",
        "regex-size-limit",
        "dfa-size-limit",
        "hyperlink-format",
        "hostname-bin",
    ],
    operand_ends: false,
    single_dash: false,
};

pub const SED: Spec = Spec {
    letters: "efl",
    attached: "iI",
    names: &["expression", "file", "line-length"],
    operand_ends: false,
    single_dash: false,
};

pub const AWK: Spec = Spec {
    letters: "Fvfie",
    attached: "",
    names: &["field-separator", "assign", "file", "include", "source"],
    operand_ends: true,
    single_dash: false,
};

pub const PERL: Spec = Spec {
    letters: "eEIMm",
    attached: "ixFVD",
    names: &[],
    operand_ends: true,
    single_dash: false,
};

pub const RUBY: Spec = Spec { letters: "eIrCE", ..PERL };

pub const TRUNCATE: Spec = Spec {
    letters: "sr",
    attached: "",
    names: &["size", "reference"],
    operand_ends: false,
    single_dash: false,
};

pub const PATCH: Spec = Spec {
    letters: "iopBdDFgrVYz",
    attached: "",
    names: &["input", "output", "strip", "directory", "reject-file"],
    operand_ends: false,
    single_dash: false,
};

pub const INTERPRETER: Spec = Spec {
    letters: "cmWXeprEIM",
    attached: "",
    names: &["eval", "print", "require"],
    operand_ends: true,
    single_dash: false,
};

pub const FILE_COMMANDS: [&str; 8] =
    ["cp", "mv", "rm", "install", "unlink", "shred", "rmdir", "rsync"];
