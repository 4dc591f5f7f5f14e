//! Schemas as generators of clients take them.

use schemars::Schema;
use serde_json::{Value, json};

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

#[cfg(test)]
mod tests {
    use super::*;

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
