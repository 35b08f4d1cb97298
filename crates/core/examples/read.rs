//! Shows a file below the working directory with an anchor before every line:
//! `cargo run -p hashline-core --example read -- Cargo.toml`

use hashline_core::{Workspace, WorkspaceOptions};

#[expect(clippy::print_stdout, reason = "it is a program")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("name a file")?;
    let workspace = Workspace::new(WorkspaceOptions::default());
    println!("{}", workspace.read(path.as_str())?.text);
    Ok(())
}
