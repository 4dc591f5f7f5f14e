//! Keys that divide the store into windows.
//!
//! etcd counts every key of a range that it is asked for, whatever the limit: a page out of millions of keys would take
//! a tenth of a second. So reads ask window by window. Signposts are hints: whatever they are, what is read is the same.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::super::client::Client;
use super::super::client::wire::{RangeAnswer, Text};
use super::super::names::{Names, after, between};
use super::super::ownership::ANSWER;
use crate::store::kv::KvError;

/// Keys of a new window.
const WINDOW: usize = 500;
/// A window with more keys gets a signpost where it is read.
const MANY: i64 = 2_000;
/// Keys in one answer while the store is surveyed. etcd counts the rest of the store for each, so they are many.
const SURVEY: usize = 10_000;

#[derive(Debug, Default)]
pub struct Signposts(Mutex<BTreeSet<Text>>);

impl Signposts {
    fn all(&self) -> MutexGuard<'_, BTreeSet<Text>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where the window ends that begins with this key.
    pub fn end(&self, from: &Text, to: &Text) -> Text {
        let all = self.all();
        let next = all
            .range((Bound::Excluded(from), Bound::Excluded(to)))
            .next();
        next.unwrap_or(to).clone()
    }

    /// Where the window begins that ends before this key.
    pub fn beginning(&self, from: &Text, to: &Text) -> Text {
        let all = self.all();
        let next = all
            .range((Bound::Excluded(from), Bound::Excluded(to)))
            .next_back();
        next.unwrap_or(from).clone()
    }

    /// Learns from an answer: a window with many keys is divided after the last one that was read, and two windows
    /// become one where the first is empty.
    pub fn learn(&self, answer: &RangeAnswer, end: &Text) {
        match answer.kvs.last() {
            Some(last) if answer.count.0 > MANY => {
                self.all().insert(after(&last.key));
            }
            None => {
                self.all().remove(end);
            }
            Some(_) => {}
        }
    }

    /// Puts signposts into the whole store.
    pub async fn survey(&self, client: &Client, names: &Names) -> Result<(), KvError> {
        let (mut from, to) = names.entries();
        loop {
            let mut question = between((from, to.clone()), SURVEY);
            question.keys_only = true;
            let found = client.call(&question, ANSWER).await?;
            let posts = found.kvs.iter().skip(WINDOW).step_by(WINDOW);
            self.all().extend(posts.map(|found| found.key.clone()));
            match found.kvs.last() {
                Some(last) if found.more => from = after(&last.key),
                _ => return Ok(()),
            }
        }
    }
}
