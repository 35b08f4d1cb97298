//! Connects to the client: reads lines of standard input, writes lines of standard output, and
//! reports when the client no longer reads. A line that is too long is refused and not kept. A
//! request is accepted when [`Intake`] has room for it. Until then, reading continues up to a
//! limit: the next message may be an answer that an earlier request waits for, or its cancellation.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ClientNotification, GetExtensions as _, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Mutex, Notify};

use super::intake::{Intake, Size, Taken};
use super::message::{Line, too_long, too_long_until};

/// The longest line that is read.
pub const LINE_LIMIT_BYTES: usize = 16 << 20;

/// The most requests that may wait for room, and their total size. One more request may exceed
/// this.
const WAITING_LIMIT: usize = 64;
const WAITING_LIMIT_BYTES: usize = 1 << 20;

/// How much of the end of a long line is kept, because its `id` may be there.
const TAIL_BYTES: usize = 1024;

/// Both pipes.
pub struct Pipes<R, W> {
    input: R,
    /// The part of a line that was read so far. After a long line the buffer keeps its size.
    line: Vec<u8>,
    /// The rest of a line that is too long, as far as it was read.
    skipped: Option<Skipped>,
    /// Requests that wait for room.
    waiting: VecDeque<WaitingRequest>,
    /// Whether the input has ended.
    is_over: bool,
    intake: Arc<Intake>,
    output: Arc<Output<W>>,
    /// A refusal that is being written.
    refusing: Option<Pin<Box<dyn Future<Output = io::Result<()>> + Send>>>,
}

struct WaitingRequest {
    message: Box<RxJsonRpcMessage<RoleServer>>,
    id: RequestId,
    size: Size,
}

/// A line that is too long.
struct Skipped {
    /// The last bytes that were read.
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

/// An event from the client.
enum Input {
    Line(Vec<u8>),
    /// A line that is too long, with the error for it.
    TooLong(String),
    End,
}

/// The next event.
enum Next {
    /// Room for the first waiting request.
    Room(Arc<Taken>),
    Input(Input),
}

struct Output<W> {
    out: Mutex<W>,
    /// Notified when nothing can be written.
    gone: Arc<Notify>,
}

impl<R, W> Pipes<R, W>
where
    R: AsyncBufRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    /// Creates the pipes; `gone` is notified once the client no longer reads.
    pub fn new(input: R, output: W, gone: Arc<Notify>) -> Pipes<R, W> {
        Pipes {
            input,
            line: Vec::new(),
            skipped: None,
            waiting: VecDeque::new(),
            is_over: false,
            intake: Intake::new(),
            output: Arc::new(Output { out: Mutex::new(output), gone }),
            refusing: None,
        }
    }

    /// Writes a line, if there is one. The future does not borrow the pipes.
    fn write(
        &self,
        line: io::Result<Vec<u8>>,
    ) -> impl Future<Output = io::Result<()>> + Send + use<R, W> {
        let output = Arc::clone(&self.output);
        async move { output.write(line?).await }
    }

    /// Whether reading continues while requests wait.
    fn may_read_on(&self) -> bool {
        let bytes: usize = self.waiting.iter().map(|one| one.size.bytes).sum();
        !self.is_over && self.waiting.len() < WAITING_LIMIT && bytes < WAITING_LIMIT_BYTES
    }

    fn refuse(&mut self, answer: String) {
        self.refusing = Some(Box::pin(self.write(Ok(answer.into_bytes()))));
    }

