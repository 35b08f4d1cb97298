//! `mcp`: a client that talks to the program over pipes.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::support::{Project, exists};
use serde_json::{Value, json};

/// A client that exchanges single messages.
pub(crate) struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    last_id: u64,
    /// The roots that it returns on request.
    roots: Vec<String>,
    /// The notifications that it received.
    notices: Vec<Value>,
}

/// The answer of a tool.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) is_error: bool,
    result: Value,
}

impl Client {
    /// Starts the program, without a handshake.
    fn start(project: &Project, args: &[&str]) -> Client {
        let mut command = project.command(&["mcp"]);
        command.args(args);
        Client::of(command)
    }

    pub(crate) fn of(mut command: Command) -> Client {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Client { child, stdin, stdout, last_id: 0, roots: Vec::new(), notices: Vec::new() }
    }

    /// Starts the program, with the handshake.
    pub(crate) fn connect(project: &Project, args: &[&str]) -> Client {
        let mut client = Client::start(project, args);
        client.shake_hands(&json!({}));
        client
    }

    pub(crate) fn shake_hands(&mut self, capabilities: &Value) -> Value {
        self.shake_hands_as("test", capabilities)
    }

    fn shake_hands_as(&mut self, name: &str, capabilities: &Value) -> Value {
        let answer = self.request(
            "initialize",
            &json!({
                "protocolVersion": "2025-11-25",
                "capabilities": capabilities,
                "clientInfo": {"name": name, "version": "1"},
            }),
        );
        self.notify("notifications/initialized", &json!({}));
        answer["result"].clone()
    }

    /// Sends one line, which may be invalid.
    fn say(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
        stdin.flush().unwrap();
    }

    fn notify(&mut self, method: &str, params: &Value) {
        self.say(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }

    /// Sends a request and does not wait; returns its id.
    fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.say(&message.to_string());
        id
    }

    /// The next message. All output must be protocol messages.
    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}"));
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        message
    }

    /// The answer to a request. Notifications are collected, and requests for roots are answered;
    /// other answers are unexpected.
    fn answer_to(&mut self, id: u64) -> Value {
        loop {
            let message = self.next();
            if message["method"] == "roots/list" {
                let roots: Vec<Value> = self
                    .roots
                    .iter()
                    .map(|path| json!({"uri": format!("file://{path}")}))
                    .collect();
                let answer = json!({
                    "jsonrpc": "2.0", "id": message["id"], "result": {"roots": roots},
                });
                self.say(&answer.to_string());
            } else if message.get("method").is_some() {
                self.notices.push(message);
            } else {
                assert_eq!(message["id"], id, "{message}");
                return message;
            }
        }
    }

    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        self.answer_to(id)
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Answer {
        let message = self.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        answer_of(&message)
    }

    pub(crate) fn read(&mut self, path: &str) -> Answer {
        self.call("read", &json!({"path": path}))
    }

    pub(crate) fn set_line(&mut self, path: &str, anchor: &str, text: &str) -> Answer {
        let operation = json!({"op": "set_line", "path": path, "anchor": anchor, "text": text});
        self.call("apply", &json!({"operations": [operation]}))
    }

    /// Closes the program's input, and returns its exit code and the rest of its output.
    pub(crate) fn leave(mut self) -> (Option<i32>, String, String) {
        drop(self.stdin.take());
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut self.stdout, &mut rest).unwrap();
        let output = self.child.wait_with_output().unwrap();
        (output.status.code(), rest, String::from_utf8(output.stderr).unwrap())
    }
}

fn answer_of(message: &Value) -> Answer {
    let result = message["result"].clone();
    let text = result["content"][0]["text"].as_str();
    let text = text.unwrap_or_else(|| panic!("{message}")).to_owned();
    Answer { text, is_error: result["isError"] == true, result }
}

/// Ended by the end of its input, with only protocol messages.
const QUIETLY: (Option<i32>, String, String) = (Some(0), String::new(), String::new());

const LINES: &str = "line 1\nline 2\nline 3\n";

#[test]
fn a_client_reads_is_refused_and_edits() {
    let project = Project::new(&[("a.txt", LINES)]);
    let mut client = Client::start(&project, &[]);
    let about = client.shake_hands(&json!({}));
    assert_eq!(about["protocolVersion"], "2025-11-25");
    assert_eq!(about["serverInfo"]["name"], "hashline");
    assert!(about["instructions"].as_str().unwrap().contains("read"));
    let shown = client.read("a.txt");
    assert_eq!(shown.text, "1ac|line 1\n2hv|line 2\n3tr|line 3");
    assert!(!shown.is_error);
    // Only text: some clients show the model the structured content instead.
    assert_eq!(shown.result.get("structuredContent"), None);
    assert_eq!(shown.result["content"].as_array().unwrap().len(), 1);
    let done = client.set_line("a.txt", "2hv", "line two");
    assert!(!done.is_error);
    assert!(done.text.starts_with("1 edit, +1 -1\n"), "{}", done.text);
    assert_eq!(project.content("a.txt"), "line 1\nline two\nline 3\n");
    // The old anchor is refused with the current line, and the anchor in the refusal is accepted.
    let stale = client.set_line("a.txt", "2hv", "line 2 again");
    assert!(stale.is_error);
    assert!(stale.text.starts_with("Nothing was written.\n"), "{}", stale.text);
    let row = stale.text.lines().find(|row| row.ends_with("|line two")).unwrap().to_owned();
    assert!(!client.set_line("a.txt", &row, "line 2 again").is_error);
    assert_eq!(project.content("a.txt"), "line 1\nline 2 again\nline 3\n");
    assert_eq!(client.leave(), QUIETLY);
}

#[test]
fn each_call_has_a_line_in_the_usage_log() {
    let project = Project::new(&[("a.txt", LINES)]);
    let log = project.path("log");
    let mut command = project.command(&["mcp"]);
    command.env("HASHLINE_USAGE_LOG", &log);
    let mut client = Client::of(command);
    client.shake_hands(&json!({}));
    client.read("a.txt");
    client.read("secret-name");
    client.set_line("a.txt", "2hv", "line two");
    client.set_line("a.txt", "2zz", "line two");
    client.call("search", &json!(5));
    client.request("tools/call", &json!({"name": "secret-name", "arguments": {}}));
    client.leave();
    let log = project.content("log");
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (last, calls) = lines.split_last().unwrap();
    let logged: Vec<_> = calls.iter().map(|line| [&line["tool"], &line["code"]]).collect();
    let expected = json!([
        ["read", "OK"],
        ["read", "FILE_NOT_FOUND"],
        ["apply", "OK"],
        ["apply", "HASH_MISMATCH"],
        ["search", "INVALID_ARGUMENT"],
        [null, "INVALID_ARGUMENT"]
    ]);
    assert_eq!(json!(logged), expected);
    assert!(lines.iter().all(|line| line["command"] == "mcp" && line["timeMs"].is_u64()));
    // The last line is that of the command.
    assert_eq!(last["exitCode"], 0);
    assert!(!log.contains("secret-name"));
}

