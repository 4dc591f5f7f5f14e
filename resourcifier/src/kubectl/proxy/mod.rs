//! The transport of the adapter: requests through `kubectl proxy`, which is started on demand and restarted after it
//! has died.
//!
//! A limited number of requests run at the same time. When the API server reports too many, all of them wait.

mod brake;
pub mod request;
pub mod session;

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use nix::unistd::Pid;
use reqwest::{Response, StatusCode, header};
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};

use self::brake::Brake;
use self::request::Request;
use self::session::{Session, Settings};
use super::caller::Caller;
use super::error::KubectlError;
use super::error::status;
use super::gate::Gate;
use super::process::folder::Folder;

/// Requests at the same time. With more, an API server is not faster, and its fairness rules reject them.
const AT_ONCE: usize = 32;
/// Watches at the same time. Beyond that, callers poll instead.
const WATCHES: usize = 32;
/// Logs that are read at the same time, followed or not.
const LOGS: usize = 256;
/// Tries of a request that the API server rejects because of too many requests.
const TRIES: u32 = 6;
/// After a failed start, callers get the same error for this long.
const REST: Duration = Duration::from_secs(1);
const MIB: usize = 1024 * 1024;

#[derive(Debug)]
pub struct Proxy {
    pub settings: Settings,
    folder: Folder,
    running: Mutex<Running>,
    slots: Semaphore,
    watches: Arc<Semaphore>,
    logs: Arc<Semaphore>,
    brake: Brake,
}

#[derive(Debug, Default)]
struct Running {
    session: Option<Arc<Session>>,
    failed: Option<(Instant, KubectlError)>,
}

/// A success of the API server.
pub type Answer = Bytes;

/// The head of an answer that is read piece by piece, and the guard of its slot.
pub type Opened = (Response, OwnedSemaphorePermit);

/// The route of a request to the API server: its user, and its gate.
#[derive(Debug, Clone, Copy)]
pub struct Way<'a> {
    pub caller: &'a Caller,
    pub gate: &'a Gate,
}

/// What to do about an answer.
enum Attempt {
    Answer(Answer),
    /// There are too many requests. The time is the delay that the answer asks for.
    Backoff(Option<Duration>, KubectlError),
}

impl Proxy {
    pub fn new(settings: Settings, folder: Folder) -> Self {
        Self {
            settings,
            folder,
            running: Mutex::default(),
            slots: Semaphore::new(AT_ONCE),
            watches: Arc::new(Semaphore::new(WATCHES)),
            logs: Arc::new(Semaphore::new(LOGS)),
            brake: Brake::default(),
        }
    }

    /// A request of the service itself, not about objects.
    pub async fn ask(&self, request: &Request, within: Duration) -> Result<Answer, KubectlError> {
        let way = Way {
            caller: &Caller::itself(),
            gate: &Gate::open(),
        };
        self.send(way, request, within).await
    }

    /// Sends a request that is safe to repeat, until there is an answer or the time is over.
    pub async fn send(
        &self,
        way: Way<'_>,
        request: &Request,
        within: Duration,
    ) -> Result<Answer, KubectlError> {
        let started = Instant::now();
        let answer = tokio::time::timeout(within, self.tried(way, request))
            .await
            .unwrap_or(Err(KubectlError::TimedOut {
                call: request.call,
                seconds: within.as_secs(),
            }));
        tracing::debug!(
            kubectl.call = request.call,
            kubectl.success = answer.is_ok(),
            took_ms = started.elapsed().as_millis(),
            "{} {}",
            request.call,
            request.url.path()
        );
        answer
    }

    async fn tried(&self, way: Way<'_>, request: &Request) -> Result<Answer, KubectlError> {
        let mut attempt = 0;
        loop {
            match self.attempt(way, request).await? {
                Attempt::Answer(answer) => return Ok(answer),
                Attempt::Backoff(_, error) if attempt == TRIES => return Err(error),
                Attempt::Backoff(retry_after, _) => self.brake.press(retry_after, attempt),
            }
            attempt += 1;
        }
    }

    async fn attempt(&self, way: Way<'_>, request: &Request) -> Result<Attempt, KubectlError> {
        if request.is_write() {
            // A job whose manager is silent must not keep others from the slots.
            way.gate.granted().await?;
        }
        let slot = async {
            self.brake.wait().await;
            self.slots.acquire().await.map_err(|_| stopped())
        };
        let _slot = way.gate.while_open(slot).await??;
        if !request.is_write() {
            let answer = self.answer(way.caller, request);
            return way.gate.while_open(answer).await??.0;
        }
        let pass = way.gate.enter(request.key()).await?;
        let within = pass.within();
        let timed = request.clone().timed(within);
        let answer = tokio::time::timeout(within, self.answer(way.caller, &timed)).await;
        let (turn, is_certain) = answer.map_err(|_| KubectlError::TimedOut {
            call: request.call,
            seconds: within.as_secs(),
        })??;
        if is_certain {
            pass.answered();
        }
        turn
    }

    /// The result of an answered request, and whether the API server has finished it.
    async fn answer(
        &self,
        caller: &Caller,
        request: &Request,
    ) -> Result<(Result<Attempt, KubectlError>, bool), KubectlError> {
        let response = self.response(caller, request).await?;
        let (code, retry_after) = (response.status(), retry_after(&response));
        let body = bounded(response, request).await?;
        if code.is_success() {
            return Ok((Ok(Attempt::Answer(body)), true));
        }
        let error = status::error(code.as_u16(), &body);
        // The request is rejected before anything is done.
        let is_refused = code == StatusCode::TOO_MANY_REQUESTS
            || (code == StatusCode::SERVICE_UNAVAILABLE && retry_after.is_some());
        // The API server timed out on its store, or a proxy in between timed out on the API server.
        let is_certain = is_refused || !(code.is_server_error() && error.is_transient());
        let turn = match is_refused {
            true => Ok(Attempt::Backoff(retry_after, error)),
            false => Err(error),
        };
        Ok((turn, is_certain))
    }

