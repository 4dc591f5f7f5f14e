//! Calls to the members by gRPC: to the one that answered last, and to the next when it does not.
//!
//! Every question may be asked again: reads change nothing, and writes find out what became of an earlier try
//! ([`super::commits::slots`]).

pub(super) mod address;
mod first;
mod proto;
mod question;
pub(super) mod refusal;
mod rpc;
pub(super) mod wire;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{OnceLock, PoisonError, RwLock};
use std::time::Duration;

use bytes::Bytes;
use common::client::ClientAccess;
use reqwest::header::{AUTHORIZATION, HeaderValue};
use tokio::time::Instant;
use url::Url;

use self::question::Asked;
use self::refusal::Attempt;
use self::wire::Header;
use super::super::KvError;
use super::options::StoreUser;

pub use self::question::{Answer, Question};

/// A member that does not answer within this time is left for the next one.
const TRY: Duration = Duration::from_secs(3);
/// Connecting takes milliseconds where members run.
const CONNECT: Duration = Duration::from_secs(1);
/// What was sent and not acknowledged for so long was lost: the connection is broken. Otherwise calls would wait at it
/// for minutes.
const UNACKNOWLEDGED: Duration = Duration::from_secs(5);
/// Bytes that a member may send before the manager has read them: of one answer, and of all.
const WINDOW: u32 = 4 * 1024 * 1024;
const WINDOWS: u32 = 16 * 1024 * 1024;
/// The pause after no member has answered.
const PAUSE: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub struct Client {
    /// By HTTP/2 only, which gRPC needs.
    calls: reqwest::Client,
    http: reqwest::Client,
    members: Vec<Url>,
    /// The index of the member that answered last.
    current: AtomicUsize,
    user: Option<StoreUser>,
    token: RwLock<Option<HeaderValue>>,
    /// The id of the cluster, once it is known. Answers of another one are refused.
    cluster: OnceLock<String>,
}

impl Client {
    pub fn new(
        members: Vec<Url>,
        access: &ClientAccess,
        user: Option<StoreUser>,
    ) -> Result<Self, KvError> {
        let within = |builder: reqwest::ClientBuilder| builder.connect_timeout(CONNECT).no_proxy();
        let calls = within(access.grpc_builder())
            .http2_initial_stream_window_size(WINDOW)
            .http2_initial_connection_window_size(WINDOWS)
            .tcp_user_timeout(UNACKNOWLEDGED);
        let failed = |error: reqwest::Error| refusal::failed("opened", &error);
        Ok(Self {
            calls: calls.build().map_err(failed)?,
            http: within(access.builder()).build().map_err(failed)?,
            members,
            current: AtomicUsize::new(0),
            user,
            token: RwLock::default(),
            cluster: OnceLock::new(),
        })
    }

    /// The cluster of the first answer.
    pub fn cluster(&self) -> &str {
        self.cluster.get().map_or("", String::as_str)
    }

    /// Asks member by member until one answers.
    ///
    /// # Errors
    /// [`KvError::Unreachable`] if none has answered within the time: a write may have happened.
    pub async fn call<Q: Question>(
        &self,
        question: &Q,
        within: Duration,
    ) -> Result<Q::Answer, KvError> {
        self.ask_each(&question.asked(), within).await
    }

    fn understood<A: Answer>(&self, url: &Url, bytes: &[u8]) -> Result<A, Attempt> {
        let answer = A::read(bytes).map_err(|error| refusal::strange(url, &error))?;
        match answer.header() {
            Some(header) => self
                .of_cluster(header)
                .map(|()| answer)
                .map_err(Attempt::Refused),
            None => Ok(answer),
        }
    }

    /// `GET /version`, which needs no user.
    pub async fn version(&self, within: Duration) -> Result<wire::VersionAnswer, KvError> {
        self.ask_each(&Asked::Version, within).await
    }

    fn of_cluster(&self, header: &Header) -> Result<(), KvError> {
        let cluster = self.cluster.get_or_init(|| header.cluster_id.clone());
        match *cluster == header.cluster_id {
            true => Ok(()),
            false => Err(refusal::failed(
                "used",
                &format!(
                    "it is in cluster {cluster}, and now cluster {} answers at its addresses; name the members of one cluster in --store, and look whether etcd was made anew there",
                    header.cluster_id
                ),
            )),
        }
    }

