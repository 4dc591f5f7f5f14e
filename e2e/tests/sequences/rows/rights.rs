//! The service account of a deployment loses rights while it is applied, and gets them back.

use anyhow::Result;

use super::holds;
use crate::model::{Configuration, Item, Kind, ObjectId, Options, Pace};
use crate::moves::{ClusterAct, Move, Rights, Then, What, Write};

const MAP: ObjectId = ObjectId::own(0, Kind::Map, 0);
const POD: ObjectId = ObjectId::own(0, Kind::Pod, 0);

/// Longer than the pod takes to start, so that what comes after it is tried without the rights.
const UNTIL_REFUSED: Move = Move::Pause(4000);

fn in_account() -> Options {
    Options {
        in_account: true,
        allow_deletes: true,
        ..Options::default()
    }
}

fn map_after_pod(value: u32) -> Configuration {
    Configuration::of([
        Item::new(POD, value).paced(Pace::Slow(2500)),
        Item::new(MAP, value).after(),
    ])
}

fn grant(rights: Rights) -> Move {
    Move::Cluster(ClusterAct::Grant(rights))
}

async fn lost_while_it_is_created(left: Rights) -> Result<()> {
    let create = Write::create(0, map_after_pod(1)).with(in_account());
    holds([
        create.then(Then::GoOn).into(),
        Move::Until(POD, 1),
        grant(left),
        UNTIL_REFUSED,
        Move::Quiet,
        Write::update(0, map_after_pod(2))
            .with(in_account())
            .must_succeed()
            .into(),
        Move::Quiet,
    ])
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_create_that_loses_all_rights_is_recorded_and_updated_once_they_are_back() -> Result<()> {
    lost_while_it_is_created(Rights::Nothing).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_create_that_may_only_read_any_more_is_recorded_and_updated_once_it_may_write()
-> Result<()> {
    lost_while_it_is_created(Rights::ReadOnly).await
}

#[tokio::test(flavor = "multi_thread")]
async fn going_back_without_rights_leaves_nothing_off_the_record() -> Result<()> {
    let back = Options {
        rollback_on_failure: true,
        ..in_account()
    };
    let update = Write::update(0, map_after_pod(2)).with(back);
    holds([
        Write::create(0, Configuration::of([Item::new(MAP, 1)]))
            .with(in_account())
            .into(),
        update.then(Then::GoOn).into(),
        Move::Until(POD, 2),
        grant(Rights::NoDeletes),
        UNTIL_REFUSED,
        Move::Quiet,
    ])
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delete_that_may_not_delete_any_more_leaves_the_rest_on_record() -> Result<()> {
    let many = (0..120).map(|n| Item::new(ObjectId::own(0, Kind::Map, n), 1));
    let delete = Write::new(0, What::Delete);
    holds([
        Write::create(0, Configuration::of(many))
            .with(in_account())
            .into(),
        delete.clone().then(Then::GoOn).into(),
        grant(Rights::NoDeletes),
        Move::Quiet,
        // The first one may have ended before the rights went.
        delete.into(),
        Move::Quiet,
    ])
    .await
}