    /// The head of the answer. An unreachable proxy is restarted once.
    async fn response(&self, caller: &Caller, request: &Request) -> Result<Response, KubectlError> {
        let first = self.session().await?;
        match sent(&first, caller, request).await {
            Ok(response) => return Ok(response),
            Err(error) => {
                tracing::warn!(%error, "kubectl proxy cannot be reached and is started again");
                first.lose();
            }
        }
        let second = self.session().await?;
        sent(&second, caller, request).await.map_err(|error| {
            second.lose();
            KubectlError::Unreachable(format!(
                "kubectl proxy cannot be reached: {}",
                root_cause(&error)
            ))
        })
    }

    /// The head of a watch's answer, and the guard of its slot.
    pub async fn watch(
        &self,
        caller: &Caller,
        request: &Request,
        within: Duration,
    ) -> Result<Opened, KubectlError> {
        let place = place(&self.watches, "too many watches are open")?;
        self.opened(place, caller, request, within).await
    }

    /// The head of a log's answer, and the guard of its slot.
    pub async fn log(
        &self,
        caller: &Caller,
        request: &Request,
        within: Duration,
    ) -> Result<Opened, KubectlError> {
        let place = place(
            &self.logs,
            "too many logs are read at once: try again later",
        )?;
        self.opened(place, caller, request, within).await
    }

    async fn opened(
        &self,
        place: OwnedSemaphorePermit,
        caller: &Caller,
        request: &Request,
        within: Duration,
    ) -> Result<Opened, KubectlError> {
        let response = tokio::time::timeout(within, self.response(caller, request))
            .await
            .map_err(|_| KubectlError::TimedOut {
                call: request.call,
                seconds: within.as_secs(),
            })??;
        let code = response.status();
        if code.is_success() {
            return Ok((response, place));
        }
        Err(status::error(
            code.as_u16(),
            &bounded(response, request).await?,
        ))
    }

    /// The running proxy, or a new one.
    async fn session(&self) -> Result<Arc<Session>, KubectlError> {
        let mut running = self.running.lock().await;
        if let Some(session) = running
            .session
            .as_ref()
            .filter(|session| session.is_usable())
        {
            return Ok(session.clone());
        }
        if let Some((at, error)) = &running.failed
            && at.elapsed() < REST
        {
            return Err(error.clone());
        }
        // The old proxy ends before a new one starts, because both would use the same socket.
        running.session = None;
        let started = Session::start(&self.settings, &self.folder.path().join("sock")).await;
        let session = started.inspect_err(|error| {
            running.failed = Some((Instant::now(), error.clone()));
        })?;
        if let Some(group) = session.group().id() {
            self.note(group);
        }
        let session = Arc::new(session);
        running.session = Some(session.clone());
        Ok(session)
    }

    fn note(&self, group: Pid) {
        if let Err(error) = self.folder.note(group) {
            tracing::warn!(%error, "kubectl proxy could not be noted; if this process is killed, it goes on");
        }
    }

    /// Ends the proxy. The folder is removed with the transport.
    pub async fn stop(&self) {
        self.slots.close();
        self.running.lock().await.session = None;
    }
}

fn place(places: &Arc<Semaphore>, full: &str) -> Result<OwnedSemaphorePermit, KubectlError> {
    let place = places.clone().try_acquire_owned();
    place.map_err(|_| KubectlError::Unreachable(full.to_owned()))
}

fn stopped() -> KubectlError {
    KubectlError::Unreachable("the service is stopping".to_owned())
}

async fn sent(session: &Session, caller: &Caller, request: &Request) -> reqwest::Result<Response> {
    session
        .http
        .request(request.method.clone(), request.url.clone())
        .header(header::ACCEPT, request.accept)
        .header(header::CONTENT_TYPE, request.content_type)
        .headers(caller.headers().clone())
        .body(request.body.clone())
        .send()
        .await
}

/// In seconds. API servers do not use the other form, a date.
fn retry_after(response: &Response) -> Option<Duration> {
    let value = response.headers().get(header::RETRY_AFTER)?;
    value.to_str().ok()?.parse().ok().map(Duration::from_secs)
}

async fn bounded(mut response: Response, request: &Request) -> Result<Bytes, KubectlError> {
    let mut bytes = BytesMut::new();
    loop {
        let chunk = response.chunk().await.map_err(|error| {
            KubectlError::Unreachable(format!("the answer broke off: {}", root_cause(&error)))
        })?;
        let Some(chunk) = chunk else {
            return Ok(bytes.freeze());
        };
        if bytes.len() + chunk.len() > request.limit {
            return Err(KubectlError::TooMuch {
                call: request.call,
                limit: request.limit / MIB,
            });
        }
        bytes.extend_from_slice(&chunk);
    }
}

/// reqwest's own texts repeat the URL. The innermost cause says what happened.
pub fn root_cause(error: &reqwest::Error) -> String {
    let start: &(dyn std::error::Error + 'static) = error;
    std::iter::successors(Some(start), |error| error.source())
        .last()
        .map_or_else(String::new, ToString::to_string)
}
