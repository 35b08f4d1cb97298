//! Parses the lines of a client. The protocol's library does not answer a request that it cannot
//! parse, and the client would wait for the answer. Here such a request gets an error with its
//! `id`.

use std::borrow::Cow;
use std::fmt;

use hashline_core::host::unique_keys;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestMethod, ClientRequest, ConstString, ErrorCode, ErrorData,
    InitializeRequestParams, InitializeResultMethod, JsonObject, JsonRpcMessage, RequestId,
};
use rmcp::service::RxJsonRpcMessage;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value as Json;
use serde_json::value::RawValue;

use super::intake::Size;
use super::pipes::LINE_LIMIT_BYTES;

/// A parsed line.
#[derive(Debug)]
pub enum Line {
    /// A message for the library.
    Message(Box<RxJsonRpcMessage<RoleServer>>),
    /// The error line for a refused request.
    Refused(String),
    /// Nothing that needs an answer.
    Nothing,
}

impl Line {
    /// Parses a line, with or without its terminator.
    pub fn read(line: &[u8]) -> Line {
        let text = String::from_utf8_lossy(line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line));
        let Ok(members) = serde_json::from_str::<Members<'_>>(&text) else {
            let is_batch = serde_json::from_str::<Vec<IgnoredAny>>(&text).is_ok();
            let refusal =
                invalid("batches are not supported. Send each request on a line of its own.");
            return if is_batch { refused(None, refusal) } else { Line::Nothing };
        };
        let is_answer = members.get("method").is_none()
            && (members.get("result").is_some() || members.get("error").is_some());
        let Some(id) = members.get("id").filter(|_| !is_answer) else {
            if values_in(&text) > VALUES_LIMIT {
                return Line::Nothing;
            }
            let message = serde_json::from_str(&text);
            return message.map_or(Line::Nothing, |message| Line::Message(Box::new(message)));
        };
        let is_usable = matches!(kind_of(id), Kind::String | Kind::Number);
        let read = match &text {
            Cow::Borrowed(text) => request(text, &members, id),
            Cow::Owned(_) => Err(unreadable()),
        };
        match read {
            Ok(message) => Line::Message(Box::new(message)),
            Err(refusal) => refused(Some(id).filter(|_| is_usable), refusal),
        }
    }
}

/// The most values in a message besides the arguments of a tool, and the most arguments that the
/// library may parse: each value takes it some hundred bytes.
const VALUES_LIMIT: usize = 100_000;

/// An upper bound for the number of values in a text: commas in strings count, too.
fn values_in(text: &str) -> usize {
    Size::of(text.as_bytes()).values
}

/// The members of an object that are used here.
const NAMES: [&str; 9] =
    ["jsonrpc", "id", "method", "params", "result", "error", "name", "arguments", "_meta"];

/// The members, as written. For duplicates, the last one counts.
#[derive(Default)]
struct Members<'t>([(usize, Option<&'t RawValue>); NAMES.len()]);

impl<'t> Members<'t> {
    fn member(&self, name: &str) -> (usize, Option<&'t RawValue>) {
        NAMES.iter().position(|known| *known == name).map_or((0, None), |at| self.0[at])
    }

    fn get(&self, name: &str) -> Option<&'t RawValue> {
        self.member(name).1
    }

    /// A member that is present and not null.
    fn given(&self, name: &str) -> Option<&'t RawValue> {
        self.get(name).filter(|value| kind_of(value) != Kind::Null)
    }

    fn is_twice(&self, name: &str) -> bool {
        self.member(name).0 > 1
    }
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Members<'de>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Members::default();
                while let Some((key, value)) = map.next_entry::<&RawValue, &RawValue>()? {
                    // A key with a lone surrogate is not one of the known ones.
                    let key: String = serde_json::from_str(key.get()).unwrap_or_default();
                    if let Some(at) = NAMES.iter().position(|known| *known == key) {
                        members.0[at] = (members.0[at].0 + 1, Some(value));
                    }
                }
                Ok(members)
            }
        }

        deserializer.deserialize_map(Object)
    }
}

/// The kinds of JSON values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Null,
    Boolean,
    Number,
    String,
    Array,
    Object,
}

