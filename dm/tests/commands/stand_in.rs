//! The manager's stand-in: records what is asked, answers what was prepared.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use actix_web::http::StatusCode;
use actix_web::web::Bytes;
use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use dm::{ExitCode, Terminal};
use futures::StreamExt;
use futures::stream;
use serde_json::{Value, json};

#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Method and path with query.
    pub asked: String,
    pub prefer: Option<String>,
    pub last_event_id: Option<String>,
    /// Its `Idempotency-Key`.
    pub key: Option<String>,
    pub body: Value,
}

/// How a stream of events ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Whole,
    /// The connection breaks.
    Cut,
    /// Nothing more comes.
    Silence,
}

/// The status of an answer that never comes.
pub const NEVER: u16 = 0;

#[derive(Default)]
struct State {
    requests: Mutex<Vec<Request>>,
    answers: Mutex<HashMap<String, (u16, Value)>>,
    /// What the requests for events get, one after the other.
    streams: Mutex<VecDeque<(String, End)>>,
}

pub struct Manager {
    pub url: String,
    state: Arc<State>,
}

#[derive(Debug)]
pub struct Said {
    pub code: ExitCode,
    pub stdout: String,
    pub stderr: String,
}

async fn answer(request: HttpRequest, body: Bytes, state: web::Data<Arc<State>>) -> HttpResponse {
    let header = |name| {
        let value = request.headers().get(name)?;
        value.to_str().ok().map(str::to_owned)
    };
    let asked = format!("{} {}", request.method(), request.uri());
    state.requests.lock().unwrap().push(Request {
        asked: asked.clone(),
        prefer: header("prefer"),
        last_event_id: header("last-event-id"),
        key: header("idempotency-key"),
        body: serde_json::from_slice(&body).unwrap_or(Value::Null),
    });
    if let Some(operation) = asked.strip_suffix("/events") {
        return events(operation, &state);
    }
    let (status, body) = prepared(&asked, &state);
    if status == NEVER {
        return std::future::pending().await;
    }
    HttpResponse::build(StatusCode::from_u16(status).unwrap()).json(body)
}

fn prepared(asked: &str, state: &State) -> (u16, Value) {
    let answer = state.answers.lock().unwrap().get(asked).cloned();
    answer.unwrap_or_else(|| {
        let message = format!("{asked} is not prepared");
        (404, json!({"code": "NOT_FOUND", "message": message}))
    })
}

/// The next stream that was prepared; without one, the operation as it is, and silence if it is not done.
fn events(operation: &str, state: &State) -> HttpResponse {
    let stream = state.streams.lock().unwrap().pop_front();
    let (text, end) = stream.unwrap_or_else(|| {
        let (_, operation) = prepared(operation, state);
        let end = match operation["status"] == "DONE" {
            true => End::Whole,
            false => End::Silence,
        };
        (event(1, "operation", &operation), end)
    });
    let start = stream::iter([Ok(Bytes::from(text))]);
    let mut response = HttpResponse::Ok();
    response.content_type("text/event-stream");
    match end {
        End::Whole => response.streaming(start),
        End::Cut => {
            let cut = std::io::Error::other("the connection breaks");
            response.streaming(start.chain(stream::iter([Err(cut)])))
        }
        End::Silence => response.streaming(start.chain(stream::pending::<std::io::Result<_>>())),
    }
}

pub fn event(number: u64, kind: &str, data: &Value) -> String {
    format!("id: run-{number}\nevent: {kind}\ndata: {data}\n\n")
}

impl Manager {
    pub fn start(answers: &[(&str, u16, Value)]) -> Self {
        let state = Arc::new(State::default());
        for (asked, status, body) in answers {
            let answer = (*status, body.clone());
            state
                .answers
                .lock()
                .unwrap()
                .insert((*asked).to_owned(), answer);
        }
        let shared = web::Data::new(Arc::clone(&state));
        let server = HttpServer::new(move || {
            App::new()
                .app_data(shared.clone())
                .default_service(web::to(answer))
        });
        let server = server
            .workers(1)
            .disable_signals()
            .bind(("127.0.0.1", 0))
            .unwrap();
        let url = format!("http://{}", server.addrs()[0]);
        actix_web::rt::spawn(server.run());
        Self { url, state }
    }

    pub async fn dm(&self, args: &[&str]) -> Said {
        self.dm_with(args, Person::Absent).await
    }

    pub async fn dm_with(&self, args: &[&str], person: Person) -> Said {
        let args = [args, &["--service", &self.url]].concat();
        match person {
            Person::Absent => run(&args, b"", false).await,
            Person::Answers(answer) => run(&args, answer.as_bytes(), true).await,
        }
    }

    pub fn asked(&self) -> Vec<Request> {
        self.state.requests.lock().unwrap().clone()
    }

    pub fn now_answers(&self, asked: &str, body: Value) {
        let mut answers = self.state.answers.lock().unwrap();
        answers.insert(asked.to_owned(), (200, body));
    }

    /// The next request for events gets this.
    pub fn will_stream(&self, text: String, end: End) {
        self.state.streams.lock().unwrap().push_back((text, end));
    }
}

/// The person at the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Person {
    Absent,
    Answers(&'static str),
}

/// Runs `dm` within the test, away from any terminal.
pub async fn dm(args: &[&str], stdin: &[u8]) -> Said {
    run(args, stdin, false).await
}

async fn run(args: &[&str], stdin: &[u8], interactive: bool) -> Said {
    let (mut stdin, mut stdout, mut stderr) = (stdin, Vec::new(), Vec::new());
    let mut terminal = Terminal {
        stdin: &mut stdin,
        stdout: &mut stdout,
        stderr: &mut stderr,
        animated: false,
        colours: false,
        interactive,
        width: None,
        stderr_width: None,
    };
    let args = std::iter::once("dm")
        .chain(args.iter().copied())
        .map(Into::into);
    let code = dm::run(args, &mut terminal).await;
    Said {
        code,
        stdout: String::from_utf8(stdout).unwrap(),
        stderr: String::from_utf8(stderr).unwrap(),
    }
}

pub fn operation(kind: &str, status: &str) -> Value {
    json!({"id": "op-1", "type": kind, "deployment": "web", "user": "anonymous", "status": status,
        "progress": {"step": "applying", "done": 1, "total": 2}, "startTime": "2026-01-01T00:00:00Z", "warnings": []})
}

pub fn deployment(status: &str, errors: &[&str]) -> Value {
    json!({"name": "web", "namespace": "default", "createdAt": "2026-01-01T00:00:00Z",
        "state": {"status": status, "errors": errors}, "latestManifest": "m-1", "fingerprint": "f", "driftPolicy": "REPORT"})
}