#[test]
fn regression_an_unquoted_number_is_the_anchor_of_a_blank_line() {
    let project = Project::new(&[("a.txt", "one\n\nthree\n\n")]);
    let mut client = Client::start(&project, &["--dialect", "lean"]);
    client.shake_hands(&json!({}));
    let tools = client.request("tools/list", &json!({}))["result"]["tools"].clone();
    let described = tools[0]["description"].as_str().unwrap();
    assert!(described.contains("; a blank line as 10|"), "{described}");
    let shown = client.read("a.txt").text;
    assert!(shown.contains("\n2|\n"), "{shown}");
    let edit = |anchor: Value| {
        let operation = json!({"op": "set_line", "path": "a.txt", "anchor": anchor, "text": "x"});
        json!({"operations": [operation]})
    };
    let done = client.call("apply", &edit(json!(2)));
    assert!(done.text.contains("operations[0].anchor: taken as 2"), "{}", done.text);
    assert_eq!(project.content("a.txt"), "one\nx\nthree\n\n");
    for (anchor, expected) in [
        (json!(1), "Line 1 was not shown as a blank line"),
        (json!(2.5), "is the number 2.5"),
        (json!(-4), "is the number -4"),
    ] {
        let refused = client.call("apply", &edit(anchor));
        assert!(refused.is_error && refused.text.contains(expected), "{}", refused.text);
    }
    client.leave();
}

/// Keywords that no schema may have at any level, because some vendors refuse them.
const FORBIDDEN: &[&str] = &[
    "oneOf",
    "anyOf",
    "allOf",
    "not",
    "$ref",
    "$defs",
    "definitions",
    "const",
    "if",
    "patternProperties",
    "additionalProperties",
];

fn check_schema(schema: &Value, place: &str) {
    let fields = schema.as_object().unwrap();
    for forbidden in FORBIDDEN {
        assert!(!fields.contains_key(*forbidden), "{place}: {forbidden}");
    }
    let kind = fields["type"].as_str().unwrap_or_else(|| panic!("{place}: {schema}"));
    assert!(["object", "array", "string", "integer", "boolean"].contains(&kind), "{place}: {kind}");
    if let Some(allowed) = fields.get("enum") {
        assert_eq!(kind, "string", "{place}");
        assert!(allowed.as_array().unwrap().iter().all(Value::is_string), "{place}");
    }
    if kind == "array" {
        check_schema(&fields["items"], &format!("{place}[]"));
    }
    if kind == "object" {
        let properties = fields["properties"].as_object().unwrap();
        for (name, property) in properties {
            check_schema(property, &format!("{place}.{name}"));
        }
        for required in fields["required"].as_array().unwrap() {
            assert!(properties.contains_key(required.as_str().unwrap()), "{place}: {required}");
        }
    }
}

#[test]
fn schemas_are_accepted_by_every_vendor() {
    let project = Project::new(&[]);
    let mut client = Client::connect(&project, &["--json-tools"]);
    let listed = client.request("tools/list", &json!({}))["result"]["tools"].clone();
    let tools = listed.as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["read", "search", "apply", "read_json", "apply_json"]);
    for tool in tools {
        let name = tool["name"].as_str().unwrap();
        check_schema(&tool["inputSchema"], name);
        assert!(tool["description"].as_str().unwrap().len() > 100, "{name}");
        assert_eq!(tool["_meta"]["anthropic/alwaysLoad"], true, "{name}");
        // More than any answer has.
        assert_eq!(tool["_meta"]["anthropic/maxResultSizeChars"], 102_400, "{name}");
        let writes = name.starts_with("apply");
        let hints = json!({
            "title": tool["title"],
            "readOnlyHint": !writes,
            "destructiveHint": writes,
            "idempotentHint": !writes,
            "openWorldHint": false,
        });
        assert_eq!(tool["annotations"], hints, "{name}");
    }
    // Models write fields in the order of the schema.
    let operation = &tools[2]["inputSchema"]["properties"]["operations"]["items"];
    let fields: Vec<&String> = operation["properties"].as_object().unwrap().keys().collect();
    assert_eq!(fields[..3], ["op", "path", "anchor"]);
    assert_eq!(client.leave(), QUIETLY);
}

#[test]
fn other_messages_are_refused_or_ignored() {
    let project = Project::new(&[("a.txt", LINES)]);
    let mut client = Client::connect(&project, &[]);
    let unknown = client.request("tools/call", &json!({"name": "fly"}));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    let nameless = client.request("tools/call", &json!({"arguments": {}}));
    assert_eq!(nameless["error"]["code"], -32602, "{nameless}");
    assert_eq!(client.request("fly", &json!({}))["error"]["code"], -32601);
    for line in ["nonsense", "{\"a\":", "\"\\ud800\"", "", "\u{0}"] {
        client.say(line);
    }
    assert_eq!(client.read("a.txt").text.lines().count(), 3);
    assert_eq!(project.content("a.txt"), LINES);
    assert_eq!(client.leave(), QUIETLY);
}

#[test]
fn regression_every_request_with_an_id_is_answered() {
    let project = Project::new(&[("a.txt", LINES)]);
    let mut client = Client::connect(&project, &[]);
    let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
    let cases = [
        ("read", "{\"path\": \"\\ud83d\"}".to_owned(), "UNENCODABLE_TEXT: "),
        ("read", "{\"path\": \"a.txt\", \"start_line\": 1e999}".to_owned(), "the number Infinity"),
        ("read", format!("{{\"path\": {deep}}}"), "nest deeper than 64 levels"),
        (
            "apply",
            "{\"operations\": [{\"op\": \"add_file\", \"path\": \"b\", \"content\": \"\\ud83d\"}]}"
                .to_owned(),
            "Nothing was written.\n",
        ),
        (
            "apply",
            format!("{{\"operations\": [{{\"op\": \"set_line\", \"text\": {deep}}}]}}"),
            "Nothing was written.\napply: the arguments nest",
        ),
    ];
    for (id, (tool, arguments, part)) in (1_000..).zip(cases) {
        client.say(&format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"{tool}\",\"arguments\":{arguments}}}}}"
        ));
        let refused = answer_of(&client.answer_to(id));
        assert!(refused.is_error && refused.text.contains(part), "{}", refused.text);
    }
    client.say(
        "{\"jsonrpc\":\"2.0\",\"id\":2000,\"method\":\"tools/list\",\"params\":{\"a\":1e999}}",
    );
    assert_eq!(client.answer_to(2000)["error"]["code"], -32700);
    // Slightly shorter than the longest message.
    let content = "x".repeat(15 << 20);
    let operation = json!({"op": "add_file", "path": "b.txt", "content": content});
    let done = client.call("apply", &json!({"operations": [operation]}));
    assert!(!done.is_error, "{}", done.text);
    assert_eq!(project.content("b.txt").len(), content.len());
    assert_eq!(client.leave(), QUIETLY);
}

