//! Finds a text below the working directory, with the anchors of its lines:
//! `cargo run -p hashline-core --example search -- needle`

use hashline_core::{Workspace, WorkspaceOptions};

#[expect(clippy::print_stdout, reason = "it is a program")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let search = std::env::args().nth(1).ok_or("name a text")?;
    let found = Workspace::new(WorkspaceOptions::default()).search(search)?;
    println!("{}", found.text);
    println!("{} matches in {} files", found.match_count, found.files.len());
    Ok(())
}
