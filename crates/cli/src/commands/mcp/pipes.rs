//! The pipes to the client: lines of standard input, lines of standard output, and word of a client
//! that does not read any more.

use std::io;
use std::pin::Pin;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Stdin, Stdout};
use tokio::sync::{Mutex, Notify};

use super::message::Line;

/// Both pipes.
pub struct Pipes {
    input: BufReader<Stdin>,
    /// A line as far as it has come. A file that is written is as long as it is.
    line: Vec<u8>,
    output: Arc<Output>,
    /// A refusal that is under way to the client.
    refusing: Option<Pin<Box<dyn Future<Output = io::Result<()>> + Send>>>,
}

struct Output {
    out: Mutex<Stdout>,
    /// Told when nothing can be written.
    gone: Arc<Notify>,
}

impl Pipes {
    /// Tells `gone` once nobody reads.
    pub fn new(gone: Arc<Notify>) -> Pipes {
        Pipes {
            input: BufReader::new(tokio::io::stdin()),
            line: Vec::new(),
            output: Arc::new(Output { out: Mutex::new(tokio::io::stdout()), gone }),
            refusing: None,
        }
    }

    /// Writes a line, if there is one; also when the pipes are used for something else meanwhile.
    fn write(
        &self,
        line: io::Result<Vec<u8>>,
    ) -> impl Future<Output = io::Result<()>> + Send + use<> {
        let output = Arc::clone(&self.output);
        async move { output.write(line?).await }
    }
}

impl Output {
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

impl Transport<RoleServer> for Pipes {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.write(serde_json::to_vec(&message).map_err(io::Error::from))
    }

    /// Whoever waits for this may stop and ask again: what is half done is kept.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(refusing) = &mut self.refusing {
                let refused = refusing.await;
                self.refusing = None;
                refused.ok()?;
            }
            self.input.read_until(b'\n', &mut self.line).await.ok()?;
            // What ends without the end of a line is half a message.
            if !self.line.ends_with(b"\n") {
                return None;
            }
            match Line::read(&std::mem::take(&mut self.line)) {
                Line::Message(message) => return Some(*message),
                Line::Refused(answer) => {
                    self.refusing = Some(Box::pin(self.write(Ok(answer.into_bytes()))));
                }
                Line::Nothing => {}
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}
