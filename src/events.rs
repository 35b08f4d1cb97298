//! Passes the changes of sessions to listeners in JavaScript. `js/events.cjs` has the listeners; the
//! addon knows one function for each session that has any.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use hashline_core::Subscription;
use napi::Env;
use napi::bindgen_prelude::{External, Function};
use napi_derive::napi;

use super::completions::CompletionQueue;
use super::error;
use super::session::HashSession;

/// Calls a function with the JSON text of each change of a session, until it is unsubscribed or the
/// result is collected.
#[napi(namespace = "events", js_name = "subscribe", skip_typescript)]
pub fn subscribe(
    env: &Env,
    session: &HashSession,
    listener: Function<'_, String, ()>,
) -> napi::Result<External<Held>> {
    let listening = error::contained(|| {
        let queue = CompletionQueue::of(env)?;
        let (number, sender) = (queue.next_number(), queue.sender());
        let subscription = session.for_call()?.on_change(move |change| {
            let text = serde_json::to_string(change).unwrap_or_default();
            sender.send_change(number, text);
        });
        queue.listen(number, listener.create_ref()?);
        Ok(Listening { queue: Rc::downgrade(&queue), number, _subscription: subscription })
    });
    let listening = listening.map_err(|error: error::CallError| error.throw(env))?;
    Ok(External::new(RefCell::new(Some(listening))))
}

/// Ends a subscription.
#[napi(namespace = "events", js_name = "unsubscribe", skip_typescript)]
pub fn unsubscribe(held: &External<Held>) {
    held.take();
}

/// A subscription, until it is ended.
pub type Held = RefCell<Option<Listening>>;

/// A function that is called with the changes of a session.
pub struct Listening {
    queue: Weak<CompletionQueue>,
    number: u64,
    _subscription: Subscription,
}

impl Drop for Listening {
    fn drop(&mut self) {
        if let Some(queue) = self.queue.upgrade() {
            queue.ignore(self.number);
        }
    }
}
