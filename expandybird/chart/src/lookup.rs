//! What `lookup` finds.

use expandybird_gotemplate::error::Failure;
use expandybird_gotemplate::value::{Call, Map, Numbers, Value};
use serde_json::Value as Json;

/// What a chart looks up: an object of this kind, or, without a name, all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// As `apps/v1`.
    pub api_version: String,
    /// As `Deployment`.
    pub kind: String,
    /// Empty for all namespaces, and for kinds of the cluster.
    pub namespace: String,
    /// Empty for all objects.
    pub name: String,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// There is no such object, or nobody knows.
    Nothing,
    /// The object, or the list.
    Object(Json),
    /// The template fails with this reason.
    Refused(String),
}

/// Answers what a chart looks up.
pub struct Lookups(Box<dyn FnMut(Wanted) -> Found>);

impl Lookups {
    /// A source of answers.
    pub fn new(find: impl FnMut(Wanted) -> Found + 'static) -> Self {
        Self(Box::new(find))
    }
}

/// The function: apiVersion, kind, namespace, name.
pub fn lookup(call: &mut Call<'_>) -> Result<Value, Failure> {
    let text = |call: &Call<'_>, index| Ok::<_, Failure>(call.string(index)?.to_str().into_owned());
    let wanted = Wanted {
        api_version: text(call, 0)?,
        kind: text(call, 1)?,
        namespace: text(call, 2)?,
        name: text(call, 3)?,
    };
    // Without a source there is no cluster.
    let Some(Lookups(find)) = call.host::<Lookups>() else {
        return Ok(Map::default().into());
    };
    match find(wanted) {
        Found::Nothing => Ok(Map::default().into()),
        Found::Object(object) => Ok(Value::from_json(&object, Numbers::Integers)),
        Found::Refused(reason) => Err(Failure::new(reason)),
    }
}