impl fmt::Display for Kind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Kind::Null => "null",
            Kind::Boolean => "a boolean",
            Kind::Number => "a number",
            Kind::String => "a string",
            Kind::Array => "an array",
            Kind::Object => "an object",
        })
    }
}

fn kind_of(value: &RawValue) -> Kind {
    match value.get().as_bytes().first() {
        Some(b'{') => Kind::Object,
        Some(b'[') => Kind::Array,
        Some(b'"') => Kind::String,
        Some(b'n') => Kind::Null,
        Some(b't' | b'f') => Kind::Boolean,
        _ => Kind::Number,
    }
}

/// Parses a request that has an `id`.
fn request(
    text: &str,
    members: &Members<'_>,
    id: &RawValue,
) -> Result<RxJsonRpcMessage<RoleServer>, ErrorData> {
    for name in ["jsonrpc", "id", "method", "params"] {
        if members.is_twice(name) {
            return Err(invalid(format!("{name} is duplicated. Send it once.")));
        }
    }
    if serde_json::from_str::<RequestId>(id.get()).is_err() {
        let shown = Shown(id);
        return Err(invalid(format!("id is {shown}: expected a whole number or a string")));
    }
    let version = members.get("jsonrpc");
    if version.is_none_or(|version| version.get() != "\"2.0\"") {
        let found = version.map_or("missing".to_owned(), |version| Shown(version).to_string());
        return Err(invalid(format!("jsonrpc is {found}: expected \"2.0\"")));
    }
    let Some(method) = members.get("method") else {
        return Err(invalid("method is missing: expected a string"));
    };
    let Ok(method) = serde_json::from_str::<Cow<'_, str>>(method.get()) else {
        let kind = kind_of(method);
        return Err(match kind {
            Kind::String => unreadable(),
            _ => invalid(format!("method is {kind}: expected a string")),
        });
    };
    for name in ["result", "error"] {
        if members.get(name).is_some() {
            let message = format!("a message with method must not have {name}");
            return Err(invalid(message));
        }
    }
    let params = object(members, "", "params")?;
    let is_call = method == CallToolRequestMethod::VALUE;
    let arguments = params.as_ref().filter(|_| is_call).and_then(|params| params.get("arguments"));
    let given = arguments.map_or(0, |arguments| values_in(arguments.get()));
    if values_in(text) - given > VALUES_LIMIT {
        return Err(ErrorData::invalid_params(
            format!("params have more than {VALUES_LIMIT} values. Send fewer."),
            None,
        ));
    }
    if let Some(params) = &params {
        object(params, "params.", "_meta")?;
    }
    if is_call {
        let name = params.as_ref().and_then(|params| params.get("name")).map(kind_of);
        if name != Some(Kind::String) {
            let found = name.map_or("missing".to_owned(), |kind| kind.to_string());
            let message = format!("params.name is {found}: expected the name of a tool");
            return Err(ErrorData::invalid_params(message, None));
        }
    }
    let unique = || members.get("params").map_or(Ok(()), |params| unique_keys(params.get()));
    let read = match &params {
        Some(params) if given > VALUES_LIMIT && are_once(params) => None,
        params => match unique() {
            Ok(()) => serde_json::from_str(text).ok(),
            // The tools report this error to the model.
            Err(_) if params.as_ref().is_some_and(|params| is_for_the_tools(&method, params)) => {
                None
            }
            Err(twice) => {
                let message = format!("params: {}", twice.message);
                return Err(ErrorData::invalid_params(message, None));
            }
        },
    };
    match read {
        Some(message) => checked(message),
        None => with_arguments_as_text(&method, params.as_ref(), id).ok_or_else(unreadable),
    }
}

/// Whether the members of a call are unique.
fn are_once(params: &Members<'_>) -> bool {
    !["name", "arguments", "_meta"].into_iter().any(|name| params.is_twice(name))
}

/// Whether the duplicate key is in the arguments of a tool.
fn is_for_the_tools(method: &str, params: &Members<'_>) -> bool {
    method == CallToolRequestMethod::VALUE
        && are_once(params)
        && params.get("arguments").is_some_and(|arguments| unique_keys(arguments.get()).is_err())
}

