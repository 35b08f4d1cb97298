//! The pipes to the client: lines of standard input, lines of standard output, and word of a client
//! that does not read any more. A line that is too long is refused and not kept. A request is taken
//! when [`Intake`] has room for it.

use std::io;
use std::pin::Pin;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ClientNotification, GetExtensions as _, JsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Mutex, Notify};

use super::intake::{Intake, Size};
use super::message::{Line, too_long, too_long_until};

/// The longest line that is read.
pub const LINE_LIMIT_BYTES: usize = 16 << 20;

/// How much is kept of the end of a longer line, where its `id` may be.
const TAIL_BYTES: usize = 1024;

/// Both pipes.
pub struct Pipes<R, W> {
    input: R,
    /// A line as far as it has come. A file that is written is as long as it is.
    line: Vec<u8>,
    /// The rest of a line that is too long, as far as it has come.
    skipped: Option<Skipped>,
    /// A request for which there is no room yet.
    waiting: Option<(Box<RxJsonRpcMessage<RoleServer>>, Size)>,
    intake: Arc<Intake>,
    output: Arc<Output<W>>,
    /// A refusal that is under way to the client.
    refusing: Option<Pin<Box<dyn Future<Output = io::Result<()>> + Send>>>,
}

/// A line that is too long.
struct Skipped {
    /// The end of what has come.
    tail: Vec<u8>,
    is_refused: bool,
}

impl Skipped {
    fn keep(&mut self, part: &[u8]) {
        self.tail.extend_from_slice(last(part));
        let old = self.tail.len().saturating_sub(TAIL_BYTES);
        self.tail.drain(..old);
    }
}

fn last(bytes: &[u8]) -> &[u8] {
    &bytes[bytes.len().saturating_sub(TAIL_BYTES)..]
}

/// What comes from the client.
enum Input {
    Line(Vec<u8>),
    /// A line that is too long, and the answer.
    TooLong(String),
    End,
}

struct Output<W> {
    out: Mutex<W>,
    /// Told when nothing can be written.
    gone: Arc<Notify>,
}

impl<R, W> Pipes<R, W>
where
    R: AsyncBufRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    /// Tells `gone` once nobody reads.
    pub fn new(input: R, output: W, gone: Arc<Notify>) -> Pipes<R, W> {
        Pipes {
            input,
            line: Vec::new(),
            skipped: None,
            waiting: None,
            intake: Intake::new(),
            output: Arc::new(Output { out: Mutex::new(output), gone }),
            refusing: None,
        }
    }

    /// Writes a line, if there is one; also when the pipes are used for something else meanwhile.
    fn write(
        &self,
        line: io::Result<Vec<u8>>,
    ) -> impl Future<Output = io::Result<()>> + Send + use<R, W> {
        let output = Arc::clone(&self.output);
        async move { output.write(line?).await }
    }

    fn refuse(&mut self, answer: String) {
        self.refusing = Some(Box::pin(self.write(Ok(answer.into_bytes()))));
    }

    /// Reads a line. Whoever waits for this may stop and ask again.
    async fn read(&mut self) -> io::Result<Input> {
        loop {
            let chunk = self.input.fill_buf().await?;
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let part = &chunk[..end.unwrap_or(chunk.len())];
            if self.skipped.is_none() && self.line.len() + part.len() > LINE_LIMIT_BYTES {
                let start = std::mem::take(&mut self.line);
                // The client hears of it at once, if it can be said what is refused.
                let refusal = too_long(&start);
                let is_refused = refusal.is_some();
                self.skipped = Some(Skipped { tail: last(&start).to_vec(), is_refused });
                match refusal {
                    Some(refusal) => return Ok(Input::TooLong(refusal)),
                    None => continue,
                }
            }
            let is_over = end.is_some() || chunk.is_empty();
            let taken = part.len() + usize::from(end.is_some());
            match &mut self.skipped {
                Some(skipped) => skipped.keep(part),
                None => self.line.extend_from_slice(part),
            }
            self.input.consume(taken);
            if !is_over {
                continue;
            }
            match self.skipped.take() {
                Some(Skipped { tail, is_refused: false }) => {
                    return Ok(Input::TooLong(too_long_until(&tail)));
                }
                Some(_) if end.is_some() => {}
                None if end.is_some() => return Ok(Input::Line(std::mem::take(&mut self.line))),
                // What ends without the end of a line is half a message.
                _ => return Ok(Input::End),
            }
        }
    }
}

impl<W: AsyncWrite + Unpin> Output<W> {
    async fn write(&self, mut line: Vec<u8>) -> io::Result<()> {
        line.push(b'\n');
        let mut out = self.out.lock().await;
        let written = match out.write_all(&line).await {
            Ok(()) => out.flush().await,
            Err(fault) => Err(fault),
        };
        written.inspect_err(|_| self.gone.notify_one())
    }
}

