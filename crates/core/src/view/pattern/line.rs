//! Matches a pattern within one long line. The regular engines do not check the cancellation flag,
//! so they are not used here.
//!
//! A lazily built DFA takes one step per byte. It quits at non-ASCII text if the pattern has
//! Unicode word boundaries, and if a pattern needs too many states. Then the NFA is simulated,
//! which always works but is slower.

use regex_automata::Input;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{NFA, State};
use regex_automata::util::primitives::StateID;

use super::budget::{StepBudget, Stop};

/// The cache size for the states of the DFA.
const CACHE_BYTES: usize = 2 << 20;

/// The DFA fails after this number of cache clears if each state covered too few bytes on average.
const CACHE_CLEARS: usize = 4;
const BYTES_PER_STATE: usize = 10;

/// The maximum number of bytes between two checks of the budget. A byte can build a new state,
/// which takes time proportional to the size of the NFA; so chunks are smaller for a large NFA.
const CHUNK_BYTES: usize = 64;
const CHUNK_STATES: usize = 1 << 16;

/// Searches long lines.
pub(super) struct LineSearch<'p> {
    nfa: &'p NFA,
    /// `None` after it failed.
    lazy: Option<LazyDfa>,
    simulation: Option<NfaSimulation>,
}

struct LazyDfa {
    dfa: DFA,
    cache: Cache,
}

/// The DFA cannot decide.
struct DfaFailed;

impl<'p> LineSearch<'p> {
    pub(super) fn new(nfa: &'p NFA) -> LineSearch<'p> {
        let config = DFA::config()
            .cache_capacity(CACHE_BYTES)
            .unicode_word_boundary(true)
            .minimum_cache_clear_count(Some(CACHE_CLEARS))
            .minimum_bytes_per_state(Some(BYTES_PER_STATE));
        let dfa = DFA::builder().configure(config).build_from_nfa(nfa.clone());
        let lazy = dfa.ok().map(|dfa| LazyDfa { cache: dfa.create_cache(), dfa });
        LineSearch { nfa, lazy, simulation: None }
    }

    /// The end of the match that ends first.
    pub(super) fn end_of_match(
        &mut self,
        line: &[u8],
        budget: &StepBudget<'_>,
    ) -> Result<Option<usize>, Stop> {
        if let Some(lazy) = &mut self.lazy {
            match lazy.end_of_match(line, budget)? {
                Ok(end) => return Ok(end),
                Err(DfaFailed) => self.lazy = None,
            }
        }
        let simulation =
            self.simulation.get_or_insert_with(|| NfaSimulation::new(self.nfa.states().len()));
        simulation.end_of_match(self.nfa, line, budget)
    }
}

impl LazyDfa {
    fn end_of_match(
        &mut self,
        line: &[u8],
        budget: &StepBudget<'_>,
    ) -> Result<Result<Option<usize>, DfaFailed>, Stop> {
        let LazyDfa { dfa, cache } = self;
        let Ok(mut state) = dfa.start_state_forward(cache, &Input::new(line)) else {
            return Ok(Err(DfaFailed));
        };
        cache.search_start(0);
        let mut at = 0;
        let states = dfa.get_nfa().states().len();
        for chunk in line.chunks((CHUNK_STATES / states).clamp(1, CHUNK_BYTES)) {
            let used_bytes = cache.memory_usage();
            for (index, &byte) in chunk.iter().enumerate() {
                let Ok(next) = dfa.next_state(cache, state, byte) else {
                    return Ok(Err(DfaFailed));
                };
                state = next;
                // A match is reported one byte late.
                if state.is_match() {
                    return Ok(Ok(Some(at + index)));
                }
                if state.is_dead() {
                    return Ok(Ok(None));
                }
                if state.is_quit() {
                    return Ok(Err(DfaFailed));
                }
            }
            at += chunk.len();
            cache.search_update(at);
            // Building a state takes time proportional to its size.
            let grown_bytes = cache.memory_usage().saturating_sub(used_bytes);
            budget.spend((chunk.len() + grown_bytes) as u64)?;
        }
        cache.search_finish(at);
        let end = dfa.next_eoi_state(cache, state).map_err(|_| DfaFailed);
        Ok(end.map(|state| state.is_match().then_some(line.len())))
    }
}

/// The simulation of the NFA: the set of states that a match can be in.
struct NfaSimulation {
    now: StateSet,
    next: StateSet,
    /// States whose epsilon closure must be added.
    pending: Vec<StateID>,
}

impl NfaSimulation {
    fn new(states: usize) -> NfaSimulation {
        NfaSimulation {
            now: StateSet::new(states),
            next: StateSet::new(states),
            pending: Vec::new(),
        }
    }

    fn end_of_match(
        &mut self,
        nfa: &NFA,
        line: &[u8],
        budget: &StepBudget<'_>,
    ) -> Result<Option<usize>, Stop> {
        self.now.clear();
        for at in 0..=line.len() {
            // A match can start at every offset.
            if add(nfa, line, at, nfa.start_anchored(), &mut self.now, &mut self.pending) {
                return Ok(Some(at));
            }
            budget.spend(self.now.len() as u64 + 1)?;
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

/// Adds a state and its epsilon closure; returns true if it contains a match.
fn add(
    nfa: &NFA,
    line: &[u8],
    at: usize,
    state: StateID,
    to: &mut StateSet,
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

/// A sparse set of states, cleared in constant time.
struct StateSet {
    members: Vec<StateID>,
    /// The index of each state in `members`, if it is a member.
    indices: Vec<usize>,
}

impl StateSet {
    fn new(states: usize) -> StateSet {
        StateSet { members: Vec::new(), indices: vec![0; states] }
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

    /// Adds a state; returns false if it was a member already.
    fn insert(&mut self, state: StateID) -> bool {
        let index = &mut self.indices[state.as_usize()];
        if self.members.get(*index) == Some(&state) {
            return false;
        }
        *index = self.members.len();
        self.members.push(state);
        true
    }
}