/// The object in a member; `None` if it is omitted or null.
fn object<'t>(
    members: &Members<'t>,
    place: &str,
    name: &str,
) -> Result<Option<Members<'t>>, ErrorData> {
    let Some(value) = members.given(name) else { return Ok(None) };
    let object = serde_json::from_str(value.get()).ok();
    let wrong = || format!("{place}{name} is {}: expected an object", kind_of(value));
    object.map(Some).ok_or_else(|| ErrorData::invalid_params(wrong(), None))
}

/// Checks a parsed message: the library accepts unknown methods, so wrong params of a known method
/// are refused here.
fn checked(
    message: RxJsonRpcMessage<RoleServer>,
) -> Result<RxJsonRpcMessage<RoleServer>, ErrorData> {
    if let JsonRpcMessage::Request(request) = &message
        && let ClientRequest::CustomRequest(custom) = &request.request
        && custom.method == InitializeResultMethod::VALUE
    {
        let params = custom.params.clone().unwrap_or_else(|| Json::Object(JsonObject::new()));
        let cause = serde_json::from_value::<InitializeRequestParams>(params).err();
        let cause = cause.map_or_else(|| "invalid params".to_owned(), |cause| cause.to_string());
        return Err(ErrorData::invalid_params(format!("initialize: {cause}"), None));
    }
    Ok(message)
}

/// A call whose arguments the library cannot parse: with a lone surrogate, a number out of range,
/// too much nesting, or a duplicate key. They are passed on as text, which the tools parse
/// themselves.
fn with_arguments_as_text(
    method: &str,
    params: Option<&Members<'_>>,
    id: &RawValue,
) -> Option<RxJsonRpcMessage<RoleServer>> {
    #[derive(Serialize)]
    struct Call<'a> {
        jsonrpc: &'a str,
        id: &'a RawValue,
        method: &'a str,
        params: Params<'a>,
    }
    #[derive(Serialize)]
    struct Params<'a> {
        name: &'a RawValue,
        arguments: &'a str,
        _meta: Option<&'a RawValue>,
    }

    let params = params.filter(|_| method == CallToolRequestMethod::VALUE)?;
    let (name, arguments) = (params.get("name")?, params.get("arguments")?.get());
    let params = Params { name, arguments, _meta: params.given("_meta") };
    let call = serde_json::to_string(&Call { jsonrpc: "2.0", id, method, params }).ok()?;
    serde_json::from_str(&call).ok()
}

/// A value, formatted for a refusal.
struct Shown<'t>(&'t RawValue);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = kind_of(self.0);
        let text = self.0.get();
        match kind {
            Kind::Number | Kind::String if text.len() <= 80 => out.write_str(text),
            _ => kind.fmt(out),
        }
    }
}

fn invalid(message: impl Into<Cow<'static, str>>) -> ErrorData {
    ErrorData::invalid_request(message, None)
}

fn unreadable() -> ErrorData {
    let message = "the request is not valid UTF-8, or has a value that JSON cannot represent";
    ErrorData::new(ErrorCode::PARSE_ERROR, message, None)
}

/// The error for a line that is too long, from its start; `None` if that has no `id`.
pub fn too_long(start: &[u8]) -> Option<String> {
    let mut id = FirstId(None);
    // The object is truncated, so this returns an error.
    let _ = serde_json::Deserializer::from_slice(start).deserialize_map(&mut id);
    id.0.map(|id| refusal_of_length(Some(id)))
}

/// The error for a line that is too long, from its end.
pub fn too_long_until(end: &[u8]) -> String {
    let text = String::from_utf8_lossy(end);
    refusal_of_length(last_id(&text))
}

fn refusal_of_length(id: Option<&RawValue>) -> String {
    let limit_mib = LINE_LIMIT_BYTES >> 20;
    let refusal = invalid(format!("the message exceeds {limit_mib} MiB. Send a smaller one."));
    let id = id.filter(|id| matches!(kind_of(id), Kind::String | Kind::Number));
    refusal_line(id, refusal).unwrap_or_default()
}

/// Reads the `id` of an object that may be truncated.
struct FirstId<'t>(Option<&'t RawValue>);

