//! The program on a free port, and what the kernel says of it and of its children.

use std::time::{Duration, Instant};

use common::api::error::ErrorBody;
use common::api::expander::{ExpandRequest, ExpandResponse};
use common::client::{ClientAccess, ClientError, ExpanderClient};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, SysconfVar, sysconf};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::program::{self, Program};

/// Far more than anything takes that is not broken.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A second of one processor, in ticks of the kernel's clock: what all processes together may still use after an
/// answer, to tidy up.
const TIDYING_TICKS: u64 = 100;
/// What the server itself may ever take: it holds bodies, and nothing that is made of them.
pub const SERVER_BYTES: u64 = 200 << 20;
/// How long the processes are watched before they count as idle.
const WATCHED: Duration = Duration::from_millis(200);

pub struct Server {
    program: Program,
    address: String,
    pub client: ExpanderClient,
}

impl Server {
    /// With these flags beside those that every test needs.
    pub fn start(flags: &[&str]) -> Self {
        let program = Program::start(flags).unwrap();
        let address = format!("127.0.0.1:{}", program.port);
        let client =
            ExpanderClient::new(&format!("http://{address}"), &ClientAccess::default()).unwrap();
        Self {
            program,
            address,
            client,
        }
    }

    /// The code and the message of a refusal.
    pub async fn refusal(&self, what: &str, request: &ExpandRequest) -> ErrorBody {
        match self.client.expand(request.clone(), PATIENCE).await {
            Err(ClientError::Answered(body)) => *body,
            Err(error) => panic!("{what}: {error}"),
            Ok(_) => panic!("{what}: it got away with it"),
        }
    }

    pub async fn expanded(&self, what: &str, request: &ExpandRequest) -> ExpandResponse {
        let answer = self.client.expand(request.clone(), PATIENCE).await;
        answer.unwrap_or_else(|error| panic!("{what}: {error}"))
    }

    /// The answer to a `GET`, on a connection of its own, with its head.
    pub async fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).await.unwrap();
        let question = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
            self.address
        );
        stream.write_all(question.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 "), "{path}: {answer}");
        answer
    }

    /// The process ids of what the server has started, and of what these have started.
    pub fn descendants(&self) -> Vec<i32> {
        let mut found = Vec::new();
        let mut left = vec![self.id()];
        while let Some(parent) = left.pop() {
            let children = children(parent);
            found.extend(&children);
            left.extend(children);
        }
        found
    }

    /// The expansion processes: children whose program is the server's.
    pub fn expansion_processes(&self) -> Vec<i32> {
        let is_ours = |id: &i32| {
            std::fs::read(format!("/proc/{id}/cmdline"))
                .is_ok_and(|line| String::from_utf8_lossy(&line).contains("expansion-process"))
        };
        children(self.id()).into_iter().filter(is_ours).collect()
    }

    pub fn id(&self) -> i32 {
        i32::try_from(self.program.id()).unwrap()
    }

    /// Whether the program that was started still runs.
    pub fn is_alive(&mut self) -> bool {
        self.program.child.try_wait().unwrap().is_none()
    }

    /// Memory that the server itself has ever had at once.
    pub fn peak_bytes(&self) -> u64 {
        self.memory("VmHWM:")
    }

    /// Memory that the server itself has now.
    pub fn bytes(&self) -> u64 {
        self.memory("VmRSS:")
    }

    fn memory(&self, field: &str) -> u64 {
        let status = program::shown(self.program.id(), "status");
        program::bytes(&status, field).unwrap()
    }

    /// Right after an answer: neither the server nor anything that it started goes on with it. They use less than a
    /// second of one processor before they are idle. That is processor time and not time of a clock: other programs
    /// on the machine make no difference.
    pub fn becomes_idle(&self, after: &str) {
        let (answered, started) = (self.ticks(), Instant::now());
        loop {
            let (before, since) = (self.ticks(), Instant::now());
            let used = before.saturating_sub(answered);
            assert!(
                used < TIDYING_TICKS,
                "a processor is busy after {after}: {used} ticks"
            );
            assert!(
                started.elapsed() < PATIENCE,
                "the machine is too busy to watch {after}"
            );
            while since.elapsed() < WATCHED {
                std::thread::yield_now();
            }
            if self.ticks() <= before && !self.is_running() {
                return;
            }
        }
    }

    /// Processor time of the server and all that it started, also of what has ended, in ticks of the kernel's clock.
    fn ticks(&self) -> u64 {
        assert_eq!(sysconf(SysconfVar::CLK_TCK).unwrap(), Some(100));
        let all = self.descendants().into_iter().chain([self.id()]);
        all.map(ticks).sum()
    }

    /// Whether a thread of these processes has something to do, and perhaps waits for a processor.
    fn is_running(&self) -> bool {
        let all = self.descendants().into_iter().chain([self.id()]);
        all.flat_map(threads).any(|stat| {
            let fields = stat.rsplit(") ").next().unwrap_or_default();
            fields.starts_with(['R', 'D'])
        })
    }
}

fn children(parent: i32) -> Vec<i32> {
    let parent = u32::try_from(parent).unwrap();
    let children = program::children(parent).into_iter();
    children.map(|id| i32::try_from(id).unwrap()).collect()
}

/// Of a process, and of its children that have ended and that it has waited for.
fn ticks(process: i32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // Behind the name, which may hold anything.
    let fields = stat.rsplit(") ").next().unwrap_or_default();
    let times = fields.split_whitespace().skip(11).take(4);
    times.filter_map(|time| time.parse::<u64>().ok()).sum()
}

/// What the kernel says of each thread of a process.
fn threads(process: i32) -> Vec<String> {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task"));
    let stats = tasks
        .into_iter()
        .flatten()
        .flatten()
        .map(|task| std::fs::read_to_string(task.path().join("stat")));
    stats.flatten().collect()
}

/// Kills an expansion process.
pub fn end(process: i32) {
    // It may have ended since; only that is wanted.
    let _ = kill(Pid::from_raw(process), Signal::SIGKILL);
}

/// In the name of a user, as the manager asks.
pub fn asked_by(user: &str, mut request: ExpandRequest) -> ExpandRequest {
    request.env.insert("username".to_owned(), json!(user));
    request
}
