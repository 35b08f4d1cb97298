//! `include/hashline_native.h` is what the sources declare. `HASHLINE_WRITE_HEADER=1` writes it.

use std::fs;
use std::path::Path;

use cbindgen::{Builder, Config, DocumentationStyle, Language, Style};

const HEAD: &str = "\
/* The C interface of hashline-native: made by cbindgen from crates/capi, do not edit.
 *
 * Each input is a pointer and a number of bytes, UTF-8 without a NUL at its end; null and 0 leave
 * out what may be left out. A function answers true and fills the answer, or false and fills the
 * error. What it fills belongs to the caller until hashline_free, and what was there is
 * overwritten. The error may be null. Every function may be called from any thread.
 */";

fn generated() -> String {
    let config = Config {
        language: Language::C,
        header: Some(HEAD.to_owned()),
        include_guard: Some("HASHLINE_NATIVE_H".to_owned()),
        no_includes: true,
        sys_includes: ["stdbool.h", "stddef.h", "stdint.h"].map(str::to_owned).to_vec(),
        cpp_compat: true,
        usize_is_size_t: true,
        style: Style::Both,
        documentation_style: DocumentationStyle::C99,
        line_length: 100,
        ..Config::default()
    };
    let bindings = Builder::new()
        .with_config(config)
        .with_crate(env!("CARGO_MANIFEST_DIR"))
        .generate()
        .expect("the sources of the crate");
    let mut header = Vec::new();
    bindings.write(&mut header);
    String::from_utf8(header).unwrap()
}

#[test]
fn the_header_is_what_the_sources_declare() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include/hashline_native.h");
    let header = generated();
    if std::env::var_os("HASHLINE_WRITE_HEADER").is_some() {
        fs::write(&path, &header).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    assert!(
        kept == header,
        "include/hashline_native.h is stale: HASHLINE_WRITE_HEADER=1 cargo test -p hashline-capi --test header"
    );
}