#[test]
fn regression_a_refusal_has_the_id_of_its_request() {
    let project = Project::new(&[("a.txt", LINES)]);
    // Before the handshake and after it.
    let mut client = Client::start(&project, &[]);
    let initialize =
        |params: &str| format!("\"id\":1,\"method\":\"initialize\",\"params\":{params}");
    for (message, part) in [
        (initialize("[]"), "params is an array: expected an object"),
        (initialize("{}"), "initialize: missing field `protocolVersion`"),
        (initialize("{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{}}"), "`clientInfo`"),
        ("\"id\":1,\"method\":\"tools/call\",\"params\":[1]".to_owned(), "params is an array"),
    ] {
        client.say(&format!("{{\"jsonrpc\":\"2.0\",{message}}}"));
        let refused = client.answer_to(1);
        let says = refused["error"]["message"].as_str().unwrap();
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
        assert!(says.contains(part), "{refused}");
    }
    client.shake_hands(&json!({}));
    let (request, params) = (-32600, -32602);
    let read = "\"method\":\"tools/call\",\"params\":{\"name\":\"read\",\"arguments\":{\"path\":\"a.txt\"}";
    for (id, rest, code, part) in [
        (
            "907",
            "\"method\":\"tools/call\",\"params\":[1]",
            params,
            "params is an array: expected an object",
        ),
        ("\"x\"", "\"method\":\"tools/call\",\"params\":\"x\"", params, "params is a string"),
        ("1", "\"method\":\"tools/call\",\"params\":5", params, "params is a number"),
        (
            "1",
            "\"method\":\"tools/call\",\"params\":{\"name\":5}",
            params,
            "params.name is a number: expected the name of a tool",
        ),
        ("1", "\"method\":\"tools/call\",\"params\":null", params, "params.name is missing"),
        ("1", "\"method\":\"ping\",\"params\":[]", params, "params is an array"),
        ("1", "\"method\":\"tools/list\",\"params\":true", params, "params is a boolean"),
        (
            "1",
            &format!("{read},\"_meta\":5}}"),
            params,
            "params._meta is a number: expected an object",
        ),
        ("1", &format!("{read},\"_meta\":\"x\"}}"), params, "params._meta is a string"),
        ("1", &format!("{read},\"_meta\":[],\"a\":1e999}}"), params, "params._meta is an array"),
        ("1", "\"method\":5", request, "method is a number: expected a string"),
        ("1", "\"params\":{}", request, "method is missing"),
        (
            "1",
            "\"method\":\"ping\",\"result\":{}",
            request,
            "a message with method must not have result",
        ),
        (
            "1",
            "\"method\":\"ping\",\"error\":{\"code\":1,\"message\":\"x\"}",
            request,
            "a message with method must not have error",
        ),
        ("1", "\"method\":\"ping\",\"method\":\"ping\"", request, "method is duplicated"),
        ("1", "\"method\":\"ping\",\"\\u0069d\":1", request, "id is duplicated"),
        ("1.5", "\"method\":\"ping\"", request, "id is 1.5: expected a whole number or a string"),
        ("1e300", "\"method\":\"ping\"", request, "id is 1e300: expected a whole number"),
    ] {
        client.say(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{rest}}}"));
        let refused = client.next();
        assert_eq!(refused["id"], serde_json::from_str::<Value>(id).unwrap(), "{rest}: {refused}");
        assert_eq!(refused["error"]["code"], code, "{rest}: {refused}");
        assert!(refused["error"]["message"].as_str().unwrap().contains(part), "{rest}: {refused}");
    }
    for (message, part) in [
        ("{\"id\":1,\"method\":\"ping\"}", "jsonrpc is missing: expected \"2.0\""),
        (
            "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}",
            "jsonrpc is \"1.0\": expected \"2.0\"",
        ),
        ("{\"jsonrpc\":2.0,\"id\":1,\"method\":\"ping\"}", "jsonrpc is 2.0: expected \"2.0\""),
    ] {
        client.say(message);
        let refused = client.answer_to(1);
        assert_eq!(refused["error"]["code"], request, "{refused}");
        assert!(refused["error"]["message"].as_str().unwrap().contains(part), "{refused}");
    }
    // Without a valid id, the error has none.
    for message in [
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":{\"a\":1},\"method\":\"ping\"}",
        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]",
    ] {
        client.say(message);
        let refused = client.next();
        assert_eq!(
            (refused.get("id"), &refused["error"]["code"]),
            (None, &json!(request)),
            "{refused}"
        );
    }
    // Other invalid messages are not answered.
    for message in [
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":[]}",
        "{\"jsonrpc\":\"2.0\",\"method\":5}",
        "{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":5}",
        "{\"jsonrpc\":\"2.0\",\"id\":77,\"error\":5}",
    ] {
        client.say(message);
    }
    // Optional members may be null.
    client.say("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\",\"params\":null}");
    assert_eq!(client.answer_to(2)["result"], json!({}));
    client.say(&format!("{{\"jsonrpc\":\"2.0\",\"id\":3,{read},\"_meta\":null}}}}"));
    assert!(!answer_of(&client.answer_to(3)).is_error);
    // The last message before the end of input is answered, too.
    client.say("{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":5}");
    let (code, rest, _) = client.leave();
    assert!(code == Some(0) && rest.contains("\"id\":4"), "{rest}");
}

