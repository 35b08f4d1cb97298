//! The layers of the engine: each imports only from those below it.

use std::fs;
use std::path::{Path, PathBuf};

/// From the bottom up. What stands beside the layers may be imported by all of them.
const LAYERS: [&str; 5] = ["text", "disk", "view", "edit", "workspace"];
const BESIDE: [&str; 4] = ["error", "cancel", "shape", "threads"];

fn files_below(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// The layer that a file below `src` belongs to; `None` for what stands beside the layers.
fn layer_of(file: &Path, src: &Path) -> Option<usize> {
    let relative = file.strip_prefix(src).unwrap();
    let first = relative.components().next().unwrap().as_os_str().to_str().unwrap();
    let module = first.strip_suffix(".rs").unwrap_or(first);
    if module == "lib" || BESIDE.contains(&module) {
        return None;
    }
    let layer = LAYERS.iter().position(|layer| *layer == module);
    Some(layer.unwrap_or_else(|| panic!("{first} is no layer, and not beside them")))
}

/// The modules of the crate root that a source names.
fn imports(source: &str) -> impl Iterator<Item = &str> {
    let code = source.lines().map(|line| line.split("//").next().unwrap_or_default());
    code.flat_map(|line| line.split("crate::").skip(1)).map(|rest| {
        let end = rest.find(|character: char| !character.is_alphanumeric() && character != '_');
        &rest[..end.unwrap_or(rest.len())]
    })
}

/// Messages name options as data, which faces spell; only what is read from data (`serde`) knows
/// the names that JavaScript has for them.
#[test]
fn no_message_names_an_option_as_javascript_does() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    files_below(&src, &mut files);
    let names = [
        "lockTimeoutMs",
        "stateDir",
        "maxFileBytes",
        "startLine",
        "maxLines",
        "maxBytes",
        "recoverTransactions",
    ];
    for file in files {
        let source = fs::read_to_string(&file).unwrap();
        let code = source.lines().filter(|line| {
            let line = line.trim_start();
            !line.starts_with("//") && !line.starts_with("#[serde(rename")
        });
        for line in code {
            let named = names.iter().find(|name| line.contains(*name));
            assert_eq!(named, None, "{}: {line}", file.display());
        }
    }
}

#[test]
fn each_layer_imports_from_those_below_it() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    files_below(&src, &mut files);
    let mut seen = 0;
    for file in files {
        let own = layer_of(&file, &src);
        let source = fs::read_to_string(&file).unwrap();
        for import in imports(&source) {
            let Some(other) = LAYERS.iter().position(|layer| *layer == import) else {
                assert!(BESIDE.contains(&import), "{}: crate::{import}", file.display());
                continue;
            };
            seen += 1;
            // A file beside the layers may import from none of them.
            let is_below = own.is_some_and(|own| other <= own);
            assert!(is_below, "{} imports from the layer {import}", file.display());
        }
    }
    assert!(seen > 200, "only {seen} imports were found: the test reads the wrong files");
}
