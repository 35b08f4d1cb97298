//! Definitions of tools in the formats of vendors.

use serde_json::{Map, Value as Json, json};

/// For `tools` of OpenAI's chat completions. Its strict mode requires every field, so optional ones
/// become nullable.
pub fn openai(name: &str, description: &str, schema: &Json, strict: Option<bool>) -> Json {
    let parameters = if strict == Some(true) { strict_schema(schema) } else { schema.clone() };
    let mut function = json!({"name": name, "description": description, "parameters": parameters});
    if let Some(strict) = strict {
        function["strict"] = strict.into();
    }
    json!({"type": "function", "function": function})
}

/// For `tools` of Anthropic's Messages API.
pub fn anthropic(name: &str, description: &str, schema: &Json) -> Json {
    json!({"name": name, "description": description, "input_schema": schema})
}

fn strict_schema(schema: &Json) -> Json {
    let Json::Object(fields) = schema else { return schema.clone() };
    let mut strict = fields.clone();
    if let Some(items) = fields.get("items") {
        strict.insert("items".to_owned(), strict_schema(items));
    }
    let Some(Json::Object(properties)) = fields.get("properties") else { return strict.into() };
    let required = fields.get("required").and_then(Json::as_array);
    let is_required = |name: &str| {
        required.is_some_and(|names| names.iter().any(|required_name| required_name == name))
    };
    let property = |(name, schema): (&String, &Json)| {
        let mut schema = strict_schema(schema);
        if !is_required(name) {
            schema["type"] = json!([schema["type"].take(), "null"]);
        }
        (name.clone(), schema)
    };
    let names: Vec<&String> = properties.keys().collect();
    strict.insert("required".to_owned(), json!(names));
    let properties: Map<String, Json> = properties.iter().map(property).collect();
    strict.insert("properties".to_owned(), properties.into());
    strict.insert("additionalProperties".to_owned(), false.into());
    strict.into()
}
