//! The notes of a template travel with the outputs, because references in them are replaced in the same way.

use common::model::Output;
use serde_json::Value;

/// The name of the notes among the outputs, where they are the last.
const NOTES: &str = "info.notes";

pub fn with_outputs(mut outputs: Vec<Output>, notes: Option<String>) -> Vec<Output> {
    outputs.extend(notes.map(|notes| Output {
        name: NOTES.to_owned(),
        value: Value::from(notes),
    }));
    outputs
}

/// The outputs and the notes. `had`: whether notes went along.
pub fn taken(mut outputs: Vec<Output>, had: bool) -> (Vec<Output>, Option<String>) {
    let last = match had {
        true => outputs.pop_if(|last| last.name == NOTES),
        false => None,
    };
    let text = |notes: Output| match notes.value {
        Value::String(text) => text,
        // Notes of one reference and nothing else take its value.
        other => other.to_string(),
    };
    (outputs, last.map(text))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn output(name: &str, value: Value) -> Output {
        Output {
            name: name.to_owned(),
            value,
        }
    }

    #[test]
    fn notes_come_back_as_they_went() {
        let outputs = vec![output("url", json!("http://a"))];
        let sent = with_outputs(outputs.clone(), Some("see $(ref.a.b)".to_owned()));
        assert_eq!(sent.len(), 2);
        let expected = (outputs.clone(), Some("see $(ref.a.b)".to_owned()));
        assert_eq!(taken(sent, true), expected);
        assert_eq!(taken(outputs.clone(), false), (outputs, None));
    }

    #[test]
    fn an_output_with_the_name_of_the_notes_stays_an_output() {
        let outputs = vec![output(NOTES, json!(1))];
        assert_eq!(taken(outputs.clone(), false), (outputs, None));
    }
}
