//! `/events`: the events of many operations in one stream. A browser opens only six connections to a server over HTTP/1.1, so
//! all tabs of a page share one stream.
//!
//! `event: operation` has the operation, `event: resource` has the report with the id of its operation, and `event: refused` says
//! that an operation is not followed, or not any more. Ids are `RUN-NUMBER.NUMBER…`, a number for each operation of the query in
//! its order, or `RUN-OPERATION-NUMBER` for a deployment.

use std::convert::Infallible;
use std::time::Instant;

use actix_web::web::{Bytes, Data};
use actix_web::{HttpRequest, HttpResponse};
use common::api::error::{ErrorBody, ErrorCode};
use common::api::manager::{OperationEvent, OperationEventsQuery, OperationRefusal};
use common::model::{DeploymentName, OperationId};
use common::server::{ApiError, Query, limits};
use futures::future::{FutureExt as _, select_all};
use futures::stream::{self, Stream};
use serde_json::json;
use tokio::sync::watch;

use super::events::{AGAIN, QUIET, RUN, json, place, stream_of_events};
use crate::auth::{Caller, Verb};
use crate::error::Error;
use crate::http::requests::extract::name;
use crate::service::Services;
use crate::service::operations::{OperationHandle, Watch, WatchEvent};

/// Enough for all tabs of one person.
const OPERATIONS: usize = 50;

pub async fn get(
    services: Data<Services>,
    caller: Caller,
    request: HttpRequest,
    Query(query): Query<OperationEventsQuery>,
) -> Result<HttpResponse, ApiError> {
    let source = Source::of(query)?;
    let counted = limits::stream(&request)?;
    let last = place(&request).unwrap_or_default().to_owned();
    let many = Many::open(services, caller, source, &last, counted).await?;
    Ok(stream_of_events().streaming(events(many)))
}

/// What is followed.
enum Source {
    Operations(Vec<OperationId>),
    Deployment(DeploymentName),
}

impl Source {
    fn of(query: OperationEventsQuery) -> Result<Self, ApiError> {
        let refused = |message| Err(ApiError::new(ErrorCode::InvalidRequest, message));
        let ids = match (query.operations, query.deployment) {
            (None, Some(deployment)) => return Ok(Self::Deployment(deployment)),
            (Some(ids), None) => ids,
            _ => {
                return refused("say what to follow: either operations=ID,ID or deployment=NAME");
            }
        };
        if ids.split(',').count() > OPERATIONS {
            return refused("a stream follows at most 50 operations: open another one for more");
        }
        let ids = ids.split(',').map(|id| name(OperationId::parse(id)));
        Ok(Self::Operations(ids.collect::<Result<_, _>>()?))
    }
}

/// One operation of the stream.
struct Part {
    id: OperationId,
    feed: Feed,
    /// The number of its next event.
    next: u64,
}

enum Feed {
    Live(OperationHandle, watch::Receiver<u64>),
    /// The kind and the data of its only event.
    Once(&'static str, String),
    Ended,
}

impl Part {
    /// The kind and the data of its next event, if there is one now.
    fn event(&mut self) -> Option<(&'static str, String)> {
        let (handle, changes) = match &mut self.feed {
            Feed::Live(handle, changes) => (handle, changes),
            Feed::Ended => return None,
            Feed::Once(kind, data) => {
                let event = (*kind, std::mem::take(data));
                self.feed = Feed::Ended;
                return Some(event);
            }
        };
        let live = handle.watch();
        // Read in this order: an end in between must not hide the last event.
        let ended = live.ended().is_some();
        changes.borrow_and_update();
        let Some((number, event)) = live.event(self.next) else {
            if ended {
                self.feed = Feed::Ended;
            }
            return None;
        };
        self.next = number + 1;
        Some(match event {
            WatchEvent::Operation(operation) => (OperationEvent::OPERATION, json(&*operation)),
            WatchEvent::Resource(report) => {
                let data = json!({"operation": self.id, "report": &*report});
                (OperationEvent::RESOURCE, data.to_string())
            }
        })
    }

    fn refuse(&mut self, error: Error) {
        self.feed = Feed::refused(&self.id, error);
    }
}

impl Feed {
    fn refused(operation: &OperationId, error: Error) -> Self {
        let error: ErrorBody = ApiError::from(error).0;
        let operation = operation.clone();
        let refusal = OperationRefusal { operation, error };
        Self::Once(OperationEvent::REFUSED, json(&refusal))
    }
}

/// All operations of the stream, and the caller that reads it.
struct Many {
    services: Data<Services>,
    caller: Caller,
    source: Source,
    parts: Vec<Part>,
    /// The newest operation that was added.
    newest: Option<OperationId>,
    /// The part that gave the last event: the next one has its turn.
    turn: usize,
    began: watch::Receiver<u64>,
    /// When the permissions were last checked.
    asked: Instant,
    _counted: limits::Stream,
}

fn events(many: Many) -> impl Stream<Item = Result<Bytes, Infallible>> {
    stream::unfold(many, |mut many| async move {
        let text = many.next().await?;
        Some((Ok(Bytes::from(text)), many))
    })
}

impl Many {
    async fn open(
        services: Data<Services>,
        caller: Caller,
        source: Source,
        last: &str,
        counted: limits::Stream,
    ) -> Result<Self, ApiError> {
        let began = services.operations.began();
        let mut many = Self {
            services,
            caller,
            source,
            parts: Vec::new(),
            newest: None,
            turn: 0,
            began,
            asked: Instant::now(),
            _counted: counted,
        };
        match &many.source {
            Source::Operations(ids) => {
                let numbers = last.split('.').map(|number| number.parse().unwrap_or(0));
                let numbers = numbers.chain(std::iter::repeat(0));
                for (id, next) in ids.clone().into_iter().zip(numbers) {
                    many.add(id, next).await;
                }
            }
            Source::Deployment(name) => many.begin(&name.clone(), last).await?,
        }
        Ok(many)
    }

