//! Link settings of the addon.

fn main() {
    napi_build::setup();

    // The library keeps worker threads and a signal handler for the life of the process, and
    // Node unloads an addon when the last environment that loaded it (a worker, say) ends. So
    // the library must never be unloaded. napi-build says so for glibc; this is for every libc,
    // and `begin` in src/lib.rs for systems without such a setting.
    match std::env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("linux") => {
            println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
            // Else a linked program searches for the library at the path it was linked by.
            println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,{}", file_name());
        }
        // Else the linker writes the path where it was built into the library.
        Ok("macos") => {
            println!("cargo::rustc-cdylib-link-arg=-Wl,-install_name,@rpath/hashline-native.node");
        }
        _ => {}
    }
}

/// The name under which the library is packed for a Linux: the one that napi-rs gives it.
fn file_name() -> String {
    let of_target =
        |name: &str| std::env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    let arch = match of_target("ARCH").as_str() {
        "x86_64" => "x64".to_owned(),
        "aarch64" => "arm64".to_owned(),
        other => other.to_owned(),
    };
    format!("hashline-native.linux-{arch}-{}{}.node", of_target("ENV"), of_target("ABI"))
}
