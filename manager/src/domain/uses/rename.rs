//! References in an error, with another version.

use common::api::error::ErrorBody;

use super::References;

/// Replaces the references in the message and the places of an error, and in its causes.
pub fn rename(references: &References, error: &mut ErrorBody) {
    for (from, to) in references.iter().filter(|(from, to)| from != to) {
        error.message = replaced(&error.message, from.as_str(), to.as_str());
        if let Some(file) = error.location.as_mut().and_then(|at| at.file.as_mut()) {
            *file = replaced(file, from.as_str(), to.as_str());
        }
    }
    for cause in &mut error.causes {
        rename(references, cause);
    }
}

/// The text with each reference that is not a part of a longer one.
fn replaced(text: &str, from: &str, to: &str) -> String {
    let (mut shown, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once(from) {
        let is_whole = !has_begun(&shown, before) && !goes_on(after);
        shown.push_str(before);
        shown.push_str(if is_whole { to } else { from });
        rest = after;
    }
    shown + rest
}

/// Whether a longer reference has begun before this place.
fn has_begun(shown: &str, before: &str) -> bool {
    let last = before.chars().next_back();
    last.or(shown.chars().next_back()).is_some_and(is_part)
}

/// Whether a longer reference goes on. `v1` is a part of `v1.0.1`, and not of `v1.schema`; it may end a sentence.
fn goes_on(after: &str) -> bool {
    let mut next = after.chars();
    match next.next() {
        Some('.') => next.next().is_some_and(|c| c.is_ascii_digit()),
        first => first.is_some_and(is_part),
    }
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '/' | '-' | '.' | '_' | '+')
}

#[cfg(test)]
mod tests {
    use common::api::error::{ErrorCode, Location};
    use common::model::TypeName;

    use super::*;

    #[test]
    fn whole_references_are_replaced_in_all_of_an_error() {
        let name = |text: &str| TypeName::parse(text).unwrap();
        let references = References::from([
            (name("redis:v1"), name("redis:v1.1")),
            (name("redis:v1.1"), name("redis:v1.1")),
        ]);
        let place = Location {
            file: Some("redis:v1".to_owned()),
            ..Location::default()
        };
        let error = |text: &str| ErrorBody::new(ErrorCode::TemplateFailed, text);
        let cause = error("redis:v1.schema of my-redis:v1, redis:v1-x").at(place);
        let mut error = error("redis:v1:4: type \"redis:v1\" is not redis:v1.0.1. See redis:v1.")
            .caused_by([cause]);
        rename(&references, &mut error);
        assert_eq!(
            error.message,
            "redis:v1.1:4: type \"redis:v1.1\" is not redis:v1.0.1. See redis:v1.1."
        );
        let cause = &error.causes[0];
        assert_eq!(
            cause.message,
            "redis:v1.1.schema of my-redis:v1, redis:v1-x"
        );
        assert_eq!(
            cause.location.as_ref().unwrap().file.as_deref(),
            Some("redis:v1.1")
        );
    }
}