#[test]
fn forbidden_operations_are_neither_offered_nor_applied() {
    let project = Project::new(&[("a.txt", LINES)]);
    let mut client = Client::connect(&project, &["--operations", "set_line,insert_after"]);
    let tools = client.request("tools/list", &json!({}))["result"]["tools"].clone();
    let names: Vec<&Value> = tools.as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["read", "search", "apply"]);
    let op = &tools[2]["inputSchema"]["properties"]["operations"]["items"]["properties"]["op"];
    assert_eq!(op["enum"], json!(["set_line", "insert_after"]));
    client.read("a.txt");
    let delete = json!({"operations": [{"op": "delete_file", "path": "a.txt"}]});
    let refused = client.call("apply", &delete);
    assert!(refused.is_error && refused.text.contains("delete_file"), "{}", refused.text);
    assert!(project.content("a.txt") == LINES);
    let call = json!({"name": "apply_json", "arguments": {}});
    let message = client.request("tools/call", &call)["error"]["message"].clone();
    assert!(message.as_str().unwrap().ends_with("Use one of read, search, apply."), "{message}");
    client.leave();
    let mut client = Client::connect(&project, &["--operations", "set_path"]);
    let tools = client.request("tools/list", &json!({}))["result"]["tools"].clone();
    assert_eq!(tools.as_array().unwrap().last().unwrap()["name"], "apply_json");
    client.leave();
    let wrong = project.run(&["mcp", "--operations", "set_lin"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("--operations: there is no operation"), "{}", wrong.stderr);
    let patches = project.run(&["mcp", "--dialect", "omp18", "--operations", "set_line"]);
    assert_eq!(patches.code, Some(2), "{}", patches.stderr);
}

#[test]
fn regression_script_patches_create_files() {
    let project = Project::new(&[("a.txt", LINES)]);
    let mut client = Client::connect(&project, &["--dialect", "omp18"]);
    let missing = client.call("apply", &json!({"patch": "[new/b.txt#1A2B]\nPUT >$:\n+one"}));
    let advice = "To create a file, call apply with its path and content.";
    assert!(missing.is_error && missing.text.ends_with(advice), "{}", missing.text);
    let bare = client.call("apply", &json!({"patch": "[new/b.txt]\nPUT >$:\n+one"}));
    assert!(bare.is_error && bare.text.ends_with(advice), "{}", bare.text);
    let made = client.call("apply", &json!({"path": "new/b.txt", "content": "one\ntwo\n"}));
    assert!(!made.is_error, "{}", made.text);
    assert_eq!(project.content("new/b.txt"), "one\ntwo\n");
    // The tag in the answer makes the file known.
    let header = made.text.lines().next().unwrap();
    assert!(header.starts_with("[new/b.txt#"), "{}", made.text);
    let edited = client.call("apply", &json!({"patch": format!("{header}\nPUT 2.=2:\n+TWO")}));
    assert!(!edited.is_error, "{}", edited.text);
    assert_eq!(project.content("new/b.txt"), "one\nTWO\n");
    let taken = client.call("apply", &json!({"path": "a.txt", "content": "x\n"}));
    assert!(taken.is_error && taken.text.contains("FILE_EXISTS"), "{}", taken.text);
    for wrong in [
        json!({"path": "c.txt"}),
        json!({"content": "x"}),
        json!({"patch": "[a.txt#1A2B]\nREM", "path": "c.txt", "content": "x"}),
    ] {
        let refused = client.call("apply", &wrong);
        let message = "give either patch, or path and content to create a file";
        assert!(refused.is_error && refused.text.contains(message), "{}", refused.text);
    }
    assert!(project.content("a.txt") == LINES);
    // Strict harnesses send all fields.
    let all = json!({"patch": "", "path": "c.txt", "content": ""});
    assert!(!client.call("apply", &all).is_error);
    assert_eq!(project.content("c.txt"), "");
    client.leave();
}

