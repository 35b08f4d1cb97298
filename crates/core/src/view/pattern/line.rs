//! Whether, and where, a pattern matches within one long line. The usual engines do not check the
//! caller's flag, so a long line is not left to them.
//!
//! A lazily built deterministic automaton takes a step for each byte. It gives up where words outside
//! ASCII count, and where a pattern needs too many states. Then all states of the nondeterministic
//! automaton are followed, which always works and is slower.

use regex_automata::Input;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{NFA, State};
use regex_automata::util::primitives::StateID;

use super::watch::{Stop, Watch};

/// Room for the states of the deterministic automaton.
const CACHE_BYTES: usize = 2 << 20;

/// The deterministic automaton gives up when it has filled its room so often with states that
/// each were good for few bytes.
const CACHE_CLEARS: usize = 4;
const BYTES_PER_STATE: usize = 10;

/// Bytes that are stepped through between two looks at the account, at the most. Each can cost a
/// new state, which takes as long as the automaton is large: so few of them where it is.
const CHUNK_BYTES: usize = 64;
const CHUNK_STATES: usize = 1 << 16;

/// What long lines are searched with.
pub(super) struct LineSearch<'p> {
    nfa: &'p NFA,
    /// Gone once it has given up.
    lazy: Option<Lazy>,
    threads: Option<Threads>,
}

struct Lazy {
    dfa: DFA,
    cache: Cache,
}

/// The deterministic automaton cannot tell.
struct GaveUp;

impl<'p> LineSearch<'p> {
    pub(super) fn new(nfa: &'p NFA) -> LineSearch<'p> {
        let config = DFA::config()
            .cache_capacity(CACHE_BYTES)
            .unicode_word_boundary(true)
            .minimum_cache_clear_count(Some(CACHE_CLEARS))
            .minimum_bytes_per_state(Some(BYTES_PER_STATE));
        let dfa = DFA::builder().configure(config).build_from_nfa(nfa.clone());
        let lazy = dfa.ok().map(|dfa| Lazy { cache: dfa.create_cache(), dfa });
        LineSearch { nfa, lazy, threads: None }
    }

    /// The end of a match, of that which ends first.
    pub(super) fn end_of_match(
        &mut self,
        line: &[u8],
        watch: &Watch<'_>,
    ) -> Result<Option<usize>, Stop> {
        if let Some(lazy) = &mut self.lazy {
            match lazy.end_of_match(line, watch)? {
                Ok(end) => return Ok(end),
                Err(GaveUp) => self.lazy = None,
            }
        }
        let threads = self.threads.get_or_insert_with(|| Threads::new(self.nfa.states().len()));
        threads.end_of_match(self.nfa, line, watch)
    }
}

impl Lazy {
    fn end_of_match(
        &mut self,
        line: &[u8],
        watch: &Watch<'_>,
    ) -> Result<Result<Option<usize>, GaveUp>, Stop> {
        let Lazy { dfa, cache } = self;
        let Ok(mut state) = dfa.start_state_forward(cache, &Input::new(line)) else {
            return Ok(Err(GaveUp));
        };
        cache.search_start(0);
        let mut at = 0;
        let states = dfa.get_nfa().states().len();
        for chunk in line.chunks((CHUNK_STATES / states).clamp(1, CHUNK_BYTES)) {
            let used_bytes = cache.memory_usage();
            for (index, &byte) in chunk.iter().enumerate() {
                let Ok(next) = dfa.next_state(cache, state, byte) else {
                    return Ok(Err(GaveUp));
                };
                state = next;
                // It says so one byte late.
                if state.is_match() {
                    return Ok(Ok(Some(at + index)));
                }
                if state.is_dead() {
                    return Ok(Ok(None));
                }
                if state.is_quit() {
                    return Ok(Err(GaveUp));
                }
            }
            at += chunk.len();
            cache.search_update(at);
            // A new state takes as long as it is large.
            let grown_bytes = cache.memory_usage().saturating_sub(used_bytes);
            watch.spend((chunk.len() + grown_bytes) as u64)?;
        }
        cache.search_finish(at);
        let end = dfa.next_eoi_state(cache, state).map_err(|_| GaveUp);
        Ok(end.map(|state| state.is_match().then_some(line.len())))
    }
}

/// The states of the nondeterministic automaton that a match can be in.
struct Threads {
    now: Set,
    next: Set,
    /// States whose successors without a byte are to be added.
    pending: Vec<StateID>,
}

impl Threads {
    fn new(states: usize) -> Threads {
        Threads { now: Set::new(states), next: Set::new(states), pending: Vec::new() }
    }

    fn end_of_match(
        &mut self,
        nfa: &NFA,
        line: &[u8],
        watch: &Watch<'_>,
    ) -> Result<Option<usize>, Stop> {
        self.now.clear();
        for at in 0..=line.len() {
            // A match can begin anywhere.
            if add(nfa, line, at, nfa.start_anchored(), &mut self.now, &mut self.pending) {
                return Ok(Some(at));
            }
            watch.spend(self.now.len() as u64 + 1)?;
            let Some(&byte) = line.get(at) else { break };
            self.next.clear();
            for &state in self.now.members() {
                let follows = follow(nfa.state(state), byte);
                if let Some(follows) = follows
                    && add(nfa, line, at + 1, follows, &mut self.next, &mut self.pending)
                {
                    return Ok(Some(at + 1));
                }
            }
            std::mem::swap(&mut self.now, &mut self.next);
        }
        Ok(None)
    }
}

/// The state after a byte.
fn follow(state: &State, byte: u8) -> Option<StateID> {
    match state {
        State::ByteRange { trans } => trans.matches_byte(byte).then_some(trans.next),
        State::Sparse(transitions) => transitions.matches_byte(byte),
        State::Dense(transitions) => transitions.matches_byte(byte),
        _ => None,
    }
}

/// Adds a state and those that are reached from it without a byte; true when a match is.
fn add(
    nfa: &NFA,
    line: &[u8],
    at: usize,
    state: StateID,
    to: &mut Set,
    pending: &mut Vec<StateID>,
) -> bool {
    pending.clear();
    pending.push(state);
    while let Some(state) = pending.pop() {
        if !to.insert(state) {
            continue;
        }
        match nfa.state(state) {
            State::Match { .. } => return true,
            State::Look { look, next } => {
                if nfa.look_matcher().matches(*look, line, at) {
                    pending.push(*next);
                }
            }
            State::Union { alternates } => pending.extend(alternates.iter().rev()),
            State::BinaryUnion { alt1, alt2 } => pending.extend([*alt2, *alt1]),
            State::Capture { next, .. } => pending.push(*next),
            State::ByteRange { .. } | State::Sparse(_) | State::Dense(_) | State::Fail => {}
        }
    }
    false
}

/// A set of states that is emptied at no cost.
struct Set {
    members: Vec<StateID>,
    /// Where each state stands among the members, if it is one.
    places: Vec<usize>,
}

impl Set {
    fn new(states: usize) -> Set {
        Set { members: Vec::new(), places: vec![0; states] }
    }

    fn clear(&mut self) {
        self.members.clear();
    }

    fn len(&self) -> usize {
        self.members.len()
    }

    fn members(&self) -> &[StateID] {
        &self.members
    }

    /// Whether the state was not there yet.
    fn insert(&mut self, state: StateID) -> bool {
        let place = &mut self.places[state.as_usize()];
        if self.members.get(*place) == Some(&state) {
            return false;
        }
        *place = self.members.len();
        self.members.push(state);
        true
    }
}
