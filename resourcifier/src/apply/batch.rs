//! How objects are put into calls, and faults into one error.

use common::api::error::ErrorBody;
use serde_json::Value;

/// Bytes of one call's input: with the batch, what bounds memory.
const BATCH_BYTES: usize = 16 * 1024 * 1024;

/// A batch in parts of a bounded size.
pub fn by_size(indices: Vec<usize>, objects: Vec<Value>) -> Vec<(Vec<usize>, Vec<Value>)> {
    let mut parts: Vec<(Vec<usize>, Vec<Value>)> = Vec::new();
    let mut bytes = BATCH_BYTES;
    for (index, object) in indices.into_iter().zip(objects) {
        let size = object.to_string().len();
        if bytes + size > BATCH_BYTES {
            parts.push((Vec::new(), Vec::new()));
            bytes = 0;
        }
        bytes += size;
        if let Some((indices, objects)) = parts.last_mut() {
            indices.push(index);
            objects.push(object);
        }
    }
    parts
}

/// The faults found before anything was applied, as one.
pub fn refuse(mut faults: Vec<ErrorBody>) -> Result<(), ErrorBody> {
    match faults.len() {
        0 => Ok(()),
        1 => Err(faults.remove(0)),
        count => {
            let message = format!(
                "{count} objects cannot be applied, so nothing was; the first: {}",
                faults[0].message
            );
            Err(ErrorBody::new(faults[0].code, message).caused_by(faults))
        }
    }
}
