//! Requests that were taken from the client and are not answered yet: how many there may be. What is
//! more stays unread in the client's pipe, so neither a client that sends without end nor one that
//! does not read makes the program grow.

use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use rmcp::model::RequestId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How much room all requests have that are not answered, in [`UNIT_BYTES`]. It is what the largest
/// message may take, so that one always fits.
const ROOM: u32 = (super::pipes::LINE_LIMIT_BYTES / UNIT_BYTES) as u32;

/// What room is counted in.
const UNIT_BYTES: usize = 1024;

/// What a request takes besides its text: the task that works on it.
const TASK_UNITS: usize = 4;

/// How many values of a message take one unit.
const UNIT_VALUES: usize = 4;

/// How many calls may be made whose answers are not written: each answer may be large.
const CALLS_LIMIT: usize = 8;

/// All requests of a connection that are not answered.
pub struct Intake {
    room: Arc<Semaphore>,
    calls: Arc<Semaphore>,
    open: Mutex<HashMap<RequestId, Arc<Taken>>>,
}

/// A request that is not answered. Its room is free again when the last holder drops it.
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

    /// Waits for room for a request, and notes that it is to be answered.
    pub async fn take(&self, id: &RequestId, size: Size) -> Option<Arc<Taken>> {
        let room = Arc::clone(&self.room).acquire_many_owned(size.units()).await.ok()?;
        let calls = Arc::clone(&self.calls);
        let taken = Arc::new(Taken { _room: room, calls, call: OnceLock::new() });
        self.open().insert(id.clone(), Arc::clone(&taken));
        Some(taken)
    }

    /// Takes off a request that is answered now, or never will be, as the client does not want it any
    /// more. It keeps its room as long as it is held here, or worked on.
    pub fn leave(&self, id: &RequestId) -> Option<Arc<Taken>> {
        self.open().remove(id)
    }

    fn open(&self) -> MutexGuard<'_, HashMap<RequestId, Arc<Taken>>> {
        self.open.lock()
    }
}

impl Taken {
    /// Waits until one more answer may be made. Requests begin in the order in which they came.
    pub async fn begin(&self) {
        if let Ok(call) = Arc::clone(&self.calls).acquire_owned().await {
            let _ = self.call.set(call);
        }
    }
}

/// The commas of a JSON text that are not in strings.
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

/// How much there is of a message.
#[derive(Clone, Copy, Debug, Default)]
pub struct Size {
    pub bytes: usize,
    /// How many values it has, about.
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
