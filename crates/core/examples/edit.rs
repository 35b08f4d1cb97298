//! Reads a file in a session and replaces its first line, by the row that the read showed:
//! `cargo run -p hashline-core --example edit -- notes.txt "A new title"`

use hashline_core::{Outcome, PatchOperation, Session};

#[expect(clippy::print_stdout, reason = "it is a program")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (path, text) = arguments.next().zip(arguments.next()).ok_or("name a file and a text")?;
    let session = Session::in_dir(".")?;
    let shown = session.read(path.as_str())?;
    let row = shown.text.lines().next().ok_or("the file has no line")?;
    match session.apply(PatchOperation::set_line(&path, row, text))? {
        Outcome::Applied(applied) => println!("{}", applied.text),
        Outcome::Rejected(rejected) => return Err(rejected.text.into()),
    }
    Ok(())
}
