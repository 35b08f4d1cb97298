//! The registers that a session keeps from one patch to the next, within limits.

use std::sync::Arc;

/// The number of registers that are kept: those that were filled last.
const MAX_REGISTERS: usize = 64;

/// The limit for the text of all registers together.
const MAX_BYTES: usize = 4 << 20;

/// Lines by the names of registers, oldest first.
#[derive(Clone, Debug, Default)]
pub struct Registers(Vec<(String, Arc<[String]>)>);

impl Registers {
    /// The lines in a register.
    pub fn get(&self, name: &str) -> Option<&Arc<[String]>> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, lines)| lines)
    }

    /// The names of the filled registers.
    pub fn names(&self) -> impl Iterator<Item = &String> {
        self.0.iter().map(|(name, _)| name)
    }

    /// Fills a register. Over the limits, the oldest ones are dropped.
    pub fn keep(&mut self, name: String, lines: Vec<String>) {
        self.0.retain(|(known, _)| *known != name);
        self.0.push((name, lines.into()));
        while self.0.len() > MAX_REGISTERS || self.bytes() > MAX_BYTES {
            self.0.remove(0);
        }
    }

    /// The memory of all registers.
    pub fn bytes(&self) -> usize {
        let line_bytes = |line: &String| size_of::<String>() + line.len();
        let bytes = |(name, lines): &(String, Arc<[String]>)| {
            name.len() + lines.iter().map(line_bytes).sum::<usize>()
        };
        self.0.iter().map(bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_registers_are_dropped() {
        let mut registers = Registers::default();
        for at in 0..100 {
            registers.keep(format!("r{}", at % 80), vec![at.to_string()]);
        }
        assert_eq!(registers.names().count(), MAX_REGISTERS);
        assert!(registers.get("r19").is_some_and(|lines| lines[0] == "99"));
        assert!(registers.get("r20").is_none());
        registers.keep("large".to_owned(), vec!["x".repeat(MAX_BYTES / 2)]);
        assert!(registers.get("large").is_some() && registers.get("r79").is_some());
        registers.keep("too large".to_owned(), vec!["x".repeat(MAX_BYTES)]);
        assert_eq!((registers.names().count(), registers.bytes()), (0, 0));
    }
}
