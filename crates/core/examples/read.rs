//! Shows a file below the working directory with an anchor before every line:
//! `cargo run -p hashline-core --example read -- Cargo.toml`

use hashline_core::{Cancel, ReadRequest, Workspace, WorkspaceOptions};

#[expect(clippy::print_stdout, reason = "it is a program")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("name a file")?;
    let workspace = Workspace::new(WorkspaceOptions::default());
    for view in workspace.read(&[ReadRequest::new(path)], &Cancel::default())? {
        match view.error {
            Some(error) => return Err(error.into()),
            None => println!("{}", view.text),
        }
    }
    Ok(())
}