    /// Reads a line. Cancel safe: a partial line is kept.
    async fn read(&mut self) -> io::Result<Input> {
        loop {
            let chunk = self.input.fill_buf().await?;
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let part = &chunk[..end.unwrap_or(chunk.len())];
            if self.skipped.is_none() && self.line.len() + part.len() > LINE_LIMIT_BYTES {
                let start = std::mem::take(&mut self.line);
                // The client gets the error at once, if the id is known.
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
                // Input that ends without a newline is an incomplete message.
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

    /// Releases the memory of a request once its answer is written.
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

    /// Cancel safe: partial work is kept.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(refusing) = &mut self.refusing {
                let refused = refusing.await;
                self.refusing = None;
                refused.ok()?;
            }
            let next = match self.waiting.front() {
                None if self.is_over => return None,
                None => Next::Input(self.read().await.ok()?),
                Some(WaitingRequest { id, size, .. }) => {
                    let (intake, id, size) = (Arc::clone(&self.intake), id.clone(), *size);
                    let may_read = self.may_read_on();
                    tokio::select! {
                        biased;
                        taken = intake.take(&id, size) => Next::Room(taken?),
                        input = self.read(), if may_read => Next::Input(input.ok()?),
                    }
                }
            };
            let line = match next {
                Next::Room(taken) => {
                    let mut message = *self.waiting.pop_front()?.message;
                    if let JsonRpcMessage::Request(request) = &mut message {
                        request.request.extensions_mut().insert(taken);
                    }
                    return Some(message);
                }
                Next::Input(Input::Line(line)) => line,
                Next::Input(Input::TooLong(answer)) => {
                    self.refuse(answer);
                    continue;
                }
                Next::Input(Input::End) => {
                    self.is_over = true;
                    continue;
                }
            };
            match Line::read(&line) {
                Line::Message(message) => match message.as_ref() {
                    JsonRpcMessage::Request(request) => {
                        let (id, size) = (request.id.clone(), Size::of(&line));
                        self.waiting.push_back(WaitingRequest { message, id, size });
                    }
                    JsonRpcMessage::Notification(notification) => {
                        if let ClientNotification::CancelledNotification(cancelled) =
                            &notification.notification
                            && let Some(id) = &cancelled.params.request_id
                        {
                            self.intake.leave(id);
                            self.waiting.retain(|waiting| waiting.id != *id);
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

    use rmcp::model::{EmptyResult, ServerResult};
    use serde_json::json;
    use tokio::io::{AsyncRead, ReadBuf};

    use super::*;

    /// The output of a future that is ready at once.
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

    /// The messages that are available at once, held as by handlers.
    fn taken<W: AsyncWrite + Unpin + Send + 'static>(
        pipes: &mut Pipes<Cursor<Vec<u8>>, W>,
    ) -> Vec<RxJsonRpcMessage<RoleServer>> {
        let mut taken = Vec::new();
        while let Some(message) = now(pipes.receive()) {
            taken.push(message.expect("the input goes on"));
        }
        taken
    }

    /// All input was read: 2,000 reads took a gigabyte.
    #[test]
    fn regression_requests_beyond_the_limit_stay_unread() {
        let mut pipes = pipes(requests(10_000, "{}"), Vec::new());
        let mut held = taken(&mut pipes);
        assert_eq!(held.len(), 3276);
        let read_bytes = pipes.input.position();
        assert!(read_bytes < (3278 + 64) * 100, "{read_bytes}");
        // An answer that is written makes room for a request, once the old one is dropped.
        assert!(now(pipes.send(answer(7))).expect("there is room to write").is_ok());
        assert!(taken(&mut pipes).is_empty());
        held.remove(6);
        let more = taken(&mut pipes);
        assert_eq!(more.len(), 1);
        assert!(json!(more[0])["id"] == 3277, "{more:?}");
        // A request whose answer cannot be written keeps its room.
        drop(held);
        assert!(taken(&mut pipes).is_empty());
    }

    #[test]
    fn regression_an_unread_answer_keeps_its_room() {
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
    fn a_cancelled_request_is_released_once_it_is_dropped() {
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

    /// A client's response or cancellation was not read while an earlier request waited for room.
    #[test]
    fn regression_answers_and_cancellations_overtake_waiting_requests() {
        let large = format!("{{\"x\":[1{}]}}", ",1".repeat(100_000));
        let notification = |params: &str| {
            format!(
                "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{params}}}\n"
            )
        };
        let input = [
            request(1, "{}"),
            request(2, &large),
            request(3, "{}"),
            "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"roots\":[]}}\n".to_owned(),
            notification("{\"requestId\":2}"),
        ];
        let mut pipes = pipes(Cursor::new(input.concat().into_bytes()), Vec::new());
        let mut next = || now(pipes.receive()).map(|message| json!(message.expect("one more")));
        let first = next().unwrap();
        assert_eq!(first["id"], 1);
        assert_eq!(next().unwrap()["result"], json!({ "roots": [] }));
        assert_eq!(next().unwrap()["method"], "notifications/cancelled");
        // The cancelled request is skipped.
        assert_eq!(next().unwrap()["id"], 3);
    }

    /// An endless line, in pieces that arrive with delays.
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

    /// The answer to a line of `left_bytes`, and whether the next message was read.
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
        let out = now(pipes.output.out.lock()).expect("there is no writer").clone();
        (String::from_utf8(out).unwrap(), next.is_some())
    }

    /// A line of 300 MB was kept in memory.
    #[test]
    fn regression_a_line_that_is_too_long_is_refused_and_skipped() {
        let refused = |id: &str| {
            let id = if id.is_empty() { String::new() } else { format!("\"id\":{id},") };
            format!(
                "{{\"jsonrpc\":\"2.0\",{id}\"error\":{{\"code\":-32600,\"message\":\"the message exceeds 16 MiB. Send a smaller one.\"}}}}\n"
            )
        };
        const PING: &str = "\n{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}\n";
        const LENGTH: usize = 40 << 20;
        let start = "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"tools/call\",\"params\":\"";
        let id_last = "\",\"jsonrpc\":\"2.0\", \"id\" : 5 }\n{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}\n";
        assert_eq!(said_to(start, LENGTH, PING), (refused("\"a\""), true));
        assert_eq!(said_to("{\"params\":\"", LENGTH, id_last), (refused("5"), true));
        // The end of the line is in the part that was kept of its start.
        let just_over = LINE_LIMIT_BYTES - 20;
        assert_eq!(said_to("{\"params\":\"", just_over, id_last), (refused("5"), true));
        assert_eq!(said_to("", LENGTH, PING), (refused(""), true));
        assert_eq!(said_to("{\"id\":[1],\"x\":\"", LENGTH, PING), (refused(""), true));
        // Without an end.
        assert_eq!(said_to(start, LENGTH, ""), (refused("\"a\""), false));
        assert_eq!(said_to("", LENGTH, ""), (refused(""), false));
        // The longest accepted line.
        assert_eq!(said_to("", LINE_LIMIT_BYTES, PING), (String::new(), true));
    }
}
