//! `read`, `hash` and `verify`: one look at files.

use hashline_core::error::{Code, Error};
use hashline_core::view::read::{FileView, ReadRequest, ViewKind};
use hashline_core::view::render::file_header;

use super::Call;
use crate::args::{Hash, Read, STANDARD_INPUT, Verify};
use crate::exit::{Exit, Failure, complain, say};
use crate::input::standard_input;
use crate::mismatch;

/// `hashline read`
pub fn read(call: &mut Call<'_>, args: &Read) -> Result<Exit, Failure> {
    let requests = args.requests();
    let views = views(call, &requests)?;
    let has_headers = requests.len() > 1;
    let mut exit = Exit::Done;
    for view in &views {
        if let Some(error) = error_of(view) {
            complain(&error, call.shared.json);
            exit = Exit::Trouble;
            continue;
        }
        if has_headers {
            call.out.rows(&file_header(&view.path))?;
        }
        call.out.rows(&view.text)?;
        tell_what_is_left(view);
    }
    Ok(exit)
}

/// `hashline hash`
pub fn hash(call: &mut Call<'_>, args: &Hash) -> Result<Exit, Failure> {
    let request = ReadRequest { path: args.file.clone(), ..ReadRequest::default() };
    for view in views(call, &[request])? {
        if let Some(error) = error_of(&view) {
            return Err(error.into());
        }
        let mark = call.workspace.options().dialect.text_mark as char;
        for row in view.text.lines() {
            call.out.line(row.split(mark).next().unwrap_or(row))?;
        }
    }
    Ok(Exit::Done)
}

/// `hashline verify`
pub fn verify(call: &mut Call<'_>, args: &Verify) -> Result<Exit, Failure> {
    let (workspace, cancel) = (&call.workspace, &call.cancel);
    let refused = match args.file.as_str() {
        STANDARD_INPUT => {
            let bytes = standard_input(workspace.options().max_file_bytes)?;
            workspace.verify_bytes(STANDARD_INPUT, &bytes, &args.anchors, cancel)?
        }
        path => workspace.verify(path, &args.anchors, cancel)?,
    };
    Ok(match refused {
        Some(rejected) => mismatch::tell(&rejected, workspace.options().dialect),
        None => Exit::Done,
    })
}

/// The views of all requests, in their order.
fn views(call: &Call<'_>, requests: &[ReadRequest]) -> Result<Vec<FileView>, Failure> {
    let is_piped = |request: &&ReadRequest| request.path == STANDARD_INPUT;
    let named: Vec<ReadRequest> = requests.iter().filter(|one| !is_piped(one)).cloned().collect();
    let mut named = call.workspace.read(&named, &call.cancel)?.into_iter();
    let mut piped = None;
    let mut views = Vec::with_capacity(requests.len());
    for request in requests {
        if is_piped(&request) {
            if piped.is_none() {
                piped = Some(standard_input(call.workspace.options().max_file_bytes)?);
            }
            let bytes = piped.as_deref().unwrap_or_default();
            views.push(call.workspace.read_bytes(request, bytes, &call.cancel)?);
        } else {
            views.extend(named.next());
        }
    }
    Ok(views)
}

/// Why a file has no lines to show.
fn error_of(view: &FileView) -> Option<Error> {
    let path = &view.path;
    let kind = match view.kind {
        _ if view.error.is_some() => return view.error.clone(),
        ViewKind::Text | ViewKind::Unread | ViewKind::Error => return None,
        ViewKind::Image => view.mime_type.unwrap_or("image"),
        ViewKind::Binary => "binary",
    };
    let message = format!("{path}: is no text ({kind}), and not shown");
    Some(Error::at(Code::BinaryFile, path, message))
}

/// Says that there are matches which a limit left out; lines that were not asked for need no word.
fn tell_what_is_left(view: &FileView) {
    if let (Some(count), Some(next)) = (view.match_count, view.next_line) {
        let path = &view.path;
        say(&format!("{path}: {count} lines match; go on with --start-line {next}"));
    }
}
