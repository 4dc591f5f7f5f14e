//! Opening a store on etcd, or an error that says why it cannot be opened.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tokio::sync::RwLock;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::super::KvError;
use super::Shared;
use super::cache::{self, Cache};
use super::client::Client;
use super::client::address::EtcdAddress;
use super::client::refusal::failed;
use super::client::wire::{Change, Put, Text};
use super::commits::Stripes;
use super::commits::joined::Queues;
use super::commits::slots::Slots;
use super::names::{Names, between, one};
use super::options::StoreAccess;
use super::ownership::{ANSWER, Candidate, Ownership};
use super::reads::freshness::Freshness;
use super::reads::signposts::Signposts;
use super::registration::Registration;

/// The version of the keys in etcd.
const LAYOUT: u32 = 1;
/// The oldest etcd whose known errors do no harm here.
const OLDEST: (u32, u32) = (3, 6);
/// The version of a cluster whose members have not met.
const UNDECIDED: &str = "not_decided";
const PAUSE: Duration = Duration::from_millis(100);

/// The record of a store on etcd.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    layout: u32,
    /// The id of the cluster.
    cluster: String,
}

pub async fn open(
    address: &EtcdAddress,
    access: &StoreAccess,
    accept: Option<&str>,
    ttl: Duration,
    candidate: &Candidate,
) -> Result<Shared, KvError> {
    let (client, names) = connect(address, access).await?;
    let found = record(&client, &names, address, accept).await?;
    let mut tasks = JoinSet::new();
    let registration = Registration::begin(&client, &names, candidate).await?;
    let registration = Arc::new(registration);
    tasks.spawn(Arc::clone(&registration).keep(Arc::clone(&client), names.clone()));
    let owner = Arc::new(Ownership::take(&client, &names, ttl, candidate).await?);
    let signposts = Arc::new(Signposts::default());
    tasks.spawn(Arc::clone(&owner).keep(Arc::clone(&client)));
    tasks.spawn(survey(client.clone(), names.clone(), signposts.clone()));
    let freshness = Freshness::new(owner.fence);
    let shared = Shared {
        client,
        names,
        owner,
        registration,
        signposts,
        freshness,
        cache: Cache::new(cache::BYTES),
        queues: Queues::new(),
        slots: Slots::new(),
        numbers: Stripes::new(),
        gate: RwLock::default(),
        _tasks: tasks,
    };
    if !found {
        shared.settle().await?;
    }
    shared.redo().await?;
    Ok(shared)
}

/// A client of a cluster that is new enough, and the names of the keys there.
pub async fn connect(
    address: &EtcdAddress,
    access: &StoreAccess,
) -> Result<(Arc<Client>, Names), KvError> {
    let tls = access.client().map_err(|error| failed("opened", &error))?;
    let client = Arc::new(Client::new(address.members.clone(), &tls, access.user())?);
    check_version(&client).await?;
    Ok((client, Names::new(&address.prefix)))
}

/// The value of a key, also while another manager has the store. None in a new store.
pub async fn peek(
    address: &EtcdAddress,
    access: &StoreAccess,
    key: &[u8],
) -> Result<Option<Bytes>, KvError> {
    let tls = access.client().map_err(|error| failed("opened", &error))?;
    let client = Client::new(address.members.clone(), &tls, access.user())?;
    let entry = one(Names::new(&address.prefix).entry(key));
    let found = client.call(&entry, ANSWER).await?;
    Ok(found
        .kvs
        .into_iter()
        .next()
        .map(|found| found.value.0.into()))
}

async fn check_version(client: &Client) -> Result<(), KvError> {
    let version = decided_version(client).await?;
    let mut numbers = version.split('.').map(|number| number.parse().unwrap_or(0));
    let found = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if found >= OLDEST {
        return Ok(());
    }
    let (major, minor) = OLDEST;
    let reason =
        format!("the cluster runs etcd {version}, which is too old: use {major}.{minor} or later");
    Err(failed("opened", &reason))
}

/// A new cluster decides on its version once its members have met.
async fn decided_version(client: &Client) -> Result<String, KvError> {
    let deadline = Instant::now() + ANSWER;
    loop {
        let version = client.version(ANSWER).await?.etcdcluster;
        if version != UNDECIDED {
            return Ok(version);
        }
        if Instant::now() > deadline {
            return Err(KvError::Unreachable {
                reason: "the members of the cluster have not met yet".to_owned(),
            });
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Whether the store has its record already.
pub async fn record(
    client: &Client,
    names: &Names,
    address: &EtcdAddress,
    accept: Option<&str>,
) -> Result<bool, KvError> {
    let found = client.call(&one(names.store()), ANSWER).await?;
    let Some(entry) = found.kvs.first() else {
        return unused(client, names, address).await.map(|()| false);
    };
    let record: Record = serde_json::from_slice(&entry.value.0)
        .map_err(|error| failed("opened", &format!("its record is damaged: {error}")))?;
    if record.layout > LAYOUT {
        let reason = "a newer manager wrote it: run that one";
        return Err(failed("opened", &reason));
    }
    let now = client.cluster();
    if record.cluster == now {
        return Ok(true);
    }
    let token = format!("cluster-{now}");
    if accept == Some(&token) {
        tracing::warn!(
            "the store goes on in cluster {now}, as --accept-loss says; leave it out from now on"
        );
        return Ok(false);
    }
    Err(KvError::OtherCluster {
        place: address.to_string(),
        cluster: now.to_owned(),
        before: record.cluster,
        accept: token,
    })
}

/// A new store takes no prefix that has other keys.
async fn unused(client: &Client, names: &Names, address: &EtcdAddress) -> Result<(), KvError> {
    let ((first, end), (managers, after)) = (names.all(), names.managers());
    let mut found = Vec::new();
    for (range, limit) in [((first, managers), 1), ((after, end), 2)] {
        let some = client.call(&between(range, limit), ANSWER).await?;
        found.extend(some.kvs);
    }
    let foreign = found.iter().find(|found| found.key != names.owner());
    let Some(foreign) = foreign else {
        return Ok(());
    };
    let reason = format!(
        "{address} has keys that do not belong to a store, such as {:?}: choose another prefix",
        String::from_utf8_lossy(&foreign.key.0)
    );
    Err(failed("opened", &reason))
}

pub async fn survey(client: Arc<Client>, names: Names, signposts: Arc<Signposts>) {
    if let Err(error) = signposts.survey(&client, &names).await {
        tracing::warn!(%error, "lists are slower until they were read once: {error}");
    }
}

impl Shared {
    /// Writes the store's record.
    async fn settle(&self) -> Result<(), KvError> {
        let record = Record {
            layout: LAYOUT,
            cluster: self.client.cluster().to_owned(),
        };
        let record = serde_json::to_vec(&record).map_err(|error| failed("opened", &error))?;
        let put = Put {
            key: self.names.store(),
            value: Text(record),
            lease: None,
        };
        self.transact(&[], &[Change::Put(put)]).await.map(|_| ())
    }
}
