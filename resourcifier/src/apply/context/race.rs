//! Reads and writes an object again when others write first.

use crate::kubectl::{KubectlError, ObjectError, ObjectFault};

/// How often somebody else may write first.
const RACES: usize = 8;

/// Repeats an attempt that reads and writes, for as long as it loses a race.
pub async fn repeated<T>(
    attempt: impl AsyncFn() -> Result<T, KubectlError>,
) -> Result<T, KubectlError> {
    for _ in 0..RACES {
        match attempt().await {
            Err(error) if error.is_lost_race() => {}
            outcome => return outcome,
        }
    }
    Err(ObjectError {
        fault: ObjectFault::Transient,
        text: "others write to it again and again".to_owned(),
        causes: Vec::new(),
    }
    .into())
}