impl<'de> Visitor<'de> for &mut FirstId<'de> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut id = None;
        while let Some(key) = map.next_key::<&RawValue>()? {
            // Another member follows, so the id is complete.
            self.0 = self.0.or(id);
            if key.get() == "\"id\"" {
                id = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// The last `id` of an object whose start is missing.
fn last_id(text: &str) -> Option<&RawValue> {
    let members = text.trim_end().strip_suffix('}')?;
    let (before, value) = members.rsplit_once("\"id\"")?;
    let value = value.trim_start().strip_prefix(':')?;
    serde_json::from_str(value).ok().filter(|_| before.trim_end().ends_with(','))
}

/// The error line for a request; the id may be any number or string, and is returned as written.
fn refused(id: Option<&RawValue>, error: ErrorData) -> Line {
    refusal_line(id, error).map_or(Line::Nothing, Line::Refused)
}

fn refusal_line(id: Option<&RawValue>, error: ErrorData) -> Option<String> {
    #[derive(Serialize)]
    struct Answer<'a> {
        jsonrpc: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a RawValue>,
        error: ErrorData,
    }

    let answer = Answer { jsonrpc: "2.0", id, error };
    serde_json::to_string(&answer).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn arguments_of(line: &[u8]) -> Json {
        match Line::read(line) {
            Line::Message(message) => json!(message)["params"]["arguments"].clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn arguments_that_the_library_cannot_parse_are_passed_as_text() {
        let call = |arguments: &str| {
            format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"read\",\"arguments\":{arguments}}}}}"
            )
        };
        assert_eq!(arguments_of(call("{\"path\":\"a\"}").as_bytes()), json!({"path": "a"}));
        let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
        for arguments in ["{\"path\":\"\\ud83d\"}", "{\"start_line\":1e999}", &deep] {
            assert_eq!(arguments_of(call(arguments).as_bytes()), *arguments);
        }
    }

    #[test]
    fn unreadable_requests_are_answered() {
        let unreadable = |line: &[u8]| match Line::read(line) {
            Line::Refused(answer) => answer.contains("\"id\":7,\"error\":{\"code\":-32700"),
            _ => false,
        };
        let head = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":";
        for rest in [
            "\"tools/list\",\"params\":{\"a\":1e999}}",
            "\"tools/call\",\"params\":{\"name\":\"\\ud800\"}}",
            "\"\\ud800\"}",
            "\"ping\",\"\\ud800\":1}",
        ] {
            assert!(unreadable(format!("{head}{rest}").as_bytes()), "{rest}");
        }
        let bytes =
            b"\"tools/call\",\"params\":{\"name\":\"read\",\"arguments\":{\"path\":\"\xff\"}}}";
        assert!(unreadable(&[head.as_bytes(), bytes].concat()));
    }

    /// 15 MB of numbers took 1.7 GB of memory.
    #[test]
    fn regression_the_library_does_not_parse_a_message_with_many_values() {
        let numbers = |count: usize| format!("[1{}]", ",1".repeat(count - 1));
        let many = numbers(VALUES_LIMIT + 2);
        let call = |params: &str| {
            format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{{\"name\":\"read\",{params}}}}}"
            )
        };
        let arguments = format!("{{\"a\":{many}}}");
        let message = call(&format!("\"arguments\":{arguments}"));
        assert_eq!(arguments_of(message.as_bytes()), *arguments);
        let few = format!("{{\"a\":{}}}", numbers(VALUES_LIMIT - 10));
        assert!(arguments_of(call(&format!("\"arguments\":{few}")).as_bytes()).is_object());
        let refused = |line: &str| match Line::read(line.as_bytes()) {
            Line::Refused(answer) => answer.contains("\"id\":7,\"error\":{\"code\":-32602"),
            _ => false,
        };
        assert!(refused(&call(&format!("\"arguments\":{{}},\"_meta\":{{\"a\":{many}}}"))));
        assert!(refused(&call(&format!("\"a\":{many}"))));
        assert!(refused(&call(&format!("\"arguments\":{arguments},\"arguments\":{{}}"))));
        let line = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{{\"a\":{many}}}}}");
        assert!(matches!(Line::read(line.as_bytes()), Line::Nothing));
    }

    #[test]
    fn other_lines_are_not_answered() {
        for line in
            ["nonsense", "{\"a\":", "\"\\ud800\"", "", "{\"method\":\"x\",\"a\":1e999}", "5"]
        {
            assert!(matches!(Line::read(line.as_bytes()), Line::Nothing), "{line}");
        }
    }
}
