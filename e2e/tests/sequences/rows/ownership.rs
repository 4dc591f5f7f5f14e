//! Whose an object is, is decided at the write; what was not ours is not deleted.

use anyhow::Result;

use super::holds;
use crate::model::{Configuration, Item, Kind, ObjectId, Options, Pace, Policies};
use crate::moves::{Act, ClusterAct, Move, Then, Verb, What, Write};

const SHARED: ObjectId = ObjectId::shared(Kind::Map, 0);
const POD: ObjectId = ObjectId::own(0, Kind::Pod, 0);

fn with(policies: Policies) -> Options {
    Options {
        policies,
        ..Options::default()
    }
}

/// A create that takes the object of somebody else, fails, and goes back.
async fn goes_back(policies: Policies, delete: Option<&'static str>) -> Result<()> {
    let asked = Configuration::of([
        Item::new(SHARED, 1).with(Policies {
            conflict: Some("TAKE"),
            ..policies
        }),
        Item::new(POD, 1).paced(Pace::Never),
    ]);
    let options = Options {
        policies: Policies {
            delete,
            ..Policies::default()
        },
        rollback_on_failure: true,
        timeout_ms: Some(3000),
        ..Options::default()
    };
    holds([
        Move::Interfere(SHARED, Act::Make(7)),
        Write::create(0, asked).with(options).into(),
        Move::Quiet,
    ])
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn going_back_leaves_what_create_or_acquire_found() -> Result<()> {
    goes_back(Policies::default(), None).await
}

#[tokio::test(flavor = "multi_thread")]
async fn going_back_leaves_what_acquire_found() -> Result<()> {
    goes_back(Policies::create("ACQUIRE"), None).await
}

#[tokio::test(flavor = "multi_thread")]
async fn going_back_with_abandon_leaves_what_was_found() -> Result<()> {
    goes_back(Policies::default(), Some("ABANDON")).await
}

/// A slow pod, and the shared ConfigMap after it; meanwhile `other` happens.
async fn meanwhile(policies: Policies, other: Move) -> Result<()> {
    let asked = Configuration::of([
        Item::new(POD, 1).paced(Pace::Slow(3000)),
        Item::new(SHARED, 1).after().with(policies),
    ]);
    holds([
        Write::create(0, asked).then(Then::GoOn).into(),
        Move::Until(POD, 1),
        other,
        Move::Quiet,
    ])
    .await
}

fn of_another() -> Move {
    Write::create(1, Configuration::of([Item::new(SHARED, 9)]))
        .must_succeed()
        .into()
}

#[tokio::test(flavor = "multi_thread")]
async fn create_does_not_take_over_what_somebody_makes_meanwhile() -> Result<()> {
    meanwhile(
        Policies::create("CREATE"),
        Move::Interfere(SHARED, Act::Make(1)),
    )
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn take_does_not_steal_what_another_deployment_makes_meanwhile() -> Result<()> {
    meanwhile(Policies::conflict("TAKE"), of_another()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn yield_does_not_claim_what_another_deployment_makes_meanwhile() -> Result<()> {
    meanwhile(Policies::conflict("YIELD"), of_another()).await
}

/// A policy refuses a kind of request with words of its own while an update asks for a replacement.
async fn refused(verb: Verb, words: &'static str) -> Result<()> {
    let object = ObjectId::own(0, Kind::Map, 0);
    let asked = |value: u32| Configuration::of([Item::new(object, value)]);
    holds([
        Write::create(0, asked(1)).into(),
        Move::Cluster(ClusterAct::Refuse(verb, words)),
        Write::update(0, asked(2))
            .with(with(Policies::update("REPLACE")))
            .into(),
        Move::Quiet,
    ])
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_words_of_a_policy_do_not_make_a_field_immutable() -> Result<()> {
    refused(Verb::Update, "updates to this object are not allowed").await
}

#[tokio::test(flavor = "multi_thread")]
async fn words_about_immutable_fields_do_not_make_a_field_immutable() -> Result<()> {
    refused(Verb::Update, "spec: Invalid value: field is immutable").await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_abandoned_object_can_be_taken_by_another_deployment() -> Result<()> {
    let asked = |value: u32| Configuration::of([Item::new(SHARED, value)]);
    holds([
        Write::create(0, asked(1)).into(),
        Write::new(0, What::Delete)
            .with(with(Policies::delete("ABANDON")))
            .into(),
        Write::create(1, asked(2)).must_succeed().into(),
        Move::Quiet,
    ])
    .await
}
