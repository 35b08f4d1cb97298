//! Limits the requests that are not answered yet. Further requests stay unread in the client's
//! pipe, so memory does not grow if a client sends endlessly or does not read.

use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use rmcp::model::RequestId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The memory for unanswered requests, in units of [`UNIT_BYTES`]. It fits the largest message, so
/// one request is always accepted.
const ROOM: u32 = (super::pipes::LINE_LIMIT_BYTES / UNIT_BYTES) as u32;

/// The unit of memory.
const UNIT_BYTES: usize = 1024;

/// The units of a request besides its text: for its task.
const TASK_UNITS: usize = 4;

/// How many values of a message take one unit.
const UNIT_VALUES: usize = 4;

/// The most calls whose answers are not written yet: each answer may be large.
const CALLS_LIMIT: usize = 8;

/// The unanswered requests of a connection.
pub struct Intake {
    room: Arc<Semaphore>,
    calls: Arc<Semaphore>,
    open: Mutex<HashMap<RequestId, Arc<Taken>>>,
}

/// An unanswered request. Its memory is released when the last holder drops it.
pub struct Taken {
    _room: OwnedSemaphorePermit,
    calls: Arc<Semaphore>,
    call: OnceLock<OwnedSemaphorePermit>,
}

impl Intake {
    pub fn new() -> Arc<Intake> {
        let room = Arc::new(Semaphore::new(ROOM as usize));
        let calls = Arc::new(Semaphore::new(CALLS_LIMIT));
        Arc::new(Intake { room, calls, open: Mutex::default() })
    }

    /// Waits until a request fits, and registers it as unanswered.
    pub async fn take(&self, id: &RequestId, size: Size) -> Option<Arc<Taken>> {
        let room = Arc::clone(&self.room).acquire_many_owned(size.units()).await.ok()?;
        let calls = Arc::clone(&self.calls);
        let taken = Arc::new(Taken { _room: room, calls, call: OnceLock::new() });
        self.open().insert(id.clone(), Arc::clone(&taken));
        Some(taken)
    }

    /// Removes a request that is answered, or that the client cancelled. It keeps its memory while
    /// it is held here or being processed.
    pub fn leave(&self, id: &RequestId) -> Option<Arc<Taken>> {
        self.open().remove(id)
    }

    fn open(&self) -> MutexGuard<'_, HashMap<RequestId, Arc<Taken>>> {
        self.open.lock()
    }
}

impl Taken {
    /// Waits until another answer may be created. Requests start in the order of their arrival.
    pub async fn begin(&self) {
        if let Ok(call) = Arc::clone(&self.calls).acquire_owned().await {
            let _ = self.call.set(call);
        }
    }
}

/// Counts the commas of a JSON text outside of strings.
fn count_values(text: &[u8]) -> usize {
    let mut count = 0;
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| matches!(byte, b',' | b'"')) {
        let is_string = rest[at] == b'"';
        rest = &rest[at + 1..];
        if !is_string {
            count += 1;
            continue;
        }
        while let Some(at) = rest.iter().position(|byte| matches!(byte, b'"' | b'\\')) {
            let is_escape = rest[at] == b'\\';
            rest = rest.get(at + 1 + usize::from(is_escape)..).unwrap_or_default();
            if !is_escape {
                break;
            }
        }
    }
    count
}

/// The size of a message.
#[derive(Clone, Copy, Debug, Default)]
pub struct Size {
    pub bytes: usize,
    /// The approximate number of values.
    pub values: usize,
}

impl Size {
    pub fn of(text: &[u8]) -> Size {
        Size { bytes: text.len(), values: count_values(text) }
    }

    fn units(self) -> u32 {
        let units = TASK_UNITS + self.bytes / UNIT_BYTES + self.values / UNIT_VALUES;
        u32::try_from(units).map_or(ROOM, |units| units.min(ROOM))
    }
}