    async fn ask_each<A: Answer>(&self, asked: &Asked, within: Duration) -> Result<A, KvError> {
        let (deadline, mut said) = (Instant::now() + within, BTreeMap::new());
        loop {
            let mut strangers = Vec::new();
            for _ in 0..self.members.len() {
                let left = deadline.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return Err(refusal::unreachable(self.members.len(), &said));
                }
                let index = self.current.load(Ordering::Relaxed) % self.members.len();
                match self.answer(index, asked, left.min(TRY)).await {
                    Ok(answer) => return Ok(answer),
                    Err(Attempt::Refused(error)) => return Err(error),
                    Err(Attempt::Away(why)) => {
                        // A last try that is cut short says less than the ones before it.
                        if left >= TRY || !said.contains_key(&index) {
                            said.insert(index, why);
                        }
                        self.leave(index);
                    }
                    Err(Attempt::Stranger(error)) => {
                        said.insert(index, error.to_string());
                        strangers.push(error);
                        self.leave(index);
                    }
                    Err(Attempt::NoToken) => self.log_in_or_leave(index).await?,
                }
            }
            if strangers.len() == self.members.len()
                && let Some(stranger) = strangers.pop()
            {
                return Err(stranger);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn answer<A: Answer>(
        &self,
        index: usize,
        asked: &Asked,
        within: Duration,
    ) -> Result<A, Attempt> {
        let Some(url) = self.members.get(index) else {
            return Err(Attempt::Away("there is no such member".to_owned()));
        };
        let bytes = match asked {
            Asked::Version => self.version_of(url, within).await?,
            Asked::Method { name, message } => self.ask(url, name, message, within).await?,
        };
        self.understood(url, &bytes)
    }

    /// Only the first of several who find that a member is away.
    fn leave(&self, index: usize) {
        let next = (index + 1) % self.members.len();
        let (done, failed) = (Ordering::Relaxed, Ordering::Relaxed);
        // `Err` means that somebody has left it already.
        let _ = self.current.compare_exchange(index, next, done, failed);
    }

    async fn ask(
        &self,
        url: &Url,
        name: &str,
        message: &[u8],
        within: Duration,
    ) -> Result<Bytes, Attempt> {
        let method = url.join(name);
        let method = method.map_err(|error| Attempt::Away(error.to_string()))?;
        let request = self.calls.post(method);
        let request = self.held().into_iter().fold(request, |request, token| {
            request.header(AUTHORIZATION, token)
        });
        rpc::call(request, url, message, within, self.user.is_some()).await
    }

    async fn version_of(&self, url: &Url, within: Duration) -> Result<Bytes, Attempt> {
        let away = |error: reqwest::Error| refusal::away(url, &error);
        let version = url.join("version");
        let version = version.map_err(|error| Attempt::Away(error.to_string()))?;
        let request = self.http.get(version).timeout(within);
        let response = request.send().await.map_err(away)?;
        match response.status() {
            status if status.is_success() => response.bytes().await.map_err(away),
            status => Err(refusal::no_etcd(url, status)),
        }
    }

    /// A member that is away is left for the next one.
    async fn log_in_or_leave(&self, index: usize) -> Result<(), KvError> {
        match self.log_in(index).await {
            Err(Attempt::Refused(error)) => Err(error),
            Ok(()) | Err(Attempt::Away(_) | Attempt::Stranger(_) | Attempt::NoToken) => Ok(()),
        }
    }

    /// Gets a token for the user. Tokens end after some minutes without use.
    async fn log_in(&self, index: usize) -> Result<(), Attempt> {
        let Some(user) = &self.user else {
            return Err(Attempt::Refused(refusal::no_user()));
        };
        let file = &user.password_file;
        let text = tokio::fs::read_to_string(file).await.map_err(|error| {
            let reason = format!("{} cannot be read: {error}", file.display());
            Attempt::Refused(refusal::failed("opened", &reason))
        })?;
        let credentials = wire::Credentials {
            name: &user.name,
            password: text.lines().next().unwrap_or_default(),
        };
        self.hold(None);
        let token: wire::Token = self.answer(index, &credentials.asked(), TRY).await?;
        let mut value = HeaderValue::from_str(&token.0)
            .map_err(|error| Attempt::Refused(refusal::failed("understood", &error)))?;
        value.set_sensitive(true);
        self.hold(Some(value));
        Ok(())
    }

    fn held(&self) -> Option<HeaderValue> {
        let token = self.token.read().unwrap_or_else(PoisonError::into_inner);
        token.clone()
    }

    fn hold(&self, token: Option<HeaderValue>) {
        *self.token.write().unwrap_or_else(PoisonError::into_inner) = token;
    }
}
