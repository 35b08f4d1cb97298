//! Standard input, line by line. The protocol's library ignores some requests that should be answered,
//! so they are changed before it sees them: those with half a character, with a number that is too
//! large, and those that nest too deep for it.

use std::borrow::Cow;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use serde::Deserialize;
use serde_json::Value as Json;
use serde_json::value::RawValue;
use tokio::io::{AsyncBufRead, AsyncRead, BufReader, ReadBuf};

/// The method of requests that cannot be read.
pub const UNREADABLE: &str = "hashline/unreadable";

/// Standard input.
pub struct Stdin {
    input: BufReader<tokio::io::Stdin>,
    /// A line as far as it has come.
    line: Vec<u8>,
    /// What is to be handed on, and how much of it was.
    ready: (Vec<u8>, usize),
}

impl Stdin {
    pub fn new() -> Stdin {
        let input = BufReader::new(tokio::io::stdin());
        Stdin { input, line: Vec::new(), ready: (Vec::new(), 0) }
    }
}

impl AsyncRead for Stdin {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            let (line, at) = &mut self.ready;
            if *at < line.len() {
                let count = out.remaining().min(line.len() - *at);
                out.put_slice(&line[*at..*at + count]);
                *at += count;
                return Poll::Ready(Ok(()));
            }
            let stdin = &mut *self;
            let piece = ready!(Pin::new(&mut stdin.input).poll_fill_buf(context))?;
            if piece.is_empty() {
                return Poll::Ready(Ok(()));
            }
            let end = piece.iter().position(|byte| *byte == b'\n');
            let count = end.map_or(piece.len(), |end| end + 1);
            stdin.line.extend_from_slice(&piece[..count]);
            Pin::new(&mut stdin.input).consume(count);
            if end.is_some() {
                let line = std::mem::take(&mut stdin.line);
                stdin.ready = (mended(&line).map_or(line, |text| (text + "\n").into_bytes()), 0);
            }
        }
    }
}

/// A message, as far as it has to be known to answer it.
#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    id: &'a RawValue,
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    name: &'a RawValue,
    #[serde(borrow)]
    arguments: &'a RawValue,
    #[serde(borrow)]
    _meta: Option<&'a RawValue>,
}

/// The message to hand on in place of a line that is a request and cannot be read. The arguments of
/// a tool go along as their text, which the tools read on their own.
fn mended(line: &[u8]) -> Option<String> {
    if serde_json::from_slice::<Json>(line).is_ok() {
        return None;
    }
    let text = String::from_utf8_lossy(line);
    let Message { id, method, params } = serde_json::from_str(&text).ok()?;
    let is_whole = matches!(text, Cow::Borrowed(_)) && method == "tools/call";
    let call = params.filter(|_| is_whole).and_then(|params| {
        let Params { name, arguments, _meta } = serde_json::from_str(params.get()).ok()?;
        let arguments = Json::from(arguments.get());
        let meta = _meta.map_or("{}", RawValue::get);
        let params = format!("{{\"name\":{name},\"arguments\":{arguments},\"_meta\":{meta}}}");
        Some(request(id, &method, &params)).filter(|call| is_readable(call))
    });
    call.or_else(|| Some(request(id, UNREADABLE, "{}")).filter(|request| is_readable(request)))
}

fn request(id: &RawValue, method: &str, params: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}")
}

fn is_readable(text: &str) -> bool {
    serde_json::from_str::<Json>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_that_cannot_be_read_are_answered() {
        let call = |arguments: &str| {
            format!(
                "{{\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"read\",\"arguments\":{arguments}}}}}"
            )
        };
        assert_eq!(mended(call("{\"path\":\"a\"}").as_bytes()), None);
        let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
        for arguments in ["{\"path\":\"\\ud83d\"}", "{\"start_line\":1e999}", &deep] {
            let line = mended(call(arguments).as_bytes()).unwrap_or_default();
            let message: Json = serde_json::from_str(&line).unwrap_or_default();
            assert_eq!(message["params"]["arguments"], *arguments, "{line}");
        }
        let unreadable = |line: &[u8]| {
            mended(line).is_some_and(|line| line.contains(UNREADABLE) && line.contains("\"id\":7"))
        };
        assert!(unreadable(b"{\"id\":7,\"method\":\"tools/list\",\"params\":{\"a\":1e999}}"));
        assert!(unreadable(b"{\"id\":7,\"method\":\"tools/call\",\"params\":\"\\ud800\"}"));
        assert!(unreadable(b"{\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"read\",\"arguments\":{\"path\":\"\xff\"}}}"));
        for line in ["nonsense", "{\"a\":", "\"\\ud800\"", "", "{\"method\":\"x\",\"a\":1e999}"] {
            assert_eq!(mended(line.as_bytes()), None, "{line}");
        }
    }
}
