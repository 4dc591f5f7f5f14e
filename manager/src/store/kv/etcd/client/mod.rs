//! Calls to the members, through etcd's JSON gateway: to the one that answered last, and to the next when it does not.
//!
//! Every question may be asked again: reads change nothing, and writes find out what became of an earlier try
//! ([`super::commits::slots`]).

pub(super) mod address;
mod first;
pub(super) mod refusal;
pub(super) mod wire;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{OnceLock, PoisonError, RwLock};
use std::time::Duration;

use bytes::Bytes;
use common::client::ClientAccess;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::Instant;
use url::Url;

use self::refusal::Attempt;
use self::wire::Header;
use super::super::KvError;
use super::options::StoreUser;

/// A member that does not answer within this time is left for the next one.
const TRY: Duration = Duration::from_secs(3);
/// Connecting takes milliseconds where members run.
const CONNECT: Duration = Duration::from_secs(1);
/// The pause after no member has answered.
const PAUSE: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub struct Client {
    http: reqwest::Client,
    members: Vec<Url>,
    /// The index of the member that answered last.
    current: AtomicUsize,
    user: Option<StoreUser>,
    token: RwLock<Option<HeaderValue>>,
    /// The id of the cluster, once it is known. Answers of another one are refused.
    cluster: OnceLock<String>,
}

/// An answer that may say which cluster gave it.
pub trait Answer: DeserializeOwned {
    fn header(&self) -> Option<&Header> {
        None
    }
}

impl Client {
    pub fn new(
        members: Vec<Url>,
        access: &ClientAccess,
        user: Option<StoreUser>,
    ) -> Result<Self, KvError> {
        let http = access.builder().connect_timeout(CONNECT).no_proxy().build();
        Ok(Self {
            http: http.map_err(|error| refusal::failed("opened", &error))?,
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
    pub async fn call<A: Answer>(
        &self,
        path: &str,
        question: &impl Serialize,
        within: Duration,
    ) -> Result<A, KvError> {
        self.ask_each(path, json(question)?, within).await
    }

    fn understood<A: Answer>(&self, index: usize, bytes: &[u8]) -> Result<A, Attempt> {
        let answer: A = serde_json::from_slice(bytes).map_err(|error| {
            let failed = |error| Attempt::Stranger(refusal::failed("understood", error));
            let url = self.members.get(index);
            url.map_or_else(|| failed(&error), |url| refusal::strange(url, &error))
        })?;
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
        self.call("version", &(), within).await
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

    async fn ask_each<A: Answer>(
        &self,
        path: &str,
        body: Bytes,
        within: Duration,
    ) -> Result<A, KvError> {
        let (deadline, mut said) = (Instant::now() + within, BTreeMap::new());
        loop {
            let mut strangers = Vec::new();
            for _ in 0..self.members.len() {
                let left = deadline.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return Err(refusal::unreachable(self.members.len(), &said));
                }
                let index = self.current.load(Ordering::Relaxed) % self.members.len();
                match self.answer(index, path, body.clone(), left.min(TRY)).await {
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
        path: &str,
        body: Bytes,
        within: Duration,
    ) -> Result<A, Attempt> {
        let bytes = self.ask(index, path, body, within).await?;
        self.understood(index, &bytes)
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
        index: usize,
        path: &str,
        body: Bytes,
        within: Duration,
    ) -> Result<Bytes, Attempt> {
        let Some(url) = self.members.get(index).and_then(|url| url.join(path).ok()) else {
            return Err(Attempt::Away("there is no such member".to_owned()));
        };
        let request = match path {
            "version" => self.http.get(url.clone()),
            _ => self.http.post(url.clone()).body(body),
        };
        let request = self
            .held()
            .into_iter()
            .fold(request, |request, token| {
                request.header(AUTHORIZATION, token)
            })
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let away = |error: reqwest::Error| refusal::away(&url, &error);
        let response = request.timeout(within).send().await.map_err(away)?;
        let status = response.status();
        let bytes = response.bytes().await.map_err(away)?;
        match status.is_success() {
            true => Ok(bytes),
            false => Err(refusal::read(&url, status, &bytes, self.user.is_some())),
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
        let body = serde_json::to_vec(&credentials).unwrap_or_default();
        self.hold(None);
        let answer = self
            .ask(index, "v3/auth/authenticate", body.into(), TRY)
            .await?;
        let token: wire::Token = serde_json::from_slice(&answer)
            .map_err(|error| Attempt::Refused(refusal::failed("understood", &error)))?;
        let mut value = HeaderValue::from_str(&token.token)
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

fn json(question: &impl Serialize) -> Result<Bytes, KvError> {
    let body = serde_json::to_vec(question).map_err(|error| refusal::failed("asked", &error))?;
    Ok(Bytes::from(body))
}

impl Answer for wire::RangeAnswer {
    fn header(&self) -> Option<&Header> {
        Some(&self.header)
    }
}

impl Answer for wire::TxnAnswer {
    fn header(&self) -> Option<&Header> {
        Some(&self.header)
    }
}

impl Answer for wire::LeaseAnswer {
    fn header(&self) -> Option<&Header> {
        Some(&self.header)
    }
}

impl Answer for wire::Streamed<wire::LeaseAnswer> {
    fn header(&self) -> Option<&Header> {
        Some(&self.result.header)
    }
}

impl Answer for wire::AlarmAnswer {}
impl Answer for wire::VersionAnswer {}
