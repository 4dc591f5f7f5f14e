//! Reads objects whose kinds may not be served.

use common::api::error::ErrorBody;
use common::model::ObjectRef;
use serde_json::Value;

use crate::apply::context::Context;
use crate::apply::fetch;
use crate::kubectl::Outcomes;

/// The live objects; of a kind that is not served there are none. A cluster that is away ends it.
pub async fn read(
    context: Context<'_>,
    objects: &[&ObjectRef],
) -> Result<Outcomes<Option<Value>>, ErrorBody> {
    let served: Vec<Option<ObjectRef>> = objects
        .iter()
        .map(|object| context.catalog.served(object))
        .collect();
    let wanted: Vec<ObjectRef> = served.iter().flatten().cloned().collect();
    let mut outcomes: Vec<_> = wanted.iter().map(|_| Ok(None)).collect();
    let mut take = |place: usize, outcome| outcomes[place] = outcome;
    fetch::many(context, &wanted, &mut take).await;
    let mut outcomes = outcomes.into_iter();
    let mut found = Vec::with_capacity(objects.len());
    for object in served {
        let outcome = object.and_then(|_| outcomes.next()).unwrap_or(Ok(None));
        match outcome {
            Err(error) if error.is_transient() => return Err(error.into()),
            outcome => found.push(outcome),
        }
    }
    Ok(found)
}
