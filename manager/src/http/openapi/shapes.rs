//! Schemas as generators of clients take them.

use schemars::Schema;
use serde_json::{Map, Value, json};

/// Writes "anything" as an empty schema instead of `true`, and an enum of texts as one `enum` instead of a choice of constants.
pub fn plain(schema: &mut Schema) {
    if schema.as_bool() == Some(true) {
        *schema = Schema::default();
        return;
    }
    let Some(choices) = schema.get("oneOf").and_then(Value::as_array) else {
        return;
    };
    let Some(texts) = texts(choices) else { return };
    let meanings: Vec<String> = choices.iter().filter_map(meaning).collect();
    schema.remove("oneOf");
    schema.insert("type".to_owned(), json!("string"));
    schema.insert("enum".to_owned(), Value::Array(texts));
    if !meanings.is_empty() {
        let own = schema.get("description").and_then(Value::as_str);
        let all = own.into_iter().map(str::to_owned).chain(meanings);
        let all: Vec<String> = all.collect();
        schema.insert("description".to_owned(), json!(all.join("\n\n")));
    }
}

/// All texts of the choices, if these are texts only.
fn texts(choices: &[Value]) -> Option<Vec<Value>> {
    let of = |choice: &Value| match (choice.get("const"), choice.get("enum")) {
        (Some(text @ Value::String(_)), None) => Some(vec![text.clone()]),
        (None, Some(Value::Array(texts))) if texts.iter().all(Value::is_string) => {
            Some(texts.clone())
        }
        _ => None,
    };
    let found: Option<Vec<_>> = choices.iter().map(of).collect();
    Some(found?.concat()).filter(|texts| !texts.is_empty())
}

fn meaning(choice: &Value) -> Option<String> {
    let text = choice.get("const")?.as_str()?;
    let meaning = choice.get("description")?.as_str()?;
    Some(format!("`{text}`: {meaning}"))
}

/// Makes each titled form of a type a type of its own, under its title: generators take a choice of whole types only.
pub fn with_forms(types: Map<String, Value>) -> Map<String, Value> {
    let mut all = Map::new();
    for (name, mut schema) in types {
        if let Some(forms) = forms(&schema) {
            let links = forms
                .keys()
                .map(|title| json!({"$ref": format!("#/components/schemas/{title}")}));
            let links: Vec<Value> = links.collect();
            let mut choice = json!({"oneOf": links});
            if let Some(description) = schema.get("description") {
                choice["description"] = description.clone();
            }
            schema = choice;
            all.extend(forms);
        }
        all.insert(name, schema);
    }
    all
}

/// The forms of a type by their titles, if all have one.
fn forms(schema: &Value) -> Option<Map<String, Value>> {
    let forms = schema.get("oneOf")?.as_array()?.iter();
    let titled =
        |form: &Value| Some((form.get("title")?.as_str()?.to_owned(), whole(schema, form)));
    forms.map(titled).collect()
}

/// A form with the fields of its type. A field that the form has as `false` is not in it, and one that it requires is not null.
fn whole(schema: &Value, form: &Value) -> Value {
    let mut fields = schema["properties"]
        .as_object()
        .cloned()
        .unwrap_or_default();
    for (name, rule) in form["properties"].as_object().into_iter().flatten() {
        match rule {
            Value::Bool(false) => fields.shift_remove(name),
            rule => fields.insert(name.clone(), rule.clone()),
        };
    }
    for name in form["required"].as_array().into_iter().flatten() {
        if let Some(field) = name.as_str().and_then(|name| fields.get_mut(name)) {
            *field = without_null(field.take());
        }
    }
    let parts = [schema, form].into_iter().filter_map(Value::as_object);
    let mut whole: Map<String, Value> = parts.flat_map(Clone::clone).collect();
    whole.retain(|key, _| !["oneOf", "title"].contains(&key.as_str()));
    whole.insert("properties".to_owned(), Value::Object(fields));
    Value::Object(whole)
}

/// What is optional is left out, and is never null.
pub fn without_null(mut schema: Value) -> Value {
    if let Some(types) = schema["type"].as_array() {
        let others: Vec<_> = types
            .iter()
            .filter(|name| *name != "null")
            .cloned()
            .collect();
        if let [only] = others.as_slice() {
            schema["type"] = only.clone();
        }
    }
    let choices = schema["anyOf"].as_array().cloned().unwrap_or_default();
    if let [one, null] = choices.as_slice()
        && null["type"] == "null"
        && let Some(fields) = schema.as_object_mut()
    {
        fields.remove("anyOf");
        fields.extend(one.as_object().cloned().unwrap_or_default());
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_titled_form_is_a_type_of_its_own() {
        let fields = json!({"text": {"type": ["string", "null"]}, "id": {"type": ["string", "null"]}, "note": {"type": "string"}});
        let forms = json!([
            {"title": "ByText", "required": ["text"], "properties": {"id": false}},
            {"title": "ById", "description": "One.", "required": ["id"], "properties": {"text": false}},
        ]);
        let types = json!({"Change": {"type": "object", "description": "It.", "properties": fields, "oneOf": forms}});
        let expected = json!({
            "Change": {"description": "It.", "oneOf": [{"$ref": "#/components/schemas/ByText"}, {"$ref": "#/components/schemas/ById"}]},
            "ByText": {"type": "object", "description": "It.", "required": ["text"], "properties": {"text": {"type": "string"}, "note": {"type": "string"}}},
            "ById": {"type": "object", "description": "One.", "required": ["id"], "properties": {"id": {"type": "string"}, "note": {"type": "string"}}},
        });
        let Value::Object(types) = types else {
            panic!("no types")
        };
        assert_eq!(Value::Object(with_forms(types)), expected);
    }

    #[test]
    fn a_choice_of_texts_is_an_enum_and_anything_is_empty() {
        let choices = json!({"description": "How.", "oneOf": [{"type": "string", "const": "A", "description": "One."}, {"type": "string", "enum": ["B", "C"]}]});
        let mut schema = Schema::try_from(choices).unwrap();
        plain(&mut schema);
        let expected =
            json!({"description": "How.\n\n`A`: One.", "type": "string", "enum": ["A", "B", "C"]});
        assert_eq!(schema.as_value(), &expected);
        let mut schema = Schema::from(true);
        plain(&mut schema);
        assert_eq!(schema.as_value(), &json!({}));
        let other = json!({"oneOf": [{"type": "object"}, {"const": "A"}]});
        let mut schema = Schema::try_from(other.clone()).unwrap();
        plain(&mut schema);
        assert_eq!(schema.as_value(), &other);
    }
}
