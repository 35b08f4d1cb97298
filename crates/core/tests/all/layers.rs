//! The layers of the engine: each imports only from those below it, and one module alone touches
//! the file system.

use std::fs;
use std::path::{Path, PathBuf};

use hashline_core::DIALECTS;

/// From the bottom up.
const LAYERS: [&str; 7] = ["text", "disk", "view", "json", "memory", "edit", "workspace"];
/// Layers that stand side by side: neither imports from the other.
const SIDE_BY_SIDE: [&str; 2] = ["json", "memory"];
/// What stands beside the layers may be imported by all of them.
const BESIDE: [&str; 5] = ["error", "cancel", "shape", "parallel", "call_threads"];

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

/// What a layer may import, as its header says.
fn announced(layer: usize, src: &Path) -> Vec<String> {
    let header = fs::read_to_string(src.join(format!("{}.rs", LAYERS[layer]))).unwrap();
    let line = header.split("//! May import: ").nth(1).and_then(|rest| rest.split('.').next());
    line.unwrap().split('`').skip(1).step_by(2).map(str::to_owned).collect()
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
    let is_of_pair = |layer: usize| SIDE_BY_SIDE.contains(&LAYERS[layer]);
    for file in files {
        // The list of exports names all of them.
        if file == src.join("lib.rs") {
            continue;
        }
        let own = layer_of(&file, &src);
        let announced =
            own.map(|own| [announced(own, &src), vec![LAYERS[own].to_owned()]].concat());
        let source = fs::read_to_string(&file).unwrap();
        for import in imports(&source) {
            let is_announced =
                announced.as_ref().is_none_or(|all| all.iter().any(|one| one == import));
            assert!(is_announced, "{}: its layer does not announce {import}", file.display());
            let Some(other) = LAYERS.iter().position(|layer| *layer == import) else {
                assert!(BESIDE.contains(&import), "{}: crate::{import}", file.display());
                continue;
            };
            seen += 1;
            // A file beside the layers may import from none of them.
            let is_below = own.is_some_and(|own| other <= own);
            assert!(is_below, "{} imports from the layer {import}", file.display());
            let of_both = own.is_some_and(|own| own != other && is_of_pair(own));
            assert!(!(of_both && is_of_pair(other)), "{} imports from {import}", file.display());
        }
    }
    assert!(seen > 200, "only {seen} imports were found: the test reads the wrong files");
}

/// The code of the engine below `src`, without its tests, by file.
fn code_below(src: &Path) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    files_below(src, &mut files);
    files.retain(|file| !file.iter().any(|part| part == "tests" || part == "tests.rs"));
    let code = |file: &PathBuf| {
        let source = fs::read_to_string(file).unwrap();
        source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned()
    };
    files.into_iter().map(|file| (file.clone(), code(&file))).collect()
}

#[test]
fn no_code_asks_for_the_name_of_a_dialect() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let table = src.join("text/dialect.rs");
    for (file, code) in code_below(&src).iter().filter(|(file, _)| *file != table) {
        for dialect in &DIALECTS {
            let name = format!("\"{}\"", dialect.name);
            assert!(!code.contains(&name), "{} has {name}", file.display());
        }
    }
}

/// How a touch of the file system looks: what its names begin with, and the calls on paths and
/// open files that need no import.
const TOUCHES: [&str; 24] = [
    "std::fs",
    "std::os::unix::fs",
    "std::os::windows::fs",
    "cap_std",
    "cap_fs_ext",
    "rustix::fs",
    "rustix::io",
    "xattr",
    "memmap2",
    " File::",
    "(File::",
    ".canonicalize()",
    ".exists()",
    ".try_exists()",
    ".is_file()",
    ".is_dir()",
    ".is_symlink()",
    ".metadata()",
    ".symlink_metadata()",
    ".read_dir()",
    ".read_link()",
    ".sync_all()",
    ".try_lock()",
    ".try_clone()",
];

/// The code of a source without comments and without its tests.
fn code(source: &str) -> impl Iterator<Item = &str> {
    let lines = source.lines().take_while(|line| !line.starts_with("#[cfg(test)]"));
    lines.map(|line| line.split("//").next().unwrap_or_default())
}

/// Otherwise neither a fault at each operation nor a simulated disk would reach it. An open file
/// may be passed on, and mapped where contents are loaded.
#[test]
fn only_the_seam_touches_the_file_system() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    files_below(&src, &mut files);
    let mut seen = 0;
    for file in files {
        let name = file.strip_prefix(&src).unwrap().to_str().unwrap().replace('\\', "/");
        let is_seam = name == "disk/fs.rs" || name.starts_with("disk/fs/");
        if name.ends_with("tests.rs") {
            continue;
        }
        let source = fs::read_to_string(&file).unwrap();
        for line in code(&source) {
            let touch = TOUCHES.iter().find(|touch| line.contains(**touch));
            let is_file_type = line == "use std::fs::File;";
            let is_mapping = touch == Some(&"memmap2") && name == "disk/bytes/content.rs";
            seen += u32::from(is_seam && touch.is_some());
            let is_allowed = touch.is_none() || is_seam || is_file_type || is_mapping;
            assert!(is_allowed, "{name} touches the file system past disk/fs: {line}");
        }
    }
    assert!(seen > 20, "only {seen} touches were found: the test reads the wrong files");
}
