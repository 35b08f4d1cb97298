//! Node addon over `hashline-core`. Each function that JavaScript sees converts JavaScript values
//! into a request of the core and the core's result back into JavaScript values, and nothing
//! else.

#![cfg_attr(test, allow(dead_code, reason = "napi registers no function in a test build"))]

mod abort;
mod apply;
mod buffers;
mod bulk;
mod command;
mod completions;
mod error;
mod events;
mod external;
mod in_memory;
mod js;
mod json;
mod omp;
mod options;
mod outcome;
mod page;
mod plan;
mod read;
mod recover;
mod scripts;
mod search;
mod session;
mod shutdown;
mod task;
mod text;
mod tools;
mod undo;
mod value;

use napi::Env;
use napi::bindgen_prelude::{JsObjectValue, Object, retain_current_module_for_unload_safety};
use napi_derive::napi;

/// Runs when an environment loads the addon. Node unloads a library when the last environment that
/// loaded it (such as a worker) ends, but threads of this library keep running. The linker settings
/// of `build.rs` keep it loaded on Linux; this call does it on every system that can. Exports that
/// are not functions are set here, and functions that scripts might replace later are saved.
#[napi(module_exports)]
fn begin(mut exports: Object<'_>, env: Env) -> napi::Result<()> {
    retain_current_module_for_unload_safety();
    buffers::keep_freed_memory();
    options::object_keys(&env)?;
    exports.set_named_property("HashlineError", error::error_class(&env)?)
}

/// The version of this package, as in its `package.json`.
#[napi]
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

#[cfg(test)]
mod tests {
    use hashline_core::Code;
    use hashline_core::DIALECTS;
    use hashline_core::Rule;
    use hashline_guard::CommandRule;

    #[test]
    fn the_written_declarations_list_what_the_core_has() {
        let declarations = include_str!("patch.d.ts");
        let members_of = |name: &str| {
            let start = declarations.find(&format!("export type {name} =")).unwrap();
            let end = declarations[start..].find("\n\n").unwrap();
            let quoted = declarations[start..start + end].split('\'').skip(1).step_by(2);
            quoted.collect::<Vec<_>>()
        };
        let codes: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(members_of("HashlineErrorCode"), codes);
        assert_eq!(members_of("RepairRule"), Rule::ALL.map(Rule::name));
        let rules = CommandRule::ALL.map(CommandRule::name);
        assert_eq!(members_of("CommandRule"), rules);
        let dialects: Vec<_> = DIALECTS.iter().map(|dialect| dialect.name).collect();
        assert_eq!(members_of("Dialect"), dialects);
    }
}
