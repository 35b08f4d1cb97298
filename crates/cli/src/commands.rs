//! The commands: each calls the core once and prints its answer.

mod apply;
mod doctor;
mod guard;
mod hook;
mod json;
mod manuals;
mod mcp;
mod read;
mod recover;
mod search;
mod setup;
mod syntax;
mod undo;

use hashline_core::{ApplyOptions, Cancel};

use apply::Anchors;

use crate::args::{Args, Command, Kept};
use crate::call::Call;
use crate::exit::{Exit, Failure, say};
use crate::files::Files;
use crate::output::Output;

/// Runs the command.
pub fn run(args: &Args) -> Result<Exit, Failure> {
    let apply = match &args.command {
        Command::Apply(apply) | Command::JsonApply(apply) => apply.editing.apply_options(),
        Command::Mcp(mcp) => mcp.editing.apply_options(),
        _ => ApplyOptions::default(),
    };
    let store = args.command.kept().and_then(Kept::store);
    let is_session = store.is_some() || matches!(args.command, Command::Mcp(_));
    let options = args.shared.workspace_options(apply, is_session)?;
    let mut call = Call {
        shared: &args.shared,
        out: Output::new(options.dialect),
        files: Files::open(options, store.as_ref())?,
        cancel: Cancel::default(),
    };
    let exit = match &args.command {
        Command::Read(args) => read::read(&mut call, args)?,
        Command::Search(args) => search::search(&mut call, args)?,
        Command::Hash(args) => read::hash(&mut call, args)?,
        Command::Verify(args) => read::verify(&mut call, args)?,
        Command::CheckSyntax(args) => syntax::check(&mut call, args)?,
        Command::Apply(args) => apply::apply(&mut call, args, Anchors::Lines)?,
        Command::JsonApply(args) => apply::apply(&mut call, args, Anchors::Values)?,
        Command::JsonRead(args) => json::read(&mut call, args)?,
        Command::Undo(args) => undo::undo(&mut call, args)?,
        Command::Check(args) => guard::check(&mut call, args)?,
        Command::Hook(args) => hook::hook(&mut call, args)?,
        Command::Setup(args) => setup::setup(&mut call, args)?,
        // The server uses the call alone, including standard output.
        Command::Mcp(args) => return mcp::mcp(call, args),
        Command::Recover => recover::recover(&mut call)?,
        Command::Doctor => doctor::doctor(&mut call)?,
        Command::Completions(args) => manuals::completions(&mut call, args)?,
        Command::Man(args) => manuals::man(&mut call, args)?,
    };
    call.out.finish()?;
    call.files.notes().iter().for_each(|note| say(note));
    Ok(exit)
}
