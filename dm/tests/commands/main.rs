//! `dm` against a stand-in of the manager that records requests and gives prepared answers.
#![expect(
    clippy::unwrap_used,
    reason = "the stand-in and what drives it are tests too"
)]

mod applying;
mod changes;
mod contexts;
mod export;
mod following;
mod formats;
mod process;
mod properties;
mod registries;
mod requests;
mod stand_in;
mod templates;
mod upgrades;