#[test]
fn regression_a_duplicate_key_is_refused() {
    let project = Project::new(&[("a.txt", LINES), ("a.json", "{\"a\":1}")]);
    let mut client = Client::connect(&project, &["--json-tools", "--structured"]);
    let delete = r#"{"op": "delete", "path": "a.txt", "anchor": "1ac""#;
    for (tool, arguments, part) in [
        (
            "apply",
            format!(r#"{{"operations": [{delete}}}], "operations": []}}"#),
            r#"INVALID_ARGUMENT: the outer object has the key "operations" twice"#,
        ),
        (
            "apply",
            format!(r#"{{"operations": [{delete}, "anchor": "2hv"}}]}}"#),
            r#"operations[0] has the key "anchor" twice: give it once"#,
        ),
        (
            "apply",
            r#"{"operations": "[{\"op\": \"delete\", \"path\": \"a.txt\", \"path\": \"b\", \"anchor\": \"1ac\"}]"}"#
                .to_owned(),
            r#"operations: [0] has the key "path" twice"#,
        ),
        (
            "apply_json",
            r#"{"operations": [{"op": "set_path", "path": "a.json", "anchor": "$.a:b2", "value": "{\"x\": 1, \"x\": 2}"}]}"#
                .to_owned(),
            r#"has the key "x" twice"#,
        ),
        ("read", r#"{"path": "a.txt", "path": "b"}"#.to_owned(), r#"the key "path" twice"#),
    ] {
        client.say(&format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
        ));
        let refused = answer_of(&client.answer_to(1));
        assert!(refused.is_error && refused.text.contains(part), "{}", refused.text);
    }
    for params in
        [r#"{"name": "read", "name": "apply"}"#, r#"{"name": "read", "_meta": {"a": 1, "a": 2}}"#]
    {
        client
            .say(&format!(r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{params}}}"#));
        let refused = client.answer_to(2);
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
        assert!(refused["error"]["message"].as_str().unwrap().contains("twice"), "{refused}");
    }
    assert_eq!(project.content("a.txt"), LINES);
}

#[test]
fn structured_content_is_added_on_request() {
    let project = Project::new(&[("a.txt", LINES)]);
    let mut client = Client::connect(&project, &["--structured"]);
    let shown = client.read("a.txt");
    assert!(shown.text.starts_with("1ac|line 1\n"));
    let structure = &shown.result["structuredContent"];
    assert_eq!(structure["files"][0]["lineCount"], 3);
    assert_eq!(structure["truncated"], false);
    let stale = client.set_line("a.txt", "1aa", "x");
    assert_eq!(stale.result["structuredContent"]["status"], "rejected");
    assert_eq!(stale.result["structuredContent"]["code"], "HASH_MISMATCH");
    let wrong = client.call("search", &json!({}));
    assert_eq!(
        wrong.result["structuredContent"],
        json!({"code": "INVALID_ARGUMENT", "repairs": []})
    );
}

#[test]
fn images_are_returned_as_images() {
    let project = Project::new(&[]);
    let pixel = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0";
    project.write("dot.png", pixel);
    let mut client = Client::connect(&project, &[]);
    let shown = client.read("dot.png");
    assert_eq!(shown.result["content"][1]["type"], "image");
    assert_eq!(shown.result["content"][1]["mimeType"], "image/png");
    let data = shown.result["content"][1]["data"].as_str().unwrap();
    assert!(data.starts_with("iVBORw0KGgo"), "{data}");
}

#[test]
fn the_command_line_names_the_roots() {
    let project = Project::new(&[("x/a.txt", "a\n"), ("y/b.txt", "b\n"), ("c.txt", "c\n")]);
    let mut client = Client::start(&project, &["x", "y"]);
    client.roots = vec![project.path("").to_str().unwrap().to_owned()];
    client.shake_hands(&json!({"roots": {}}));
    assert!(client.read("a.txt").text.ends_with("|a"));
    let other = project.path("y/b.txt").to_str().unwrap().to_owned();
    let shown = client.read(&other);
    assert!(shown.text.ends_with("|b"), "{}", shown.text);
    assert!(client.read("../c.txt").text.starts_with("OUTSIDE_ROOT"));
    // The other roots are only for reading.
    let refused = client.set_line(&other, &shown.text, "B");
    assert!(refused.is_error && refused.text.contains("OUTSIDE_ROOT"), "{}", refused.text);
    assert_eq!(client.leave(), QUIETLY);
    let missing = project.run(&["mcp", "none"]);
    assert_eq!((missing.code, missing.stdout.as_str()), (Some(2), ""));
    assert!(missing.stderr.contains("none"), "{}", missing.stderr);
    assert_eq!(project.run(&["mcp", "c.txt"]).code, Some(2));
}

/// The message only named the option `max_file_bytes`, which no tool has.
#[test]
fn regression_the_shell_may_read_a_file_that_is_too_large() {
    let project = Project::new(&[]);
    let huge = fs::File::create(project.path("huge.txt")).unwrap();
    huge.set_len((1 << 30) + 1).unwrap();
    let mut client = Client::start(&project, &[]);
    client.shake_hands(&json!({}));
    let text = client.read("huge.txt").text;
    let end = "(option max_file_bytes)\n\
               (max_file_bytes is an option of the host, not of this call: use the shell for this file.)";
    assert!(text.starts_with("FILE_TOO_LARGE") && text.ends_with(end), "{text}");
    assert_eq!(client.leave(), QUIETLY);
}

#[test]
fn read_roots_apply_to_all_roots() {
    let project = Project::new(&[("x/a.txt", "a\n"), ("out/log.txt", "l\n"), ("c.txt", "c\n")]);
    let path_of = |name: &str| project.path(name).to_str().unwrap().to_owned();
    let mut client = Client::start(&project, &["--read-root", "out", "--read-root=~/none"]);
    client.roots = vec![path_of("x")];
    client.shake_hands(&json!({"roots": {}}));
    let log = path_of("out/log.txt");
    let shown = client.read(&log);
    assert!(shown.text.ends_with("|l"), "{}", shown.text);
    let outside = client.read("../c.txt").text;
    let reach = format!("(read works on files in {}, {}, ", path_of("x"), path_of("out"));
    assert!(outside.starts_with("OUTSIDE_ROOT") && outside.contains(&reach), "{outside}");
    let refused = client.set_line(&log, &shown.text, "L");
    assert!(refused.text.contains("; read also reads files in "), "{}", refused.text);
    assert_eq!(client.leave(), QUIETLY);
}

#[test]
fn the_client_names_the_roots() {
    let project = Project::new(&[("x/a.txt", "a\n"), ("y/a.txt", "b\n"), ("a.txt", "c\n")]);
    let path_of = |name: &str| project.path(name).to_str().unwrap().to_owned();
    let mut client = Client::start(&project, &[]);
    client.roots = vec![path_of("x")];
    client.shake_hands(&json!({"roots": {"listChanged": true}}));
    assert!(client.read("a.txt").text.ends_with("|a"));
    assert!(client.read("../a.txt").text.starts_with("OUTSIDE_ROOT"));
    client.roots = vec![path_of("y")];
    client.notify("notifications/roots/list_changed", &json!({}));
    assert!(client.read("a.txt").text.ends_with("|b"));
    assert_eq!(client.leave(), QUIETLY);
    // A client without roots works in the directory where the program was started.
    let mut client = Client::start(&project, &[]);
    client.shake_hands(&json!({"roots": {}}));
    assert!(client.read("a.txt").text.ends_with("|c"));
    assert!(client.read("../a.txt").text.starts_with("OUTSIDE_ROOT"));
}

/// Agents cut long answers, and what they had cut counted as shown: Claude Code keeps 50,000
/// characters of an answer and 10,000 of an error, Codex 10,000 bytes of any, Qwen Code 25,000
/// characters, pi 20 KiB.
#[test]
fn regression_answers_are_no_longer_than_the_client_takes() {
    let text: String =
        (1..=3_000).map(|number| format!("line {number} {}\n", "x".repeat(80))).collect();
    let unseen: Vec<_> = (1..=200)
        .map(|number| {
            let anchor = format!("{}zz", number * 10);
            json!({"op": "set_line", "path": "a.txt", "anchor": anchor, "text": "y"})
        })
        .collect();
    for (name, args, answer_bytes, error_bytes) in [
        ("claude-code", &[][..], 50_000, 10_000),
        ("codex-mcp-client", &[], 10_000, 10_000),
        ("qwen-cli-mcp-client-hashline", &[], 25_000, 10_000),
        ("pi", &[], 20_480, 10_000),
        ("unknown", &[], 50_000, 10_000),
        ("unknown", &["--max-answer-bytes", "5000"], 7_500, 7_500),
    ] {
        let project = Project::new(&[("a.txt", &text)]);
        let mut client = Client::start(&project, args);
        client.shake_hands_as(name, &json!({}));
        let refused = client.call("apply", &json!({"operations": unseen}));
        assert!(refused.is_error && refused.text.len() <= error_bytes, "{}", refused.text.len());
        let shown = client.read("a.txt").text;
        assert!((answer_bytes / 2..=answer_bytes).contains(&shown.len()), "{}", shown.len());
        assert!(shown.contains("Continue from line "), "{shown}");
        // What was not in the answer does not count as shown.
        let last = format!("3000{}", &shown.lines().next().unwrap()[1..3]);
        let last = json!({"op": "set_line", "path": "a.txt", "anchor": last, "text": "y"});
        let refused = client.call("apply", &json!({"operations": [last]}));
        assert!(refused.is_error && refused.text.contains("Not shown"), "{}", refused.text);
    }
}

/// opencode keeps 2,000 lines of an answer. The notes after the lines of a read took the place of
/// lines that counted as shown.
#[test]
fn regression_an_answer_has_fewer_lines_than_the_client_takes() {
    let text: String = (1..=3_000).map(|number| format!("{number}\n")).collect();
    for (name, max_lines) in [("opencode", 2_000), ("unknown", 2_010)] {
        let project = Project::new(&[("a.txt", &text), ("b.txt", "b\n"), ("c.txt", "c\n")]);
        let mut client = Client::start(&project, &[]);
        client.shake_hands_as(name, &json!({}));
        for answer in [
            client.read("a.txt"),
            client.call("read", &json!({"paths": ["b.txt", "c.txt", "a.txt"]})),
        ] {
            let lines = answer.text.split('\n').count();
            assert!((max_lines / 2..=max_lines).contains(&lines), "{name}: {lines}");
        }
        // What was not in the answer does not count as shown.
        let last = json!({"op": "delete", "path": "a.txt", "anchor": "2950aa"});
        let refused = client.call("apply", &json!({"operations": [last]}));
        assert!(refused.is_error && refused.text.contains("Not shown"), "{}", refused.text);
    }
}

/// A client that starts its servers in the home directory could read and write all of it.
#[test]
fn regression_without_a_project_nothing_in_the_home_directory_is_touched() {
    let project = Project::new(&[("a.txt", "a\n"), ("p/b.txt", "b\n")]);
    let home = project.path("").to_str().unwrap().trim_end_matches('/').to_owned();
    let start = |directory: &str, args: &[&str]| {
        let mut command = project.command(&["mcp"]);
        command.args(args).env("HOME", &home).current_dir(directory);
        Client::of(command)
    };
    for (directory, name) in [(home.as_str(), "the home directory"), ("/", "the root of the file")]
    {
        let mut client = start(directory, &[]);
        client.shake_hands(&json!({}));
        let path = format!("{home}/new.txt");
        let add = json!({"operations": [{"op": "add_file", "path": path, "content": "x"}]});
        for answer in [
            client.read("a.txt"),
            client.read(&format!("{home}/a.txt")),
            client.call("search", &json!({"query": "a"})),
            client.call("apply", &add),
        ] {
            assert!(answer.is_error && answer.text.contains(name), "{}", answer.text);
            assert!(answer.text.contains("`hashline mcp DIR`"), "{}", answer.text);
        }
        assert!(!exists(&project.path("new.txt")));
    }
    if cfg!(unix) {
        let mut command = project.command(&["mcp"]);
        command.env("HOME", "/usr/someone").current_dir("/usr");
        let mut client = Client::of(command);
        client.shake_hands(&json!({}));
        let answer = client.read("bin");
        let name = "the directory of all homes";
        assert!(answer.is_error && answer.text.contains(name), "{}", answer.text);
    }
    // Where the command line or the client names it, it is meant.
    let mut client = start("/", &[&home]);
    client.shake_hands(&json!({}));
    assert!(client.read("a.txt").text.ends_with("|a"));
    let mut client = start("/", &[]);
    client.roots = vec![home.clone()];
    client.shake_hands(&json!({"roots": {}}));
    assert!(client.read("a.txt").text.ends_with("|a"));
    let mut client = start(&format!("{home}/p"), &[]);
    client.shake_hands(&json!({}));
    assert!(client.read("b.txt").text.ends_with("|b"));
}

#[test]
fn roots_are_requested_while_many_calls_wait() {
    let project = Project::new(&[("sub/a.txt", LINES)]);
    let mut client = Client::start(&project, &[]);
    client.shake_hands(&json!({"roots": {}}));
    let read = json!({"name": "read", "arguments": {"path": "a.txt"}});
    let ids: Vec<u64> = (0..500).map(|_| client.send("tools/call", &read)).collect();
    let question = client.next();
    assert_eq!(question["method"], "roots/list");
    let root = json!({"uri": format!("file://{}", project.path("sub").display())});
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"roots": [root]}});
    client.say(&answer.to_string());
    for _ in ids {
        let answer = answer_of(&client.next());
        assert!(!answer.is_error, "{}", answer.text);
    }
    assert_eq!(client.leave(), QUIETLY);
}

