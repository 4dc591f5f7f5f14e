//! Previews, rollbacks and repeated requests.

use anyhow::Result;

use super::holds;
use crate::model::{Configuration, Item, Kind, ObjectId, Options, Pace};
use crate::moves::{Move, What, Write};

const MAP: ObjectId = ObjectId::own(0, Kind::Map, 0);
const POD: ObjectId = ObjectId::own(0, Kind::Pod, 0);

#[tokio::test(flavor = "multi_thread")]
async fn a_rollback_to_a_preview_leaves_no_operation_half_done() -> Result<()> {
    let preview = Configuration::of([Item::new(MAP, 2), Item::new(POD, 1).paced(Pace::Never)]);
    let short = Options {
        timeout_ms: Some(2000),
        ..Options::default()
    };
    holds([
        Write::create(0, Configuration::of([Item::new(MAP, 1)])).into(),
        Write::new(0, What::Preview(preview)).into(),
        Write::new(0, What::Rollback(0)).with(short).into(),
        Move::Quiet,
    ])
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_repeated_after_a_delete_is_not_taken_for_a_new_create() -> Result<()> {
    let keyed = Options {
        keyed: true,
        synchronous: true,
        ..Options::default()
    };
    holds([
        Write::create(0, Configuration::of([Item::new(MAP, 1)]))
            .with(keyed)
            .into(),
        Write::new(0, What::Delete).into(),
        Move::Repeat(0),
        Move::Quiet,
    ])
    .await
}
