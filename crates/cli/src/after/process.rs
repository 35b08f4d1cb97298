//! Runs a command with limits of time and output. At the limit it is killed with its children.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hashline_core::Cancel;
use parking_lot::Mutex;

/// At most this much of the output is kept.
const OUTPUT_LIMIT_BYTES: usize = 64 << 10;

/// The longest pause between two checks.
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

/// How long to read on after the command has ended: a process that it started may keep its output
/// open.
const LAST_OUTPUT: Duration = Duration::from_millis(500);

/// The limits of a command.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    pub timeout: Duration,
    pub cancel: &'a Cancel,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    Succeeded,
    /// With another status, in words.
    Failed(String),
    NotStarted(String),
    TimedOut,
    Cancelled,
}

/// The output of a command, as far as it was read.
#[derive(Clone, Default)]
struct Output {
    bytes: Arc<Mutex<Vec<u8>>>,
    /// The number of streams that are still read.
    open: Arc<AtomicUsize>,
}

/// Runs a command in a directory, without input. Returns its output.
pub fn run(arguments: &[String], directory: &Path, limits: Limits<'_>) -> (Ended, String) {
    let Some((program, rest)) = arguments.split_first() else {
        return (Ended::NotStarted("no command".to_owned()), String::new());
    };
    let mut command = Command::new(program);
    command.args(rest).current_dir(directory).env("NO_COLOR", "1");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Signals of the terminal reach only this program, which then ends the group.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(cause) => return (Ended::NotStarted(cause.to_string()), String::new()),
    };
    let output = Output::default();
    output.read(child.stdout.take());
    output.read(child.stderr.take());
    let ended = wait(&mut child, limits);
    output.wait();
    (ended, output.text())
}

fn wait(child: &mut Child, limits: Limits<'_>) -> Ended {
    let started = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ended::Succeeded,
            Ok(Some(status)) => return Ended::Failed(words(status)),
            Err(cause) => return Ended::Failed(format!("was lost: {cause}")),
            Ok(None) => {}
        }
        let is_cancelled = limits.cancel.is_cancelled();
        if is_cancelled || started.elapsed() >= limits.timeout {
            kill(child);
            return if is_cancelled { Ended::Cancelled } else { Ended::TimedOut };
        }
        thread::sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

fn words(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("ended with exit code {code}"),
        None => format!("ended with {status}"),
    }
}

/// Kills a command and the processes that it started.
fn kill(child: &mut Child) {
    #[cfg(unix)]
    if let Ok(group) = libc::pid_t::try_from(child.id()) {
        // SAFETY: a system call with numbers. The child is not waited for yet, so its group exists.
        unsafe { libc::kill(-group, libc::SIGKILL) };
    }
    #[cfg(windows)]
    let _ = Command::new("taskkill")
        .args(["/T", "/F", "/PID", &child.id().to_string()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    // It may have left the group.
    let _ = child.kill();
    let _ = child.wait();
}

impl Output {
    /// Reads a stream to its end on another thread, so that the command never blocks.
    fn read(&self, stream: Option<impl Read + Send + 'static>) {
        let Some(mut stream) = stream else { return };
        let output = self.clone();
        output.open.fetch_add(1, Ordering::AcqRel);
        let read = move || {
            let mut piece = [0; 4096];
            while let Ok(count @ 1..) = stream.read(&mut piece) {
                let mut bytes = output.bytes.lock();
                let room = OUTPUT_LIMIT_BYTES - bytes.len();
                bytes.extend_from_slice(&piece[..count.min(room)]);
            }
            output.open.fetch_sub(1, Ordering::AcqRel);
        };
        // Without a thread, the command runs without its output.
        if thread::Builder::new().spawn(read).is_err() {
            self.open.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// Waits until the streams end, but not for long.
    fn wait(&self) {
        let started = Instant::now();
        while self.open.load(Ordering::Acquire) > 0 && started.elapsed() < LAST_OUTPUT {
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock()).into_owned()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str, timeout: Duration, cancel: &Cancel) -> (Ended, String) {
        let arguments = ["sh", "-c", script].map(str::to_owned);
        run(&arguments, Path::new("/"), Limits { timeout, cancel })
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn output_and_status_are_returned_and_input_is_closed() {
        let cancel = Cancel::default();
        assert_eq!(shell("cat; echo out; echo err >&2", LONG, &cancel).0, Ended::Succeeded);
        let (ended, output) = shell("echo said; exit 3", LONG, &cancel);
        assert_eq!(
            (ended, output.as_str()),
            (Ended::Failed("ended with exit code 3".into()), "said\n")
        );
        let (ended, _) = run(
            &["/no/such".to_owned()],
            Path::new("/"),
            Limits { timeout: LONG, cancel: &cancel },
        );
        assert!(matches!(ended, Ended::NotStarted(_)), "{ended:?}");
        let (_, output) = shell("yes | head -c 1000000", LONG, &cancel);
        assert_eq!(output.len(), OUTPUT_LIMIT_BYTES);
    }

    /// The script says that its child runs by creating a file, and only then the call is cancelled.
    #[test]
    fn a_cancelled_command_is_killed_with_its_children() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("pid");
        let script =
            format!("sleep 1000 & echo $! > {0}.new; mv {0}.new {0}; wait", file.display());
        let cancel = Cancel::default();
        let sleeper = thread::scope(|scope| {
            let call = scope.spawn(|| shell(&script, LONG, &cancel).0);
            while !file.exists() {
                thread::sleep(Duration::from_millis(1));
            }
            cancel.cancel();
            assert_eq!(call.join().unwrap(), Ended::Cancelled);
            std::fs::read_to_string(&file).unwrap().trim().parse::<libc::pid_t>().unwrap()
        });
        // A killed process exists until its new parent has waited for it.
        for _ in 0..10_000 {
            // SAFETY: signal 0 only checks whether a process exists.
            if unsafe { libc::kill(sleeper, 0) } != 0 || is_zombie(sleeper) {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
        panic!("{sleeper} still runs");
    }

    #[test]
    fn a_command_that_never_ends_is_killed_at_the_limit() {
        let limit = Duration::from_millis(1);
        assert_eq!(shell("sleep 1000", limit, &Cancel::default()).0, Ended::TimedOut);
    }

    fn is_zombie(process: libc::pid_t) -> bool {
        let status = std::fs::read_to_string(format!("/proc/{process}/stat"));
        status.is_ok_and(|status| {
            status.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'))
        })
    }

    #[test]
    fn a_cancelled_command_is_killed() {
        let cancel = Cancel::default();
        cancel.cancel();
        assert_eq!(shell("sleep 1000", LONG, &cancel).0, Ended::Cancelled);
    }

    #[test]
    fn a_process_that_keeps_the_output_open_does_not_block() {
        let (ended, output) = shell("sleep 1000 & echo $!", LONG, &Cancel::default());
        assert_eq!(ended, Ended::Succeeded);
        let sleeper = output.trim().parse().unwrap();
        // SAFETY: a system call with numbers. The process was started above.
        assert_eq!(unsafe { libc::kill(sleeper, libc::SIGKILL) }, 0);
    }
}
