//! Shows the progress of long work on standard error, if that is a terminal.

use parking_lot::{Condvar, Mutex};
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Shorter work shows no progress.
const SHOW_AFTER: Duration = Duration::from_millis(400);

/// The interval of updates.
const INTERVAL: Duration = Duration::from_millis(100);

/// The progress line on a terminal; dropping it removes the line.
pub struct Progress {
    work: Option<(Arc<Work>, JoinHandle<()>)>,
}

#[derive(Default)]
struct Work {
    done: AtomicUsize,
    total: AtomicUsize,
    is_over: Mutex<bool>,
    changed: Condvar,
    is_shown: AtomicBool,
}

impl Progress {
    /// Starts the work; `what` is the verb in the line.
    pub fn begin(what: &'static str) -> Progress {
        if !io::stderr().is_terminal() {
            return Progress { work: None };
        }
        let work = Arc::<Work>::default();
        let shared = Arc::clone(&work);
        let start = Instant::now();
        let writer = thread::spawn(move || shared.write_until_over(what, start));
        Progress { work: Some((work, writer)) }
    }

    /// Records that `done` of `total` things are done.
    pub fn set(&self, done: usize, total: usize) {
        if let Some((work, _)) = &self.work {
            work.done.store(done, Ordering::Relaxed);
            work.total.store(total, Ordering::Relaxed);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        let Some((work, writer)) = self.work.take() else { return };
        *work.is_over.lock() = true;
        work.changed.notify_all();
        let _ = writer.join();
        if work.is_shown.load(Ordering::Relaxed) {
            let _ = write!(io::stderr().lock(), "\r\x1b[K");
        }
    }
}

impl Work {
    fn write_until_over(&self, what: &str, start: Instant) {
        let mut pause = SHOW_AFTER;
        let mut is_over = self.is_over.lock();
        loop {
            self.changed.wait_while_for(&mut is_over, |is_over| !*is_over, pause);
            if *is_over {
                return;
            }
            pause = INTERVAL;
            self.is_shown.store(true, Ordering::Relaxed);
            let line = self.line(what, start.elapsed());
            let _ = write!(io::stderr().lock(), "\r{line}\x1b[K");
        }
    }

    fn line(&self, what: &str, elapsed: Duration) -> String {
        let (done, total) = (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed));
        let seconds = elapsed.as_secs();
        match total {
            0 => format!("{what}: {seconds} s"),
            total => format!("{what} {done} of {total} files, {seconds} s"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_has_the_progress_and_the_time() {
        let work = Work::default();
        let elapsed = Duration::from_millis(1_999);
        assert_eq!(work.line("searched", elapsed), "searched: 1 s");
        work.done.store(64, Ordering::Relaxed);
        work.total.store(200, Ordering::Relaxed);
        assert_eq!(work.line("searched", elapsed), "searched 64 of 200 files, 1 s");
    }
}
