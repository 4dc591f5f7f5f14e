//! Redaction of input of any size, away from the threads that serve requests.

use common::model::SecretValue;
use common::work::{self, Size};

use crate::domain::redaction::Redaction;

/// A secret is looked for in about so many forms, such as base64.
const FORMS: usize = 10;

/// Prepares to hide these values.
pub async fn prepared(secrets: Vec<SecretValue>) -> Redaction {
    let size = Size::of(secrets.iter().map(|secret| &secret.value));
    work::sized(size.times(FORMS), move || Redaction::new(secrets)).await
}

/// The value as `hide` leaves it. Without secrets there is next to nothing to do.
pub async fn redacted<T: Send + 'static>(
    redaction: &Redaction,
    mut value: T,
    hide: impl FnOnce(&Redaction, &mut T) + Send + 'static,
) -> T {
    if redaction.is_empty() {
        hide(redaction, &mut value);
        return value;
    }
    let redaction = redaction.clone();
    work::large(move || {
        hide(&redaction, &mut value);
        value
    })
    .await
}
