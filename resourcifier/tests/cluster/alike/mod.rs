//! Random sets of objects with random faults: the dry run says of them what the API server says of each.
//!
//! An object that is always refused is in each set, so that nothing is written.

mod made;

use std::collections::BTreeSet;
use std::time::Duration;

use common::api::error::{ErrorBody, ErrorCode};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use resourcifier::kubectl::{ApplyOptions, KubectlError, ObjectFault, Precondition};
use resourcifier::plan::DEPLOYMENT;
use serde_json::{Value, json};

use made::{Made, sets};

use crate::world::World;

const SEED: u64 = 16;
const CASES: u64 = 48;
const WITHIN: Duration = Duration::from_secs(30);

/// One object in one run.
struct Object {
    resource: String,
    properties: Value,
    is_there: bool,
}

impl Object {
    fn whole(&self, world: &World) -> Value {
        let mut object = self.properties.clone();
        let metadata = &mut object["metadata"];
        if metadata.get("namespace").is_none() {
            metadata["namespace"] = json!(world.namespace);
        }
        metadata["labels"][DEPLOYMENT] = json!("web");
        object
    }

    /// It is the deployment's, and somebody else has written to it.
    async fn prepare(&self, world: &World, plain: Value) {
        let name = self.properties["metadata"]["name"].clone();
        let mut plain = Self {
            properties: plain,
            resource: String::new(),
            is_there: true,
        };
        plain.properties["metadata"]["name"] = name;
        let mut whole = plain.whole(world);
        apply(world, &whole, "dm-web", false).await.unwrap();
        whole["metadata"]["labels"] = json!({"app": "theirs"});
        let theirs = ["apiVersion", "kind", "metadata"].map(|field| (field, whole[field].clone()));
        let theirs: serde_json::Map<_, _> = theirs
            .map(|(field, value)| (field.to_owned(), value))
            .into_iter()
            .collect();
        apply(world, &Value::Object(theirs), "somebody", false)
            .await
            .unwrap();
    }

    /// Whether the API server refuses it by itself.
    async fn is_refused(&self, world: &World) -> bool {
        let Err(error) = apply(world, &self.whole(world), "dm-web", true).await else {
            return false;
        };
        match error.fault() {
            // A change that is refused may become a replacement.
            Some(ObjectFault::Invalid) => !self.is_there,
            Some(ObjectFault::Refused | ObjectFault::Conflict | ObjectFault::Missing) => true,
            _ => panic!("{error}"),
        }
    }
}

async fn apply(
    world: &World,
    object: &Value,
    manager: &str,
    dry_run: bool,
) -> Result<Value, KubectlError> {
    let options = ApplyOptions {
        manager,
        force: !dry_run,
        dry_run,
        precondition: Precondition::None,
    };
    world.objects().apply(object, options, WITHIN).await
}

async fn prepared(world: &World, set: &[Made]) -> Vec<Object> {
    let id = common::request_id::fresh();
    let id = id[id.len() - 12..].to_lowercase();
    let mut objects = Vec::new();
    for (number, made) in set.iter().enumerate() {
        let object = Object {
            resource: format!("o{number}"),
            properties: made.properties(&format!("o{number}-{id}")),
            is_there: made.is_there(),
        };
        if object.is_there {
            object.prepare(world, made.plain()).await;
        }
        objects.push(object);
    }
    let properties = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"never a key": "x"}, "metadata": {
        "name": format!("last-{id}"), "labels": {}}});
    objects.push(Object {
        resource: "last".to_owned(),
        properties,
        is_there: false,
    });
    objects
}

/// The resources that an error names, and whether it names all.
fn named(error: &ErrorBody) -> (BTreeSet<String>, bool) {
    let (mut names, mut is_whole) = (BTreeSet::new(), true);
    for cause in &error.causes {
        names.extend(cause.location.as_ref().and_then(|at| at.resource.clone()));
        let Some((_, listed)) = cause.message.split_once("; the same for ") else {
            continue;
        };
        let listed = listed.split_once(" more: ").unwrap().1;
        let listed = listed.split(';').next().unwrap();
        is_whole &= !listed.ends_with('…');
        let listed = listed.trim_end_matches(", …").split(", ");
        names.extend(listed.map(str::to_owned));
    }
    (names, is_whole)
}

async fn compared(world: &World, set: &[Made]) -> Result<(), TestCaseError> {
    let objects = prepared(world, set).await;
    let mut expected = BTreeSet::new();
    for object in &objects {
        if object.is_refused(world).await {
            expected.insert(object.resource.clone());
        }
    }
    let resources: Value = objects
        .iter()
        .map(|object| json!({"name": object.resource, "type": object.properties["kind"], "properties": object.properties}))
        .collect();
    let outcome = world.try_apply(resources, json!({"preflight": true})).await;
    // The last object is always refused.
    let error = outcome.unwrap_err();
    assert_eq!(error.code, ErrorCode::ResourcesFailed, "{error:?}");
    let count = format!("refuses {} of {} objects", expected.len(), objects.len());
    let (named, is_whole) = named(&error);
    let is_same = match is_whole {
        true => named == expected,
        false => named.is_subset(&expected),
    };
    match error.message.contains(&count) && is_same {
        true => Ok(()),
        false => Err(TestCaseError::fail(format!(
            "{count}: {expected:?}, but {error:?}"
        ))),
    }
}

#[expect(clippy::disallowed_methods, reason = "a test has no flags of its own")]
fn number(name: &str, usual: u64) -> u64 {
    let given = std::env::var(name);
    given.map_or(usual, |text| text.parse().unwrap())
}

fn runner() -> TestRunner {
    let seed = number("DM_PREFLIGHT_SEED", SEED);
    println!("DM_PREFLIGHT_SEED={seed}");
    let config = Config {
        cases: u32::try_from(number("DM_PREFLIGHT_CASES", CASES)).unwrap(),
        failure_persistence: None,
        max_shrink_iters: 200,
        ..Config::default()
    };
    let seed = [seed.to_be_bytes(); 4].concat();
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &seed))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_of_one_object_of_each_shape_finds_what_a_dry_run_of_each_finds() {
    let world = World::new().await;
    let runtime = tokio::runtime::Handle::current();
    let outcome = runner().run(&sets(), |set| {
        tokio::task::block_in_place(|| runtime.block_on(compared(&world, &set)))
    });
    outcome.unwrap();
    world.end().await;
}
