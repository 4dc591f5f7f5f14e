//! Pages of lists, asked for by many clients at once: each asks for its next page as soon as it has one.
//!
//! The clients run on the machine that the manager runs on, and a page's time ends when its client has read all of it.
//! So the clients are one thread that does as little as can be, and that is kept to the last core: it does not push the
//! manager's threads from one core to the other. `/healthz`, which costs the manager next to nothing, is asked first: its
//! times are those of the machine and the clients alone.

use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use e2e::program::Service;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::{CLIENTS, quantiles};

/// Pages that each client asks of each list.
const PAGES: usize = 200;
/// Pages of 100 between the places where two clients begin.
const APART: usize = 10;
const LISTS: [(&str, &str); 6] = [
    ("to compare with, ", "/healthz"),
    ("a page of 100 of ", "/deployments"),
    ("a search for the end of a name in ", "/deployments?q=99999"),
    ("the page of all ten of ", "/types"),
    ("a page of 100 of ", "/types/Kind3/instances"),
    ("a page of 100 of ", "/types/all/instances"),
];

/// Prints the times of each list's pages.
pub async fn measure(manager: &Service) -> Result<()> {
    println!("the clients of these lists are one thread, kept to the last core:");
    for (clients, (what, list)) in CLIENTS
        .into_iter()
        .flat_map(|n| LISTS.map(|list| (n, list)))
    {
        let spent = manager.processor_time()?;
        let address = manager.address();
        let times = tokio::task::spawn_blocking(move || asked(address, list, clients)).await??;
        let spent = manager.processor_time()? - spent;
        println!(
            "{what}{list}, {clients} clients: {:.0} µs of the manager's processor time; {}",
            spent.as_secs_f64() * 1e6 / times.len() as f64,
            quantiles(times),
        );
    }
    Ok(())
}

/// Keeps this thread to the last core. No crate of the workspace does it: this needs the program once.
fn keep_to_last_core() -> Result<()> {
    let last = std::thread::available_parallelism()?.get() - 1;
    let (last, thread) = (last.to_string(), nix::unistd::gettid().to_string());
    let kept = Command::new("taskset")
        .args(["--cpu-list", "--pid", &last, &thread])
        .stdout(Stdio::null())
        .status()?;
    ensure!(kept.success(), "taskset (util-linux) failed: {kept}");
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn asked(address: SocketAddr, list: &'static str, clients: usize) -> Result<Vec<Duration>> {
    keep_to_last_core()?;
    let places = places(address, list, clients).await?;
    let mut clients = JoinSet::new();
    for place in places {
        clients.spawn(one_by_one(address, list, place));
    }
    let mut times = Vec::new();
    while let Some(done) = clients.join_next().await {
        times.extend(done??);
    }
    Ok(times)
}

/// The token where each client begins.
async fn places(address: SocketAddr, list: &str, clients: usize) -> Result<Vec<String>> {
    let mut client = Client::new(address).await?;
    let mut places = vec![String::new()];
    while places.len() < clients {
        let last = places.last().cloned().unwrap_or_default();
        let page = client.page(list, 100 * APART, &last).await?;
        places.push(next(page));
    }
    Ok(places)
}

async fn one_by_one(address: SocketAddr, list: &str, mut token: String) -> Result<Vec<Duration>> {
    let mut client = Client::new(address).await?;
    let mut times = Vec::with_capacity(PAGES);
    for _ in 0..PAGES {
        let started = Instant::now();
        let page = client.page(list, 100, &token).await?;
        times.push(started.elapsed());
        token = next(page);
    }
    Ok(times)
}

/// The token stands last.
fn next(page: &[u8]) -> String {
    let end = page.get(page.len().saturating_sub(400)..);
    let end = String::from_utf8_lossy(end.unwrap_or(page));
    let token = end.rsplit_once("\"nextPageToken\":\"");
    token.map_or_else(String::new, |(_, token)| {
        token.trim_end_matches("\"}").to_owned()
    })
}

/// One connection, kept.
pub struct Client {
    stream: BufReader<TcpStream>,
    address: SocketAddr,
    line: String,
    body: Vec<u8>,
}

impl Client {
    pub async fn new(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream: BufReader::with_capacity(128 * 1024, stream),
            address,
            line: String::new(),
            body: Vec::new(),
        })
    }

    async fn page(&mut self, list: &str, limit: usize, token: &str) -> Result<&[u8]> {
        let separator = if list.contains('?') { '&' } else { '?' };
        let path = format!("{list}{separator}limit={limit}&pageToken={token}");
        self.get(&path).await
    }

    /// The body of a successful answer.
    pub async fn get(&mut self, path: &str) -> Result<&[u8]> {
        let request = format!("GET {path} HTTP/1.1\r\nhost: {}\r\n\r\n", self.address);
        self.stream.write_all(request.as_bytes()).await?;
        let mut length = None;
        let status = self.line().await?.to_owned();
        ensure!(status.starts_with("HTTP/1.1 200 "), "{path}: {status}");
        loop {
            let line = self.line().await?;
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = Some(value.parse()?);
            }
        }
        self.body.resize(length.context("no length")?, 0);
        self.stream.read_exact(&mut self.body).await?;
        Ok(&self.body)
    }

    async fn line(&mut self) -> Result<&str> {
        self.line.clear();
        self.stream.read_line(&mut self.line).await?;
        Ok(self.line.trim_end())
    }
}
