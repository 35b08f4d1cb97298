//! Standard output, and word of a client that does not read it any more.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::AsyncWrite;
use tokio::sync::Notify;

/// Standard output.
pub struct Stdout {
    out: tokio::io::Stdout,
    /// Told when nothing can be written.
    gone: Arc<Notify>,
}

impl Stdout {
    /// Tells `gone` once nobody reads.
    pub fn new(gone: Arc<Notify>) -> Stdout {
        Stdout { out: tokio::io::stdout(), gone }
    }

    fn watched<T>(&self, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if matches!(written, Poll::Ready(Err(_))) {
            self.gone.notify_one();
        }
        written
    }
}

impl AsyncWrite for Stdout {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.out).poll_write(context, bytes);
        self.watched(written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.out).poll_flush(context);
        self.watched(flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.out).poll_shutdown(context);
        self.watched(shut)
    }
}
