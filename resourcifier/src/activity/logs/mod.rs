//! The logs of a deployment's containers, as one stream.
//!
//! Without `follow`, container after container. With it, all at once, and the pods that come later too: until the caller
//! reads no more, or for an hour.

mod container;
mod notice;
mod reader;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use common::api::activity::{LogItem, LogNotice, LogsRequest};
use common::model::ResourceName;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tokio::sync::mpsc::Sender;
use tokio::time::Instant;

use self::container::{Container, Key};
use self::reader::{End, Reader};
use super::READ;
use super::family::Family;
use crate::apply;
use crate::kubectl::{ClusterApi, KubectlError};

/// Containers whose logs one request reads.
const CONTAINERS: usize = 50;
/// Pods that one request looks at.
const PODS: usize = 200;
/// The pause between two looks for new pods.
const LOOK: Duration = Duration::from_secs(3);
/// The longest that a request follows.
const FOLLOWED: Duration = Duration::from_secs(3600);

/// Sends the lines and notices.
///
/// # Errors
/// The cluster does not answer, or the caller may not read pods or logs.
pub async fn logs(
    kubectl: Arc<dyn ClusterApi>,
    request: LogsRequest,
    sink: Sender<LogItem>,
) -> Result<(), KubectlError> {
    let mut work = Work {
        kubectl: &*kubectl,
        request: &request,
        sink: &sink,
        known: HashMap::new(),
        said: HashSet::new(),
    };
    match request.follow {
        true => work.follow().await,
        false => work.read().await,
    }
}

struct Work<'a> {
    kubectl: &'a dyn ClusterApi,
    request: &'a LogsRequest,
    sink: &'a Sender<LogItem>,
    /// Containers whose logs were begun, with the time of the last line of those to go on with.
    known: HashMap<Key, Known>,
    /// Notices that were sent.
    said: HashSet<LogNotice>,
}

enum Known {
    Reading,
    Done,
    /// The stream broke off after a line of this time.
    Broken(Option<String>),
}

impl<'a> Work<'a> {
    /// What there is now.
    async fn read(&mut self) -> Result<(), KubectlError> {
        for (container, _) in self.look().await? {
            let (container, end) = self.reader(container, None).run().await;
            self.ended(&container, end).await?;
        }
        Ok(())
    }

    /// What there is, and what comes.
    async fn follow(&mut self) -> Result<(), KubectlError> {
        let (sink, end) = (self.sink, Instant::now() + FOLLOWED);
        let (mut running, mut next) = (FuturesUnordered::new(), Instant::now());
        loop {
            tokio::select! {
                () = sink.closed() => return Ok(()),
                () = tokio::time::sleep_until(end) => return self.over().await,
                () = tokio::time::sleep_until(next) => {
                    for (container, after) in self.look().await? {
                        running.push(self.reader(container, after).run());
                    }
                    next = Instant::now() + LOOK;
                }
                Some((container, end)) = running.next(), if !running.is_empty() => {
                    self.ended(&container, end).await?;
                }
            }
        }
    }

    /// What to do with a container at the next look.
    async fn ended(&mut self, container: &Container, end: End) -> Result<(), KubectlError> {
        let known = match end {
            End::Failed(error) => return Err(error),
            End::Done => Known::Done,
            End::BrokeOff(after) => Known::Broken(after),
            End::Missing(reason) => {
                self.say(reason, Some(container)).await;
                Known::Broken(None)
            }
        };
        self.known.insert(container.key(), known);
        Ok(())
    }

    fn reader(&self, container: Container, after: Option<String>) -> Reader<'a> {
        Reader {
            kubectl: self.kubectl,
            request: self.request,
            sink: self.sink,
            container,
            after,
        }
    }

    /// The containers to read now, each with the time to go on after.
    async fn look(&mut self) -> Result<Vec<(Container, Option<String>)>, KubectlError> {
        let family = Family::find(self.kubectl, &self.request.objects).await?;
        for notice in &family.notices {
            self.say(notice.clone(), None).await;
        }
        let pods = family.pods();
        let mut wanted = Vec::new();
        let objects: Vec<_> = pods
            .iter()
            .map(|(_, member)| member.object.clone())
            .collect();
        let objects = &objects[..objects.len().min(PODS)];
        let live = apply::each(self.kubectl, objects, READ).await;
        for ((_, member), live) in pods.iter().zip(live) {
            let Some(live) = live? else { continue };
            let found = container::of(&live, &member.resource, self.request.container.as_deref());
            wanted.extend(found);
        }
        if wanted.is_empty() {
            self.say(notice::nothing(self.request, &pods), None).await;
        }
        Ok(self.begin(wanted).await)
    }

    /// Begins with those of the containers that are not read yet, as many as may be.
    async fn begin(&mut self, found: Vec<Container>) -> Vec<(Container, Option<String>)> {
        let mut begun = Vec::new();
        let reading = |known: &&Known| matches!(known, Known::Reading);
        let mut room = CONTAINERS.saturating_sub(self.known.values().filter(reading).count());
        let mut left = 0;
        for container in found {
            if let Some(text) = notice::missing(&container, self.request) {
                self.say(text, Some(&container)).await;
                continue;
            }
            let after = match self.known.get(&container.key()) {
                Some(Known::Reading | Known::Done) => continue,
                Some(Known::Broken(after)) => after.clone(),
                None => None,
            };
            if room == 0 {
                left += 1;
                continue;
            }
            room -= 1;
            self.known.insert(container.key(), Known::Reading);
            begun.push((container, after));
        }
        if left > 0 {
            let text = format!(
                "the logs of {left} more containers are not shown: name a resource or a container"
            );
            self.say(text, None).await;
        }
        begun
    }

    async fn over(&mut self) -> Result<(), KubectlError> {
        let minutes = FOLLOWED.as_secs() / 60;
        let text = format!("the logs were followed for {minutes} minutes, the limit: ask again");
        self.say(text, None).await;
        Ok(())
    }

    /// Sends a notice once. A caller that reads no more is noticed elsewhere.
    async fn say(&mut self, message: String, about: Option<&Container>) {
        let notice = notice_of(message, about);
        if self.said.insert(notice.clone()) {
            let _ = self.sink.send(LogItem::Notice(notice)).await;
        }
    }
}

fn notice_of(message: String, about: Option<&Container>) -> LogNotice {
    let resource = |container: &Container| -> ResourceName { container.resource.clone() };
    LogNotice {
        resource: about.map(resource),
        pod: about.map(|container| container.pod.clone()),
        container: about.map(|container| container.name.clone()),
        message,
    }
}
