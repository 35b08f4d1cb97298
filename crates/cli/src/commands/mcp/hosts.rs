//! How long answers may be for each client, by the name that it gives itself.
//!
//! A client that cuts an answer shows the model less than the session counts as shown. So each
//! limit is below that of the client, and leaves room for the notes below an answer.

use hashline_core::host::{ANSWER_LIMIT_BYTES, ANSWER_LIMIT_LINES};
use hashline_tools::AnswerLimits;

/// The limits for all other clients: what the strictest of the common ones accepts. Cursor is one of
/// them: its service sets `mcpFileOutputThresholdBytes` (@cursor/sdk 1.0.18), above which a result
/// goes to a file. oh-my-pi (18.1.21, `mcp/tool-bridge.ts`) cuts nothing.
const MOST: AnswerLimits = AnswerLimits { answer_bytes: 40_000, error_bytes: 8_000, lines: LINES };

const LINES: usize = ANSWER_LIMIT_LINES as usize;

/// What a client is asked to accept, by `_meta["anthropic/maxResultSizeChars"]` of a tool: more than
/// any answer has. In @anthropic-ai/claude-code 2.1.332 it replaces the 50,000 characters below.
pub const MAX_RESULT_CHARS: usize = 2 * ANSWER_LIMIT_BYTES;

/// A client with its own limits.
struct Host {
    /// Its name, or the words with which its name begins.
    name: &'static str,
    limits: AnswerLimits,
}

const HOSTS: [Host; 6] = [
    // Seen in @anthropic-ai/claude-code 2.1.332: results over 50,000 characters go to a file, and
    // errors over about 10,000 characters are cut in the middle.
    Host { name: "claude", limits: MOST },
    // codex-rs, `TruncationPolicy`: keeps 10,000 tokens of 4 bytes, for some models 10,000 bytes, of
    // a tool's output, and cuts the middle (openai/codex#7906).
    Host {
        name: "codex",
        limits: AnswerLimits { answer_bytes: 7_500, error_bytes: 7_500, ..MOST },
    },
    // @google/gemini-cli 0.61.0, `DEFAULT_TRUNCATE_TOOL_OUTPUT_THRESHOLD`: 40,000 characters.
    Host {
        name: "gemini",
        limits: AnswerLimits { answer_bytes: 37_000, error_bytes: 37_000, ..MOST },
    },
    // Seen in @qwen-code/qwen-code 0.24.4, `DEFAULT_TRUNCATE_TOOL_OUTPUT_THRESHOLD`: results over
    // 25,000 characters go to a file.
    Host { name: "qwen", limits: AnswerLimits { answer_bytes: 23_000, ..MOST } },
    // @earendil-works/pi-mcp 1.6.0, `MCP_OUTPUT_MAX_BYTES`: 20 KiB; it cuts the middle.
    Host { name: "pi", limits: AnswerLimits { answer_bytes: 19_000, ..MOST } },
    // opencode 1.18.33, `Truncate`: keeps 2,000 lines and 51,200 bytes, and an answer has notes in
    // addition to its lines.
    Host { name: "opencode", limits: AnswerLimits { lines: 1_900, ..MOST } },
];

/// The limits for a client.
pub fn limits(client: Option<&str>) -> AnswerLimits {
    let is_named = |host: &&Host| {
        let rest = client.and_then(|client| client.strip_prefix(host.name));
        rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    };
    HOSTS.iter().find(is_named).map_or(MOST, |host| host.limits)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `pieces` had the limits of pi.
    #[test]
    fn regression_a_client_is_known_by_whole_words_of_its_name() {
        let bytes = |client: &str| limits(Some(client)).answer_bytes;
        for (client, known) in [("pi", 19_000), ("qwen-cli-mcp-client-hashline", 23_000)] {
            assert_eq!(bytes(client), known, "{client}");
        }
        assert_eq!((bytes("codex"), bytes("codex_vscode")), (7_500, 7_500));
        for client in ["pieces", "pi2", "piñata", "codexes", "my-pi", ""] {
            assert_eq!(bytes(client), MOST.answer_bytes, "{client}");
        }
    }
}
