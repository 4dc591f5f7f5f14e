//! Reads the log of one container.

use common::api::activity::{LogItem, LogLine, LogsRequest};
use futures::StreamExt;
use tokio::sync::mpsc::Sender;

use super::container::Container;
use super::notice::{self, Refusal};
use crate::activity::READ;
use crate::kubectl::{ClusterApi, KubectlError, Log, LogStream};

pub struct Reader<'a> {
    pub kubectl: &'a dyn ClusterApi,
    pub request: &'a LogsRequest,
    pub sink: &'a Sender<LogItem>,
    pub container: Container,
    /// The time of the last line that was read, if the log broke off.
    pub after: Option<String>,
}

/// How reading ended.
pub enum End {
    /// The log is over.
    Done,
    /// It is not there, for this reason.
    Missing(String),
    /// It can go on after the line of this time.
    BrokeOff(Option<String>),
    Failed(KubectlError),
}

impl Reader<'_> {
    /// Passes on the lines, and gives the container back.
    pub async fn run(mut self) -> (Container, End) {
        let end = self.read().await;
        (self.container, end)
    }

    async fn read(&mut self) -> End {
        let stream = LogStream {
            log: Log {
                namespace: &self.container.namespace,
                pod: &self.container.pod,
                container: &self.container.name,
                lines: self.request.tail,
                previous: self.request.previous,
            },
            follow: self.request.follow && !self.request.previous,
            since: self.after.as_deref(),
        };
        let mut lines = match self.kubectl.log_lines(stream, READ).await {
            Ok(lines) => lines,
            Err(error) => return self.refused(error),
        };
        let mut read_before = self.after.clone();
        while let Some(line) = lines.next().await {
            match line {
                Ok(line) if is_before(&line, read_before.as_deref()) => (),
                Ok(line) => {
                    // Several lines may have one time.
                    read_before = None;
                    self.pass(&line).await;
                }
                Err(error) => {
                    tracing::info!(%error, pod = self.container.pod, "a log broke off");
                    return End::BrokeOff(self.after.clone());
                }
            }
            if self.sink.is_closed() {
                return End::Done;
            }
        }
        End::Done
    }

    fn refused(&self, error: KubectlError) -> End {
        match notice::refusal(error, &self.container, self.request.previous) {
            Refusal::Failed(error) => End::Failed(error),
            Refusal::Notice(text) => End::Missing(text),
        }
    }

    async fn pass(&mut self, line: &str) {
        let (time, text) = timed(line);
        if let Some(time) = time {
            self.after = Some(time.to_owned());
        }
        let line = LogLine {
            resource: self.container.resource.clone(),
            pod: self.container.pod.clone(),
            container: self.container.name.clone(),
            time: time.map(str::to_owned),
            text: text.to_owned(),
        };
        // A caller that reads no more ends the loop.
        let _ = self.sink.send(LogItem::Line(line)).await;
    }
}

/// Whether a line is one from before the log broke off, after the line of that time.
fn is_before(line: &str, after: Option<&str>) -> bool {
    // Fractions of a second may have any number of digits.
    let digits = |time: &str| time.trim_end_matches('Z').to_owned();
    let (time, _) = timed(line);
    time.zip(after)
        .is_some_and(|(time, after)| digits(time) <= digits(after))
}

/// The time in front of a line: RFC 3339 in UTC, with nanoseconds.
fn timed(line: &str) -> (Option<&str>, &str) {
    let (time, text) = line.split_once(' ').unwrap_or((line, ""));
    let is_time = time.len() >= 20 && time.as_bytes()[10] == b'T' && time.is_ascii();
    match is_time {
        true => (Some(time), text),
        false => (None, line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_until_the_one_where_the_log_broke_off_are_known() {
        let after = Some("2026-01-01T00:00:00.1Z");
        for (time, known) in [
            ("00Z", true),
            ("00.1Z", true),
            ("00.12Z", false),
            ("01Z", false),
        ] {
            let line = format!("2026-01-01T00:00:{time} a");
            assert_eq!(is_before(&line, after), known, "{time}");
            assert!(!is_before(&line, None));
        }
        assert!(!is_before("no time", after));
    }

    #[test]
    fn a_line_stands_behind_its_time() {
        let time = "2026-01-01T00:00:00.000000001Z";
        assert_eq!(timed(&format!("{time} a b")), (Some(time), "a b"));
        assert_eq!(timed(time), (Some(time), ""));
        assert_eq!(timed("no time"), (None, "no time"));
        assert_eq!(timed(""), (None, ""));
    }
}