    /// Starts with the operation that the last event was of, or else with the deployment's last one.
    async fn begin(&mut self, name: &DeploymentName, last: &str) -> Result<(), ApiError> {
        let gate = &self.services.gate;
        gate.deployment(&self.caller, name, Verb::Get).await?;
        let known = self.services.operations.of_deployment(name);
        let resumed = last.rsplit_once('-').and_then(|(id, number)| {
            Some((OperationId::parse(id).ok()?, number.parse::<u64>().ok()?))
        });
        if let Some((id, number)) = resumed {
            self.add(id.clone(), number + 1).await;
            for later in known.into_iter().filter(|later| *later > id) {
                self.add(later, 0).await;
            }
            return Ok(());
        }
        let newest = match known.into_iter().next_back() {
            Some(newest) => Some(newest),
            None => self.services.deployments.get(name).await?.operation,
        };
        if let Some(newest) = newest {
            self.add(newest, 0).await;
        }
        Ok(())
    }

    /// Adds an operation.
    async fn add(&mut self, id: OperationId, next: u64) {
        if self.newest.as_ref().is_none_or(|newest| *newest < id) {
            self.newest = Some(id.clone());
        }
        let feed = match self.feed(&id).await {
            Ok(feed) => feed,
            Err(error) => Feed::refused(&id, error),
        };
        self.parts.push(Part { id, feed, next });
    }

    async fn feed(&self, id: &OperationId) -> Result<Feed, Error> {
        let gate = &self.services.gate;
        gate.operation(&self.caller, id, Verb::Get).await?;
        Ok(match self.services.operations.watch(id).await? {
            Watch::Live(handle) => {
                let changes = handle.watch().changes();
                Feed::Live(handle, changes)
            }
            Watch::Past(operation) => Feed::Once(OperationEvent::OPERATION, json(&*operation)),
        })
    }

    /// The next event, or a comment after a long pause. `None` after the last event.
    async fn next(&mut self) -> Option<String> {
        loop {
            self.ask_again().await;
            self.look_for_later().await;
            if let Some(text) = self.event() {
                return Some(text);
            }
            let is_done = self
                .parts
                .iter()
                .all(|part| matches!(part.feed, Feed::Ended));
            if is_done && matches!(self.source, Source::Operations(_)) {
                return None;
            }
            match tokio::time::timeout(QUIET, self.change()).await {
                Ok(true) => {}
                Ok(false) => return None,
                Err(_) => return Some(":\n\n".to_owned()),
            }
        }
    }

    /// Checks from time to time that the caller may still see each operation.
    async fn ask_again(&mut self) {
        if self.asked.elapsed() < AGAIN {
            return;
        }
        self.asked = Instant::now();
        for part in &mut self.parts {
            let gate = &self.services.gate;
            if matches!(part.feed, Feed::Live(..))
                && let Err(error) = gate.operation(&self.caller, &part.id, Verb::Get).await
            {
                part.refuse(error);
            }
        }
    }

    /// Operations of the deployment that began since.
    async fn look_for_later(&mut self) {
        let Source::Deployment(name) = &self.source else {
            return;
        };
        if !self.began.has_changed().unwrap_or(false) {
            return;
        }
        self.began.borrow_and_update();
        // Ids begin with the time. One may have ended already.
        let all = self.services.operations.of_deployment(name);
        let newest = self.newest.clone();
        let later = all.into_iter().filter(|id| newest.as_ref() < Some(id));
        self.turn = 0;
        self.parts.retain(|part| !matches!(part.feed, Feed::Ended));
        for id in later.collect::<Vec<_>>() {
            self.add(id, 0).await;
        }
    }

    /// The next event of any part. Parts take turns.
    fn event(&mut self) -> Option<String> {
        let count = self.parts.len();
        for step in 1..=count {
            let index = (self.turn + step) % count;
            let part = self.parts.get_mut(index)?;
            if let Some((kind, data)) = part.event() {
                self.turn = index;
                let id = self.id(index);
                return Some(format!(
                    "id: {}-{id}\nevent: {kind}\ndata: {data}\n\n",
                    *RUN
                ));
            }
        }
        None
    }

    /// Where the stream is, after an event of the part.
    fn id(&self, index: usize) -> String {
        match (&self.source, self.parts.get(index)) {
            (Source::Deployment(_), Some(part)) => {
                format!("{}-{}", part.id, part.next.saturating_sub(1))
            }
            _ => {
                let numbers = self.parts.iter().map(|part| part.next.to_string());
                numbers.collect::<Vec<_>>().join(".")
            }
        }
    }

    /// Waits for a change. Returns whether the manager goes on.
    async fn change(&mut self) -> bool {
        // A clone, so that `look_for_later` sees the change too.
        let mut began = self.began.clone();
        let source = &self.source;
        let later = async move {
            match source {
                Source::Deployment(_) => began.changed().await.is_ok(),
                Source::Operations(_) => std::future::pending().await,
            }
        };
        let changes = self
            .parts
            .iter_mut()
            .filter_map(|part| match &mut part.feed {
                Feed::Live(handle, changes) => Some(
                    async {
                        tokio::select! {
                            changed = changes.changed() => changed.is_ok(),
                            () = handle.suspended() => false,
                        }
                    }
                    .boxed_local(),
                ),
                Feed::Once(..) | Feed::Ended => None,
            });
        let all: Vec<_> = changes.chain([later.boxed_local()]).collect();
        select_all(all).await.0
    }
}