#[test]
fn calls_work_without_a_handshake() {
    let project = Project::new(&[("a.txt", LINES)]);
    let mut client = Client::start(&project, &[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let about = client.request("server/discover", &json!({"_meta": meta}));
    let versions = about["result"]["supportedVersions"].to_string();
    assert!(versions.contains("2026-07-28") && versions.contains("2025-11-25"), "{about}");
    let listed = client.request("tools/list", &json!({"_meta": meta}));
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 3, "{listed}");
    let call =
        |name: &str, arguments: Value| json!({"name": name, "arguments": arguments, "_meta": meta});
    let shown = client.request("tools/call", &call("read", json!({"path": "a.txt"})));
    assert_eq!(shown["result"]["resultType"], "complete", "{shown}");
    assert!(answer_of(&shown).text.starts_with("1ac|line 1\n"));
    let operation = json!({"op": "delete", "path": "a.txt", "anchor": "2hv"});
    let done = client.request("tools/call", &call("apply", json!({"operations": [operation]})));
    assert!(!answer_of(&done).is_error, "{done}");
    assert_eq!(project.content("a.txt"), "line 1\nline 3\n");
    let refused = client.request("tools/call", &call("apply", json!([1])));
    assert_eq!(refused["result"]["resultType"], "complete", "{refused}");
    assert!(answer_of(&refused).text.starts_with("Nothing was written.\n"));
    assert_eq!(client.leave(), QUIETLY);
}

#[test]
fn progress_is_reported_on_request() {
    let project = Project::new(&[("a.txt", LINES)]);
    let mut client = Client::connect(&project, &[]);
    let arguments = json!({"pattern": "line"});
    let params = json!({"name": "search", "arguments": arguments, "_meta": {"progressToken": "t"}});
    client.request("tools/call", &params);
    assert!(!client.notices.is_empty());
    for notice in &client.notices {
        assert_eq!(notice["method"], "notifications/progress");
        assert_eq!(notice["params"]["progressToken"], "t");
    }
    client.notices.clear();
    client.call("search", &arguments);
    assert!(client.notices.is_empty(), "{:?}", client.notices);
}

/// Holds the locks of files that were edited.
fn hold_locks(project: &Project) -> Vec<fs::File> {
    let entries = fs::read_dir(project.state().join("hashline/locks")).into_iter().flatten();
    let held: Vec<_> =
        entries.map(|entry| fs::File::open(entry.unwrap().path()).unwrap()).collect();
    held.iter().for_each(|file| file.lock().unwrap());
    held
}

#[test]
fn a_cancelled_call_changes_nothing_and_blocks_no_other_call() {
    let project = Project::new(&[("a.txt", LINES)]);
    let mut client = Client::connect(&project, &["--lock-timeout", "600000"]);
    client.read("a.txt");
    assert!(!client.set_line("a.txt", "1ac", "one").is_error);
    let held = hold_locks(&project);
    if held.is_empty() {
        eprintln!("skipped: locks are removed after use");
        return;
    }
    let operations = json!([{"op": "delete", "path": "a.txt", "anchor": "2hv"}]);
    let waiting = client
        .send("tools/call", &json!({"name": "apply", "arguments": {"operations": operations}}));
    client.notify("notifications/cancelled", &json!({"requestId": waiting, "reason": "test"}));
    // A read waits for earlier edits: if it is the next answer, the apply has ended without one.
    assert_eq!(client.read("a.txt").text.lines().count(), 3);
    drop(held);
    assert!(!client.set_line("a.txt", "3tr", "three").is_error);
    assert_eq!(project.content("a.txt"), "one\nline 2\nthree\n");
    assert_eq!(client.leave(), QUIETLY);
}

#[test]
fn calls_take_effect_in_order() {
    let project = Project::new(&[("a.txt", LINES)]);
    let mut client = Client::start(&project, &[]);
    client.roots = vec![project.path("").to_str().unwrap().to_owned()];
    client.shake_hands(&json!({"roots": {}}));
    let add =
        |text: &str| json!({"op": "insert_after", "path": "a.txt", "anchor": "EOF", "text": text});
    let mut ids = Vec::new();
    for number in 0..50 {
        let arguments = json!({"operations": [add(&format!("new {number}"))]});
        ids.push(client.send("tools/call", &json!({"name": "apply", "arguments": arguments})));
    }
    for _ in &ids {
        // Answers may overtake each other.
        let message = loop {
            let message = client.next();
            if message["method"] != "roots/list" {
                break message;
            }
            let root = format!("file://{}", client.roots[0]);
            let result = json!({"roots": [{"uri": root}]});
            client
                .say(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string());
        };
        assert!(!answer_of(&message).is_error, "{message}");
    }
    let expected: String = (0..50).map(|number| format!("new {number}\n")).collect();
    assert_eq!(project.content("a.txt"), format!("{LINES}{expected}"));
}

#[test]
fn a_closed_pipe_ends_the_program() {
    let project = Project::new(&[("a.txt", LINES)]);
    // Before any message.
    assert_eq!(Client::start(&project, &[]).leave(), QUIETLY);
    // Requests before the end of input are still answered.
    let mut client = Client::connect(&project, &[]);
    client.send("tools/call", &json!({"name": "read", "arguments": {"path": "a.txt"}}));
    let (code, rest, stderr) = client.leave();
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(rest.contains("1ac|line 1"), "{rest}");
    // The client does not read, and keeps the input open.
    let client = Client::connect(&project, &[]);
    let Client { mut child, stdin, stdout, .. } = client;
    drop(stdout);
    let mut stdin = stdin.unwrap();
    let request = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/list"});
    // A process that another test is starting may hold the other end of the pipe for a moment, so
    // the first message may be written.
    let ended = loop {
        if let Some(ended) = child.try_wait().unwrap() {
            break ended;
        }
        let _ = stdin.write_all(format!("{request}\n").as_bytes());
        std::thread::yield_now();
    };
    assert_eq!(ended.code(), Some(0));
    drop(stdin);
}

#[test]
fn a_session_outlives_its_connection() {
    let project = Project::new(&[("a.txt", LINES)]);
    let stored = ["--session", "s"];
    let mut client = Client::connect(&project, &stored);
    client.read("a.txt");
    assert_eq!(client.leave(), QUIETLY);
    // Another process inserts a line above: the anchor still means the line that was shown.
    project.write("a.txt", format!("line 0\n{LINES}").as_bytes());
    let mut client = Client::connect(&project, &stored);
    let done = client.set_line("a.txt", "2hv", "two");
    assert!(!done.is_error, "{}", done.text);
    assert_eq!(project.content("a.txt"), "line 0\nline 1\ntwo\nline 3\n");
    // Another session was shown nothing.
    let mut stranger = Client::connect(&project, &["--session", "t"]);
    let refused = stranger.set_line("a.txt", "3aa", "three");
    assert!(refused.is_error, "{}", refused.text);
}

#[test]
fn the_last_edit_is_undone_if_the_server_offers_it() {
    let project = Project::new(&[("a.txt", LINES)]);
    let mut client = Client::connect(&project, &["--undo"]);
    client.read("a.txt");
    for (anchor, text) in [("2hv", "two"), ("3tr", "three")] {
        assert!(!client.set_line("a.txt", anchor, text).is_error);
    }
    let undone = client.call("undo_edit", &json!({}));
    assert!(!undone.is_error, "{}", undone.text);
    let left = "\n(1 earlier edit can be undone; the next one changed a.txt.)";
    assert!(undone.text.contains("3tr|line 3") && undone.text.ends_with(left), "{}", undone.text);
    assert!(!client.call("undo_edit", &json!({})).is_error);
    assert_eq!(project.content("a.txt"), LINES);
    assert_eq!(client.call("undo_edit", &json!({})).text, "There is no edit to undo.");
    assert_eq!(client.leave(), QUIETLY);
    let mut client = Client::connect(&project, &[]);
    let tools = client.request("tools/list", &json!({}));
    assert!(!tools.to_string().contains("undo_edit"));
}

/// 2,000 reads whose answers were not read used 529 threads and a gigabyte.
#[cfg(target_os = "linux")]
#[test]
fn regression_a_client_that_does_not_read_uses_few_threads() {
    const COUNT: u64 = 2000;
    let project = Project::new(&[("a.txt", &LINES.repeat(3000))]);
    let mut client = Client::connect(&project, &[]);
    let ids: Vec<u64> = (0..COUNT)
        .map(|_| {
            client.send("tools/call", &json!({"name": "read", "arguments": {"path": "a.txt"}}))
        })
        .collect();
    // The pipe is smaller than the requests, so most were read.
    let threads = fs::read_dir(format!("/proc/{}/task", client.child.id())).unwrap().count();
    let processors = std::thread::available_parallelism().unwrap().get();
    assert!(threads <= 32 + 2 * processors, "{threads} threads");
    let mut answered: Vec<u64> =
        (0..COUNT).map(|_| client.next()["id"].as_u64().unwrap()).collect();
    answered.sort_unstable();
    assert_eq!(answered, ids);
    assert_eq!(client.leave(), QUIETLY);
}

#[test]
fn regression_an_endless_line_is_refused_and_the_next_one_answered() {
    let project = Project::new(&[("a.txt", LINES)]);
    let mut client = Client::connect(&project, &[]);
    let padding = "a".repeat(17 << 20);
    let long = json!({
        "jsonrpc": "2.0", "id": 70, "method": "tools/call",
        "params": {"name": "read", "arguments": {"path": padding}},
    });
    client.say(&long.to_string());
    let refused = client.answer_to(70);
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("exceeds 16 MiB"), "{message}");
    assert!(!client.read("a.txt").is_error);
    assert_eq!(client.leave(), QUIETLY);
}

