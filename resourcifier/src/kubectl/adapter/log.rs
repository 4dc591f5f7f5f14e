//! The logs of containers: the requests, and the answer line by line.

use bytes::BytesMut;
use futures::StreamExt;
use reqwest::{Method, Response};
use tokio::sync::OwnedSemaphorePermit;

use crate::kubectl::error::KubectlError;
use crate::kubectl::proxy::request::Request;
use crate::kubectl::proxy::root_cause;
use crate::kubectl::{Log, LogLines, LogStream};

/// The maximum size of a log as one text, for any number of lines.
const TEXT_BYTES: usize = 64 * 1024;
/// The maximum size of a log that is not followed, as a stream.
const STREAM_BYTES: usize = 8 * 1024 * 1024;
/// The longest line that is passed on whole. The cluster itself divides lines of 16 KiB.
const LINE_BYTES: usize = 32 * 1024;
const CLIPPED: &str = "… (clipped)";

/// The last lines as one text.
pub fn tail(log: Log<'_>) -> Result<Request, KubectlError> {
    let mut request = request(log)?.query("limitBytes", &TEXT_BYTES.to_string());
    request.limit = 2 * TEXT_BYTES;
    Ok(request)
}

/// Each line behind its time.
pub fn stream(stream: LogStream<'_>) -> Result<Request, KubectlError> {
    let mut request = request(stream.log)?.query("timestamps", "true");
    if let Some(since) = stream.since {
        request = request.query("sinceTime", since);
    }
    Ok(match stream.follow {
        true => request.query("follow", "true"),
        false => request.query("limitBytes", &STREAM_BYTES.to_string()),
    })
}

fn request(log: Log<'_>) -> Result<Request, KubectlError> {
    let segments = [
        "api",
        "v1",
        "namespaces",
        log.namespace,
        "pods",
        log.pod,
        "log",
    ];
    Ok(Request::new("log", Method::GET, &segments)?
        .query("container", log.container)
        .query("tailLines", &log.lines.to_string())
        .query("previous", if log.previous { "true" } else { "false" }))
}

struct Source {
    response: Response,
    cutter: Cutter,
    is_over: bool,
    _place: OwnedSemaphorePermit,
}

/// The lines of the answer. An error is the last item.
pub fn lines(response: Response, place: OwnedSemaphorePermit) -> LogLines {
    let source = Source {
        response,
        cutter: Cutter::default(),
        is_over: false,
        _place: place,
    };
    futures::stream::unfold(source, |mut source| async move {
        let line = source.next().await?;
        Some((line, source))
    })
    .boxed()
}

impl Source {
    async fn next(&mut self) -> Option<Result<String, KubectlError>> {
        loop {
            if let Some(line) = self.cutter.cut() {
                return Some(Ok(line));
            }
            if self.is_over {
                return self.cutter.rest().map(Ok);
            }
            match self.response.chunk().await {
                Ok(Some(chunk)) => self.cutter.buffer.extend_from_slice(&chunk),
                Ok(None) => self.is_over = true,
                Err(error) => {
                    (self.is_over, self.cutter) = (true, Cutter::default());
                    let text = format!("the log broke off: {}", root_cause(&error));
                    return Some(Err(KubectlError::Unreachable(text)));
                }
            }
        }
    }
}

/// Divides bytes into lines, each byte looked at once.
#[derive(Default)]
struct Cutter {
    buffer: BytesMut,
    searched: usize,
    /// Inside a line whose beginning was passed on already.
    is_clipping: bool,
}

impl Cutter {
    /// The next line that is complete, or too long.
    fn cut(&mut self) -> Option<String> {
        loop {
            let end = self.buffer[self.searched..]
                .iter()
                .position(|byte| *byte == b'\n');
            let Some(end) = end else {
                self.searched = self.buffer.len();
                return self.clipped();
            };
            let line = self.buffer.split_to(self.searched + end + 1);
            self.searched = 0;
            if !std::mem::take(&mut self.is_clipping) {
                return Some(text(&line));
            }
        }
    }

    /// The beginning of a line that is too long.
    fn clipped(&mut self) -> Option<String> {
        if self.buffer.len() <= LINE_BYTES {
            return None;
        }
        let line = text(&self.buffer.split());
        self.searched = 0;
        let was_clipping = std::mem::replace(&mut self.is_clipping, true);
        (!was_clipping).then_some(line)
    }

    /// The last line, if nothing ends it.
    fn rest(&mut self) -> Option<String> {
        let rest = self.buffer.split();
        self.searched = 0;
        (!rest.is_empty() && !self.is_clipping).then(|| text(&rest))
    }
}

fn text(line: &[u8]) -> String {
    let line = match line.strip_suffix(b"\n") {
        Some(line) => line.strip_suffix(b"\r").unwrap_or(line),
        None => line,
    };
    if line.len() <= LINE_BYTES {
        return String::from_utf8_lossy(line).into_owned();
    }
    String::from_utf8_lossy(&line[..LINE_BYTES]).into_owned() + CLIPPED
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cut(pieces: &[&[u8]]) -> Vec<String> {
        let (mut cutter, mut lines) = (Cutter::default(), Vec::new());
        for piece in pieces {
            cutter.buffer.extend_from_slice(piece);
            while let Some(line) = cutter.cut() {
                lines.push(line);
            }
        }
        lines.extend(cutter.rest());
        lines
    }

    #[test]
    fn a_very_long_line_is_clipped_once_and_the_next_is_whole() {
        let long = "x".repeat(3 * LINE_BYTES);
        let lines = cut(&[long.as_bytes(), long.as_bytes(), b"\nnext\n"]);
        assert_eq!(lines, ["x".repeat(LINE_BYTES) + CLIPPED, "next".to_owned()]);
        let lines = cut(&[(long + "\nnext").as_bytes()]);
        assert_eq!(lines, ["x".repeat(LINE_BYTES) + CLIPPED, "next".to_owned()]);
    }

    proptest! {
        #[test]
        fn lines_are_the_same_however_they_arrive(text in "[ab\r\n]{0,40}", sizes in proptest::collection::vec(1..5usize, 40)) {
            let (mut rest, mut pieces) = (text.as_bytes(), Vec::new());
            for size in sizes {
                let (piece, after) = rest.split_at(size.min(rest.len()));
                pieces.push(piece);
                rest = after;
            }
            pieces.push(rest);
            let expected: Vec<&str> = text.lines().collect();
            prop_assert_eq!(cut(&pieces), expected);
        }
    }
}
