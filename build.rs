//! Link settings of the addon.

fn main() {
    napi_build::setup();

    // The library keeps worker threads and a signal handler for the life of the process, and
    // Node unloads an addon when the last environment that loaded it (a worker, say) ends. So
    // the library must never be unloaded. napi-build says so for glibc; this is for every libc,
    // and `keep_loaded` in src/lib.rs for systems without such a setting.
    match std::env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("linux") => println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete"),
        // Else the linker writes the path where it was built into the library.
        Ok("macos") => {
            println!("cargo::rustc-cdylib-link-arg=-Wl,-install_name,@rpath/hashline-native.node");
        }
        _ => {}
    }
}
