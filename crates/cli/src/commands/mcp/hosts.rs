//! How long answers may be for each client, by the name that it gives itself.
//!
//! A client that cuts an answer shows the model less than the session counts as shown. So each
//! limit is below that of the client, and leaves room for the notes below an answer.

use hashline_tools::AnswerLimits;

/// The limits for all other clients: what the strictest of the common ones accepts.
const OTHERS: AnswerLimits = AnswerLimits { answer_bytes: 40_000, error_bytes: 8_000 };

/// A client with its own limits.
struct Host {
    /// How its name begins.
    name: &'static str,
    limits: AnswerLimits,
}

const HOSTS: [Host; 3] = [
    // Seen in @anthropic-ai/claude-code 2.1.332: results over 50,000 characters go to a file, and
    // errors over about 10,000 characters are cut in the middle.
    Host { name: "claude", limits: OTHERS },
    // codex-rs, `TruncationPolicy`: keeps 10,000 tokens of 4 bytes, for some models 10,000 bytes, of
    // a tool's output, and cuts the middle (openai/codex#7906).
    Host { name: "codex", limits: AnswerLimits { answer_bytes: 7_500, error_bytes: 7_500 } },
    // gemini-cli, `DEFAULT_TRUNCATE_TOOL_OUTPUT_THRESHOLD`: 40,000 characters.
    Host { name: "gemini", limits: AnswerLimits { answer_bytes: 37_000, error_bytes: 37_000 } },
];

/// The limits for a client.
pub fn limits(client: Option<&str>) -> AnswerLimits {
    let is_named = |host: &&Host| client.is_some_and(|client| client.starts_with(host.name));
    HOSTS.iter().find(is_named).map_or(OTHERS, |host| host.limits)
}
