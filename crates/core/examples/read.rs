//! Reads a file below the working directory, with an anchor before every line, or prints what else
//! it is:
//! `cargo run -p hashline-core --example read -- Cargo.toml`

use hashline_core::{ViewKind, Workspace, WorkspaceOptions};

#[expect(clippy::print_stdout, reason = "it is a program")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("name a file")?;
    let workspace = Workspace::new(WorkspaceOptions::default());
    let view = workspace.read(path.as_str())?;
    match view.kind {
        ViewKind::Text(_) => println!("{}", view.text),
        ViewKind::Image { mime_type, .. } => println!("{path}: an image ({mime_type})"),
        other => println!("{path}: {}", other.as_str()),
    }
    Ok(())
}