/// The commands of a server, as `--after` options.
fn after(commands: &[&str]) -> Vec<String> {
    commands.iter().flat_map(|command| ["--after".to_owned(), (*command).to_owned()]).collect()
}

fn connect_with(project: &Project, args: &[String]) -> Client {
    Client::connect(project, &args.iter().map(String::as_str).collect::<Vec<_>>())
}

#[cfg(unix)]
#[test]
fn an_answer_has_the_anchors_of_the_text_that_a_command_made() {
    let project = Project::new(&[("a.txt", LINES), ("$(touch x);.txt", LINES)]);
    project.write("format.sh", b"{ echo '# formatted'; cat \"$1\"; } > tmp && mv tmp \"$1\"\n");
    let commands = after(&["*.txt=sh format.sh {}", "*.py=sh -c 'exit 9'"]);
    let mut client = connect_with(&project, &commands);
    let shown = client.read("a.txt").text;
    let anchors: Vec<&str> = shown.lines().map(|row| row.split('|').next().unwrap()).collect();
    let done = client.set_line("a.txt", anchors[1], "two");
    let rows: Vec<&str> = done.text.lines().collect();
    assert_eq!((rows[0], rows[2]), ("1 edit, +2 -1", "formatted: line 1"), "{}", done.text);
    assert_eq!(project.content("a.txt"), "# formatted\nline 1\ntwo\nline 3\n");
    // The anchor of the answer, and an earlier one.
    assert!(!client.set_line("a.txt", rows[1], "2").is_error, "{}", done.text);
    assert!(!client.set_line("a.txt", anchors[2], "3").is_error);
    assert!(project.content("a.txt").ends_with("line 1\n2\n3\n"));
    // A path is one argument, and no shell reads it.
    let odd = client.read("$(touch x);.txt").text;
    let odd = client.set_line("$(touch x);.txt", odd.split('|').next().unwrap(), "one");
    assert!(odd.text.ends_with("formatted: line 1"), "{}", odd.text);
    assert!(!project.path("x").exists());
    // A deleted file and an edit without effect start no command.
    let deleted = json!({"operations": [{"op": "delete_file", "path": "$(touch x);.txt"}]});
    assert!(!client.call("apply", &deleted).is_error);
    assert_eq!(client.leave(), QUIETLY);
}