impl<R, W> Transport<RoleServer> for Pipes<R, W>
where
    R: AsyncBufRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Error = io::Error;

    /// The room of a request is free once its answer is written.
    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let answered = match &message {
            JsonRpcMessage::Response(answer) => Some(&answer.id),
            JsonRpcMessage::Error(answer) => answer.id.as_ref(),
            _ => None,
        };
        let taken = answered.and_then(|id| self.intake.leave(id));
        let writing = self.write(serde_json::to_vec(&message).map_err(io::Error::from));
        async move {
            let written = writing.await;
            drop(taken);
            written
        }
    }

    /// Whoever waits for this may stop and ask again: what is half done is kept.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(refusing) = &mut self.refusing {
                let refused = refusing.await;
                self.refusing = None;
                refused.ok()?;
            }
            if let Some((message, size)) = &self.waiting {
                let JsonRpcMessage::Request(request) = message.as_ref() else { return None };
                let taken = self.intake.take(&request.id, *size).await?;
                let mut message = *self.waiting.take()?.0;
                if let JsonRpcMessage::Request(request) = &mut message {
                    request.request.extensions_mut().insert(taken);
                }
                return Some(message);
            }
            let line = match self.read().await.ok()? {
                Input::Line(line) => line,
                Input::TooLong(answer) => {
                    self.refuse(answer);
                    continue;
                }
                Input::End => return None,
            };
            match Line::read(&line) {
                Line::Message(message) => match message.as_ref() {
                    JsonRpcMessage::Request(_) => self.waiting = Some((message, Size::of(&line))),
                    JsonRpcMessage::Notification(notification) => {
                        if let ClientNotification::CancelledNotification(cancelled) =
                            &notification.notification
                            && let Some(id) = &cancelled.params.request_id
                        {
                            self.intake.leave(id);
                        }
                        return Some(*message);
                    }
                    _ => return Some(*message),
                },
                Line::Refused(answer) => self.refuse(answer),
                Line::Nothing => {}
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use rmcp::model::{EmptyResult, RequestId, ServerResult};
    use serde_json::json;
    use tokio::io::{AsyncRead, ReadBuf};

    use super::*;

    /// What is ready at once.
    fn now<T>(future: impl Future<Output = T>) -> Option<T> {
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(ready) => Some(ready),
            Poll::Pending => None,
        }
    }

    fn request(id: usize, arguments: &str) -> String {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"read\",\"arguments\":{arguments}}}}}\n"
        )
    }

    fn requests(count: usize, arguments: &str) -> Cursor<Vec<u8>> {
        let lines: String = (1..=count).map(|id| request(id, arguments)).collect();
        Cursor::new(lines.into_bytes())
    }

    fn answer(id: usize) -> TxJsonRpcMessage<RoleServer> {
        let id = RequestId::Number(i64::try_from(id).unwrap());
        JsonRpcMessage::response(ServerResult::EmptyResult(EmptyResult {}), id)
    }

    fn pipes<R, W>(input: R, output: W) -> Pipes<R, W>
    where
        R: AsyncBufRead + Unpin + Send + 'static,
        W: AsyncWrite + Unpin + Send + 'static,
    {
        Pipes::new(input, output, Arc::default())
    }

    /// The messages that can be taken at once; they are held as handlers hold them.
    fn taken<W: AsyncWrite + Unpin + Send + 'static>(
        pipes: &mut Pipes<Cursor<Vec<u8>>, W>,
    ) -> Vec<RxJsonRpcMessage<RoleServer>> {
        let mut taken = Vec::new();
        while let Some(message) = now(pipes.receive()) {
            taken.push(message.expect("the input goes on"));
        }
        taken
    }

    /// All that came was taken: 2,000 reads took a gigabyte.
    #[test]
    fn regression_requests_for_which_there_is_no_room_stay_unread() {
        let mut pipes = pipes(requests(10_000, "{}"), Vec::new());
        let mut held = taken(&mut pipes);
        assert_eq!(held.len(), 3276);
        let read_bytes = pipes.input.position();
        assert!(read_bytes < 3278 * 100, "{read_bytes}");
        // An answer that is written makes room for a request, once nobody works on the old one.
        assert!(now(pipes.send(answer(7))).expect("there is room to write").is_ok());
        assert!(taken(&mut pipes).is_empty());
        held.remove(6);
        let more = taken(&mut pipes);
        assert_eq!(more.len(), 1);
        assert!(json!(more[0])["id"] == 3277, "{more:?}");
        // One that cannot be written keeps its room.
        drop(held);
        assert!(taken(&mut pipes).is_empty());
    }

    #[test]
    fn regression_an_answer_that_nobody_reads_keeps_its_room() {
        let (output, client) = tokio::io::duplex(64);
        let mut pipes = pipes(requests(10_000, "{}"), output);
        drop(taken(&mut pipes));
        let mut writing: Vec<Pin<Box<dyn Future<Output = io::Result<()>> + Send>>> = Vec::new();
        for id in 1..=50 {
            writing.push(Box::pin(pipes.send(answer(id))));
        }
        let written = writing.iter_mut().filter_map(|one| now(one.as_mut())).count();
        assert!(written < 3, "{written} answers fit in 64 bytes");
        assert_eq!(taken(&mut pipes).len(), written);
        drop(client);
    }

    #[test]
    fn large_requests_take_more_room() {
        for (arguments, count) in [
            (format!("{{\"x\":\"{}\"}}", "a".repeat(1 << 20)), 15),
            (format!("{{\"x\":[1{}]}}", ",1".repeat(20_000)), 3),
            (format!("{{\"x\":[1{}]}}", ",1".repeat(200_000)), 1),
        ] {
            let mut pipes = pipes(requests(20, &arguments), Vec::new());
            assert_eq!(taken(&mut pipes).len(), count);
        }
    }

    #[test]
    fn a_request_that_is_cancelled_has_no_room_once_nobody_works_on_it() {
        let cancelled = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}\n";
        let mut input = request(1, "{}");
        input.push_str(cancelled);
        let rest = requests(10_000, "{}").into_inner();
        let input = Cursor::new([input.into_bytes(), rest].concat());
        let mut pipes = pipes(input, Vec::new());
        let mut held = taken(&mut pipes);
        assert_eq!(held.len(), 3277);
        held.remove(0);
        assert_eq!(taken(&mut pipes).len(), 1);
    }

    /// A line that goes on and on, in pieces between which it has to be waited.
    struct Endless {
        start: &'static [u8],
        left_bytes: usize,
        end: &'static [u8],
        waits: bool,
    }

    impl AsyncRead for Endless {
        fn poll_read(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            self.waits = !self.waits;
            if self.waits && self.left_bytes > 0 {
                return Poll::Pending;
            }
            let part = if self.start.is_empty() && self.left_bytes > 0 {
                let length = buffer.remaining().min(self.left_bytes);
                self.left_bytes -= length;
                buffer.put_slice(&vec![b'a'; length]);
                return Poll::Ready(Ok(()));
            } else if self.start.is_empty() {
                std::mem::take(&mut self.end)
            } else {
                std::mem::take(&mut self.start)
            };
            buffer.put_slice(part);
            Poll::Ready(Ok(()))
        }
    }

    /// What is said to a line of `left_bytes`, and the message after it.
    fn said_to(start: &'static str, left_bytes: usize, end: &'static str) -> (String, bool) {
        let (start, end) = (start.as_bytes(), end.as_bytes());
        let endless = Endless { start, left_bytes, end, waits: false };
        let mut pipes = pipes(tokio::io::BufReader::with_capacity(1 << 16, endless), Vec::new());
        let next = loop {
            let next = now(pipes.receive());
            let kept = pipes.line.capacity();
            assert!(kept <= 2 * LINE_LIMIT_BYTES, "{kept} bytes are kept");
            if let Some(next) = next {
                break next;
            }
        };
        let out = now(pipes.output.out.lock()).expect("nobody writes").clone();
        (String::from_utf8(out).unwrap(), next.is_some())
    }

    /// A line of 300 MB was kept.
    #[test]
    fn regression_a_line_that_is_too_long_is_refused_and_skipped() {
        let refused = |id: &str| {
            let id = if id.is_empty() { String::new() } else { format!("\"id\":{id},") };
            format!(
                "{{\"jsonrpc\":\"2.0\",{id}\"error\":{{\"code\":-32600,\"message\":\"the message has over 16 MiB: send less at once\"}}}}\n"
            )
        };
        const PING: &str = "\n{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}\n";
        const LENGTH: usize = 40 << 20;
        let start = "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"tools/call\",\"params\":\"";
        let id_last = "\",\"jsonrpc\":\"2.0\", \"id\" : 5 }\n{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}\n";
        assert_eq!(said_to(start, LENGTH, PING), (refused("\"a\""), true));
        assert_eq!(said_to("{\"params\":\"", LENGTH, id_last), (refused("5"), true));
        // The end of the line is in what was kept of its start.
        let just_over = LINE_LIMIT_BYTES - 20;
        assert_eq!(said_to("{\"params\":\"", just_over, id_last), (refused("5"), true));
        assert_eq!(said_to("", LENGTH, PING), (refused(""), true));
        assert_eq!(said_to("{\"id\":[1],\"x\":\"", LENGTH, PING), (refused(""), true));
        // Without an end.
        assert_eq!(said_to(start, LENGTH, ""), (refused("\"a\""), false));
        assert_eq!(said_to("", LENGTH, ""), (refused(""), false));
        // As long as may be.
        assert_eq!(said_to("", LINE_LIMIT_BYTES, PING), (String::new(), true));
    }
}
