//! Watches over what is not ready yet: one for each kind and namespace that has such objects.
//!
//! A watch that is forbidden, or that ends, loses nothing: what nobody watches is looked at.

use std::time::Duration;

use common::model::ObjectRef;
use futures::future::BoxFuture;
use futures::stream::{BoxStream, SelectAll};
use futures::{FutureExt, StreamExt};
use serde_json::Value;
use tokio::time::Instant;

use super::work::Work;
use crate::apply::context::Context;
use crate::apply::definitions::shared;
use crate::apply::fetch;
use crate::apply::object::change;
use crate::kubectl::{self, Change, KubectlError, Query, ServedKind, Watch};
use crate::plan::{self, Node};

/// A watch is opened anew after this long.
const OPEN: Duration = Duration::from_secs(300);
/// Watches of one operation: each is a connection to the API server. A template with objects in thousands of namespaces
/// gets no more; what is beyond them is looked at.
const WATCHES: usize = 64;
/// What is watched is looked at this often all the same.
const BACKSTOP: Duration = Duration::from_secs(10);

/// A watch, by its place.
pub type Group = usize;
/// What came over a watch; `None` when it ended.
type News = (Group, Option<Result<Change, KubectlError>>);

pub struct Watches<'a> {
    context: Context<'a>,
    entries: Vec<Entry>,
    streams: SelectAll<BoxStream<'static, News>>,
}

struct Entry {
    kind: ServedKind,
    namespace: Option<String>,
    /// Such objects have another label.
    is_shared: bool,
    state: State,
    looked: Instant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing is to be watched.
    Closed,
    /// From this version of the cluster's objects on.
    Wanted(u64),
    Open(u64),
    /// The cluster does not allow it, or there are enough.
    Useless,
}

/// How an object is now; `None` when it is gone.
pub struct Seen {
    pub object: ObjectRef,
    pub uid: Option<String>,
    pub live: Option<Value>,
}

impl<'a> Watches<'a> {
    pub fn new(context: Context<'a>) -> Self {
        Self {
            context,
            entries: Vec::new(),
            streams: SelectAll::new(),
        }
    }

    /// Watches the object from its last known state on. Whether it is watched already from there on.
    pub fn want(&mut self, work: &Work) -> bool {
        let Some(version) = work.live().and_then(change::version) else {
            return false;
        };
        if work.node.metadata.is_shared() && !work.live().is_some_and(shared::is_shared) {
            // Its label is missing, by which it would be watched.
            return false;
        }
        let Some(group) = self.group(&work.node) else {
            return false;
        };
        let state = &mut self.entries[group].state;
        match *state {
            State::Closed => *state = State::Wanted(version),
            State::Wanted(since) => *state = State::Wanted(since.min(version)),
            State::Open(since) => return since <= version,
            State::Useless => {}
        }
        false
    }

    fn group(&mut self, node: &Node) -> Option<Group> {
        let object = &node.object;
        let kind = self.context.catalog.current(object)?;
        let is_of = |entry: &Entry| {
            let is_same_place = entry.kind == *kind && entry.namespace == object.namespace;
            is_same_place && entry.is_shared == node.metadata.is_shared()
        };
        if let Some(group) = self.entries.iter().position(is_of) {
            return Some(group);
        }
        let state = match self.entries.len() < WATCHES {
            true => State::Closed,
            false => State::Useless,
        };
        self.entries.push(Entry {
            kind: kind.clone(),
            namespace: object.namespace.clone(),
            is_shared: node.metadata.is_shared(),
            state,
            looked: Instant::now(),
        });
        Some(self.entries.len() - 1)
    }

    /// Those that are to be opened now.
    pub fn openings(&mut self) -> Vec<(Group, BoxFuture<'a, Result<Watch, KubectlError>>)> {
        let context = self.context;
        let mut calls = Vec::new();
        for (group, entry) in self.entries.iter_mut().enumerate() {
            let State::Wanted(since) = entry.state else {
                continue;
            };
            entry.state = State::Open(since);
            let (kind, namespace) = (entry.kind.clone(), entry.namespace.clone());
            let selector = match entry.is_shared {
                true => format!("{}=true", plan::SHARED),
                false => fetch::selector(context.deployment),
            };
            let open = async move {
                let query = Query {
                    kind: &kind,
                    namespace: namespace.as_deref(),
                    selector: Some(&selector),
                    metadata_only: false,
                };
                let within = context.deadline.left().min(OPEN);
                context
                    .kubectl
                    .watch(query, &since.to_string(), within)
                    .await
            };
            calls.push((group, open.boxed()));
        }
        calls
    }

    pub fn opened(&mut self, group: Group, outcome: Result<Watch, KubectlError>) {
        match outcome {
            Ok(watch) => {
                let news = watch.map(move |change| (group, Some(change)));
                let end = futures::stream::once(async move { (group, None) });
                self.streams.push(news.chain(end).boxed());
            }
            Err(error) if error.is_transient() => self.entries[group].state = State::Closed,
            Err(error) => {
                let kind = &self.entries[group].kind.kind;
                tracing::info!(%error, "{kind} objects cannot be watched; they are looked at instead");
                self.entries[group].state = State::Useless;
            }
        }
    }

    /// The next change; nothing while nothing is watched.
    pub async fn next(&mut self) -> Option<Seen> {
        loop {
            let (group, change) = self.streams.next().await?;
            match change {
                Some(Ok(change)) => return Some(seen(change)),
                Some(Err(_)) | None => self.entries[group].state = State::Closed,
            }
        }
    }

    /// Those of the awaited that nobody watches, or that were not looked at for long.
    pub fn unwatched(&mut self, works: &[Work], awaited: Vec<usize>) -> Vec<usize> {
        let now = Instant::now();
        let due: Vec<bool> = self
            .entries
            .iter()
            .map(|entry| now.duration_since(entry.looked) >= BACKSTOP)
            .collect();
        for (entry, due) in self.entries.iter_mut().zip(&due) {
            if *due {
                entry.looked = now;
            }
        }
        let is_unwatched = |index: &usize| {
            let work = &works[*index];
            let is_watched = self.want(work);
            let group = self.group(&work.node);
            !is_watched || group.is_some_and(|group| due.get(group) == Some(&true))
        };
        awaited.into_iter().filter(is_unwatched).collect()
    }
}

fn seen(change: Change) -> Seen {
    let (object, uid) = (
        kubectl::object_ref(change.object()),
        change::uid(change.object()).map(str::to_owned),
    );
    let live = match change {
        Change::Is(live) => Some(live),
        Change::Gone(_) => None,
    };
    Seen { object, uid, live }
}