#[cfg(unix)]
#[test]
fn messages_of_a_linter_are_shown_with_their_lines() {
    let project = Project::new(&[("a.txt", LINES)]);
    let lint = "sh -c 'echo $1:3:6: warning: too \u{7}long; exit 1' sh {}";
    let commands = after(&[lint, "sh -c 'echo it broke; echo badly; exit 2'", "/no/such/program"]);
    let mut client = connect_with(&project, &commands);
    let shown = client.read("a.txt").text;
    let done = client.set_line("a.txt", shown.split('|').next().unwrap(), "one");
    assert!(!done.is_error);
    let rows: Vec<&str> = done.text.lines().skip(2).collect();
    assert_eq!(rows[0], "(The edit is written, but sh on a.txt ended with exit code 1.)");
    let broke = "(The edit is written, but sh on a.txt ended with exit code 2: it broke / badly.)";
    assert_eq!(rows[1], broke);
    assert!(rows[2].starts_with("(The edit is written, but /no/such/program on a.txt cannot be"));
    assert_eq!(rows[3], "--- a.txt --- 1 warning");
    assert!(rows[4].ends_with("|line 3"), "{}", done.text);
    assert_eq!(rows[5], "  ^ warning, column 6: too long");
    assert_eq!(client.leave(), QUIETLY);
}

#[cfg(unix)]
#[test]
fn a_command_that_never_ends_is_killed() {
    let project = Project::new(&[("a.txt", LINES)]);
    let mut args = after(&["sh -c 'sleep 1000'", "false"]);
    args.extend(["--after-timeout", "1"].map(str::to_owned));
    let mut client = connect_with(&project, &args);
    let shown = client.read("a.txt").text;
    let done = client.set_line("a.txt", shown.split('|').next().unwrap(), "one");
    let ended = "sh on a.txt was ended: --after takes at most 1 s for an edit.)";
    assert!(done.text.contains(ended), "{}", done.text);
    assert!(
        done.text.contains("\n(1 more runs of --after had no time within 1 s.)"),
        "{}",
        done.text
    );
    assert_eq!(project.content("a.txt"), "one\nline 2\nline 3\n");
    assert_eq!(client.leave(), QUIETLY);
}

#[cfg(unix)]
#[test]
fn calls_wait_for_a_command_and_lose_no_edit() {
    let project = Project::new(&[("a.txt", LINES)]);
    // A formatter that reads the file, and writes it later.
    let slow = "sh -c 'text=$(cat $1); sleep 0.1; echo \"$text\" > $1' sh {}";
    let mut client = connect_with(&project, &after(&[slow]));
    let shown = client.read("a.txt").text;
    let edit = |(row, text): (&str, &str)| {
        let anchor = row.split('|').next().unwrap();
        let operation = json!({"op": "set_line", "path": "a.txt", "anchor": anchor, "text": text});
        json!({"name": "apply", "arguments": {"operations": [operation]}})
    };
    let edits = shown.lines().zip(["one", "two", "three"]).map(edit);
    let ids: Vec<u64> = edits.map(|call| client.send("tools/call", &call)).collect();
    for id in ids {
        let answer = answer_of(&client.answer_to(id));
        assert!(!answer.is_error, "{}", answer.text);
    }
    assert_eq!(project.content("a.txt"), "one\ntwo\nthree\n");
    assert_eq!(client.leave(), QUIETLY);
}
