//! A stopped operation stops.

use anyhow::Result;

use super::holds;
use crate::model::{Configuration, Item, Kind, ObjectId, Options, Pace, Policies};
use crate::moves::{Act, ClusterAct, Move, Then, What, Write};

const MAP: ObjectId = ObjectId::own(0, Kind::Map, 0);
const POD: ObjectId = ObjectId::own(0, Kind::Pod, 0);

/// A pod that starts late, and a ConfigMap behind it.
fn late_map(value: u32) -> Configuration {
    Configuration::of([
        Item::new(POD, 0).paced(Pace::Slow(3000)),
        Item::new(MAP, value).after(),
    ])
}

/// Long enough for what goes on behind a stopped operation to reach the cluster. There is no condition for "never".
const LATER: Move = Move::Pause(4000);

#[tokio::test(flavor = "multi_thread")]
async fn what_a_stopped_create_did_not_apply_does_not_come_later() -> Result<()> {
    let pod = Item::new(POD, 0).paced(Pace::Slow(3000));
    let now = Configuration::of([Item::new(MAP, 2), pod]);
    holds([
        Write::create(0, late_map(1)).then(Then::GoOn).into(),
        Move::Until(POD, 0),
        Move::Stop(0),
        Write::update(0, now).into(),
        LATER,
        Move::Quiet,
    ])
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_later_update_leaves_out_does_not_come_from_a_stopped_create() -> Result<()> {
    let without = Configuration::of([Item::new(POD, 0).paced(Pace::Slow(3000))]);
    holds([
        Write::create(0, late_map(1)).then(Then::GoOn).into(),
        Move::Until(POD, 0),
        Move::Stop(0),
        Write::update(0, without).into(),
        Move::Quiet,
        LATER,
        Move::Quiet,
    ])
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_delete_does_not_delete_what_a_later_update_keeps() -> Result<()> {
    let many: Vec<_> = (0..120)
        .map(|n| Item::new(ObjectId::own(0, Kind::Map, n), 1))
        .collect();
    let many = Configuration::of(many);
    holds([
        Write::create(0, many.clone()).into(),
        Write::new(0, What::Delete)
            .then(Then::StopAfter(150))
            .into(),
        Write::update(0, many).into(),
        LATER,
        Move::Quiet,
    ])
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_stopped_update_made_anew_goes_with_its_deployment() -> Result<()> {
    let many: Vec<_> = (0..120).map(|n| ObjectId::own(0, Kind::Map, n)).collect();
    let asked = Configuration::of(many.iter().map(|object| Item::new(*object, 1)));
    let mut moves = vec![Write::create(0, asked.clone()).into()];
    moves.extend(
        many.iter()
            .map(|object| Move::Interfere(*object, Act::Delete)),
    );
    moves.extend([
        Write::update(0, asked).then(Then::GoOn).into(),
        Move::Until(ObjectId::own(0, Kind::Map, 20), 1),
        Move::Stop(0),
        Write::new(0, What::Delete).must_succeed().into(),
        Move::Quiet,
    ]);
    holds(moves).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_replacement_of_immutable_objects_leaves_none_behind() -> Result<()> {
    let fixed = |value: u32| {
        let objects = (0..40).map(|n| ObjectId::own(0, Kind::Fixed, n));
        Configuration::of(objects.map(|object| Item::new(object, value)))
    };
    let replace = Options {
        policies: Policies::update("REPLACE"),
        ..Options::default()
    };
    holds([
        Write::create(0, fixed(1)).into(),
        Write::update(0, fixed(2))
            .with(replace)
            .then(Then::GoOn)
            .into(),
        Move::Until(ObjectId::own(0, Kind::Fixed, 10), 2),
        Move::Stop(0),
        Write::new(0, What::Delete).must_succeed().into(),
        Move::Quiet,
    ])
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delete_that_is_stopped_while_it_forgets_leaves_a_sound_store() -> Result<()> {
    let asked = |value: u32| Configuration::of([Item::new(MAP, value)]);
    let mut moves = vec![Write::create(0, asked(0)).into()];
    moves.extend((1..40).map(|value| Write::update(0, asked(value)).into()));
    moves.extend([
        Write::new(0, What::Delete)
            .then(Then::StopAt("removing"))
            .into(),
        Move::Quiet,
    ]);
    holds(moves).await
}

#[tokio::test(flavor = "multi_thread")]
async fn leftovers_of_a_kind_that_is_gone_do_not_block_the_next_update() -> Result<()> {
    let thing = ObjectId::own(0, Kind::Custom, 0);
    let pod = Item::new(POD, 1).paced(Pace::Slow(3000));
    let without = |value: u32| vec![Item::new(MAP, value), pod.clone()];
    let mut with_thing = without(1);
    with_thing.push(Item::new(thing, 1));
    holds([
        Write::create(0, Configuration::of([Item::new(MAP, 1)])).into(),
        Write::update(0, Configuration::of(with_thing))
            .then(Then::GoOn)
            .into(),
        Move::Until(thing, 1),
        Move::Stop(0),
        Move::Cluster(ClusterAct::DropDefinition),
        // The API server stops serving the kind a moment after its definition is gone.
        Move::Pause(1000),
        Write::update(0, Configuration::of(without(2)))
            .must_succeed()
            .into(),
        Move::Quiet,
    ])
    .await
}
