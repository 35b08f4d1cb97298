//! Compiles `src/bounded.c`, which uses the header of tree-sitter.

fn main() {
    println!("cargo:rerun-if-changed=src/bounded.c");
    let headers =
        std::env::var_os("DEP_TREE_SITTER_INCLUDE").expect("tree-sitter names its headers");
    cc::Build::new().std("c11").include(headers).file("src/bounded.c").compile("hashline-bounded");
}
