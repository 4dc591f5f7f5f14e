//! The project's own programs, as cargo built them, each a process that does not outlive its test.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::held_port::HeldPort;
use crate::until;

/// How long a service may take to accept, or to stop.
const PATIENCE: Duration = Duration::from_secs(30);

/// What Linux counts the processor's time in, for programs to read.
const TICK: Duration = Duration::from_millis(10);

/// Where cargo put a program of the workspace. The tests do not build it: `make test` does, first.
pub fn path_of(program: &str) -> Result<PathBuf> {
    let test = std::env::current_exe()?;
    let profile = test
        .ancestors()
        .nth(2)
        .context("the test is not in a cargo target folder")?;
    let path = profile.join(program);
    ensure!(
        path.is_file(),
        "{} is missing: run `cargo build --workspace --bins` first (`make test` does)",
        path.display()
    );
    Ok(path)
}

/// A command that becomes the program, and that the kernel ends when the thread that starts it ends: a test run that is
/// killed leaves no service behind. This is how resourcifier starts kubectl (`run-with-parent`).
fn tied(program: &str) -> Result<Vec<OsString>> {
    tied_at(&path_of(program)?)
}

/// The same of a program that cargo did not build here.
fn tied_at(program: &Path) -> Result<Vec<OsString>> {
    Ok(vec![
        path_of("resourcifier")?.into(),
        "run-with-parent".into(),
        std::process::id().to_string().into(),
        program.into(),
    ])
}

/// The root of the checkout.
pub fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .map(Path::to_path_buf)
        .unwrap_or_default()
}

/// Processes whose parent this is, from `/proc`.
fn children(parent: u32) -> Vec<Pid> {
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    let pids = processes
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let is_child = |pid: &i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // The name before it, in parentheses, may hold anything.
        let after_name = stat.rsplit(')').next().unwrap_or_default();
        after_name.split_whitespace().nth(1) == Some(&parent.to_string())
    };
    pids.filter(is_child).map(Pid::from_raw).collect()
}

/// Whether the process runs. One that has ended may stay a zombie where nobody reaps orphans.
pub fn runs(process: Pid) -> bool {
    std::fs::read_to_string(format!("/proc/{process}/stat"))
        .is_ok_and(|stat| !stat.contains(") Z "))
}

/// A service that runs, or that was stopped and can be started again on the same port.
pub struct Service {
    name: &'static str,
    folder: PathBuf,
    /// What the program is started through, itself included: a program that becomes it.
    command: Vec<OsString>,
    args: Vec<String>,
    port: HeldPort,
    child: Option<Child>,
}

impl Service {
    /// Starts it on a free port and waits until it accepts. `folder` gets its port file and its log.
    pub async fn start(name: &'static str, folder: &Path, args: Vec<String>) -> Result<Self> {
        Self::started(name, tied(name)?, folder, args).await
    }

    /// As [`Self::start`], of a program elsewhere.
    pub async fn start_program(
        name: &'static str,
        program: &Path,
        folder: &Path,
        args: Vec<String>,
    ) -> Result<Self> {
        Self::started(name, tied_at(program)?, folder, args).await
    }

    /// It is this program from its next start on.
    pub fn becomes(&mut self, program: &Path) {
        self.command.pop();
        self.command.push(program.into());
    }

    /// As [`Self::start`]; everything that any part of it can log is in its log.
    pub async fn start_telling_all(
        name: &'static str,
        folder: &Path,
        args: Vec<String>,
    ) -> Result<Self> {
        let through = ["env", "-u", "DM_LOG", "RUST_LOG=trace"];
        let mut command: Vec<OsString> = through.map(OsString::from).to_vec();
        command.extend(tied(name)?);
        Self::started(name, command, folder, args).await
    }

    /// As [`Self::start`], with a clock that the file turns: it holds seconds, like `+90`. `library` is that of faketime.
    pub async fn start_with_clock(
        name: &'static str,
        (library, file): (&Path, &Path),
        folder: &Path,
        args: Vec<String>,
    ) -> Result<Self> {
        let mut command: Vec<OsString> = vec!["env".into()];
        for (variable, value) in [
            ("LD_PRELOAD", library.as_os_str()),
            ("FAKETIME_TIMESTAMP_FILE", file.as_os_str()),
            ("FAKETIME_CACHE_DURATION", OsStr::new("1")),
            ("FAKETIME_DONT_FAKE_MONOTONIC", OsStr::new("1")),
        ] {
            let mut set = OsString::from(variable);
            set.push("=");
            set.push(value);
            command.push(set);
        }
        command.extend(tied(name)?);
        Self::started(name, command, folder, args).await
    }

    /// [`Self::start`] with a file system of its own at a folder, which exists as long as the process. It needs the
    /// right to make namespaces, which root and most users have.
    pub async fn start_with_disk(
        name: &'static str,
        disk: (&Path, usize),
        folder: &Path,
        args: Vec<String>,
    ) -> Result<Self> {
        let (place, mib) = disk;
        let mount = format!("mount -t tmpfs -o size={mib}m disk \"$0\" && exec \"$@\"");
        let through = ["unshare", "--map-root-user", "--mount", "sh", "-c", &mount];
        let mut command: Vec<OsString> = through.map(OsString::from).to_vec();
        command.push(place.into());
        command.extend(tied(name)?);
        Self::started(name, command, folder, args).await
    }

    async fn started(
        name: &'static str,
        command: Vec<OsString>,
        folder: &Path,
        args: Vec<String>,
    ) -> Result<Self> {
        let mut service = Self {
            name,
            command,
            folder: folder.to_owned(),
            args,
            port: HeldPort::take()?,
            child: None,
        };
        service.again().await?;
        Ok(service)
    }

    /// Starts it again, on its port.
    pub async fn again(&mut self) -> Result<()> {
        ensure!(self.child.is_none(), "{} runs already", self.name);
        let port_file = self.folder.join(format!("{}.port", self.name));
        let _ = std::fs::remove_file(&port_file);
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.log_path())?;
        let (program, through) = self.command.split_first().context("no program")?;
        let child = Command::new(program)
            .args(through)
            .args(&self.args)
            .args(["--listen", &self.address().to_string(), "--port-file"])
            .arg(&port_file)
            // What it keeps beside itself is of this test alone.
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .with_context(|| format!("cannot start {}", self.name))?;
        self.child = Some(child);
        self.listens(&port_file).await
    }

    /// Stops it and starts it again, with these arguments too from now on.
    pub async fn again_with(&mut self, more: &[&str]) -> Result<()> {
        self.stop().await?;
        self.args.extend(more.iter().map(|arg| (*arg).to_owned()));
        self.again().await
    }

    async fn listens(&mut self, port_file: &Path) -> Result<()> {
        let (name, log) = (self.name, self.log_path());
        let child = self.child.as_mut().context("not started")?;
        let pid = child.id();
        until(&format!("{name} (pid {pid}) to accept"), PATIENCE, || {
            let written = std::fs::exists(port_file);
            let ended = child.try_wait();
            let log = log.clone();
            async move {
                if let Some(status) = ended? {
                    bail!(
                        "{name} ended with {status}: {}",
                        std::fs::read_to_string(log)?
                    );
                }
                ensure!(written?, "no port file yet");
                Ok(())
            }
        })
        .await
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address())
    }

    pub fn log_path(&self) -> PathBuf {
        self.folder.join(format!("{}.log", self.name))
    }

    /// The most bytes of memory that it ever had, as Linux counts them.
    pub fn peak_memory(&self) -> Result<usize> {
        self.status("VmHWM:")
    }

    /// The bytes of memory that it has now, likewise.
    pub fn memory(&self) -> Result<usize> {
        self.status("VmRSS:")
    }

    fn status(&self, field: &str) -> Result<usize> {
        let child = self.child.as_ref().context("it does not run")?;
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix(field));
        let number = line.and_then(|line| line.trim().strip_suffix(" kB"));
        let kib: usize = number
            .context("its status has no such field in kB")?
            .trim()
            .parse()?;
        Ok(kib * 1024)
    }

    /// The processor's time that it has taken since it was started.
    pub fn processor_time(&self) -> Result<Duration> {
        let child = self.child.as_ref().context("it does not run")?;
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id()))?;
        // The name before them, in parentheses, may hold anything; then the 12th and 13th are the times.
        let after_name = stat.rsplit(')').next().unwrap_or_default();
        let times = after_name.split_whitespace().skip(11).take(2);
        let ticks: u64 = times
            .map(str::parse::<u64>)
            .sum::<Result<_, _>>()
            .context("no times in its stat")?;
        Ok(TICK * u32::try_from(ticks)?)
    }

    /// A path as the process sees it, disks of its own included.
    pub fn sees(&self, path: &Path) -> Result<PathBuf> {
        let child = self.child.as_ref().context("it does not run")?;
        let root = PathBuf::from(format!("/proc/{}/root", child.id()));
        Ok(root.join(path.strip_prefix("/")?))
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.port.number()))
    }

    /// The processes that it started and that run now.
    pub fn children(&self) -> Vec<Pid> {
        self.child
            .as_ref()
            .map_or_else(Vec::new, |child| children(child.id()))
    }

    /// The command lines and environments of the program and of every process that it started and that runs now, from `/proc`.
    pub fn called(&self) -> Result<Vec<(String, String)>> {
        let child = self.child.as_ref().context("it does not run")?;
        let (mut found, mut all) = (vec![Pid::from_raw(i32::try_from(child.id())?)], Vec::new());
        while let Some(pid) = found.pop() {
            for file in ["cmdline", "environ"] {
                let path = format!("/proc/{pid}/{file}");
                // One that has ended has neither.
                let bytes = std::fs::read(&path).unwrap_or_default();
                all.push((path, String::from_utf8_lossy(&bytes).into_owned()));
            }
            found.extend(children(pid.as_raw().unsigned_abs()));
        }
        Ok(all)
    }

    /// Whether it has ended by itself. It can be started again then.
    pub fn has_ended(&mut self) -> Result<bool> {
        let Some(child) = &mut self.child else {
            return Ok(true);
        };
        let ended = child.try_wait()?.is_some();
        if ended {
            self.child = None;
        }
        Ok(ended)
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        let child = self.child.as_ref().context("it does not run")?;
        kill(Pid::from_raw(i32::try_from(child.id())?), signal)?;
        Ok(())
    }

    /// `kill -9`: it gets no chance to finish anything.
    pub fn crash(&mut self) -> Result<()> {
        let mut child = self.child.take().context("it does not run")?;
        child.kill()?;
        child.wait()?;
        Ok(())
    }

    /// SIGTERM, and its exit: it must end by itself, with code 0.
    pub async fn stop(&mut self) -> Result<()> {
        self.signal(Signal::SIGTERM)?;
        let mut child = self.child.take().context("it does not run")?;
        let stopped = until(&format!("{} to stop", self.name), PATIENCE, || {
            let status = child.try_wait();
            async move { status?.context("still running") }
        })
        .await;
        let Ok(status) = stopped else {
            child.kill()?;
            child.wait()?;
            bail!(
                "{} did not stop on SIGTERM within {} s",
                self.name,
                PATIENCE.as_secs()
            );
        };
        ensure!(
            status.success(),
            "{} ended with {status} on SIGTERM",
            self.name
        );
        Ok(())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_ends_with_the_thread_that_started_it() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let runtime = || {
            let mut builder = tokio::runtime::Builder::new_current_thread();
            builder.enable_all().build()
        };
        let starts = || -> Result<Option<u32>> {
            let service = Service::start("expandybird", folder.path(), Vec::new());
            let mut service = runtime()?.block_on(service)?;
            // As where the test run is killed: nobody drops it.
            Ok(service.child.take().map(|child| child.id()))
        };
        let started = std::thread::scope(|scope| scope.spawn(starts).join());
        let Ok(started) = started else {
            bail!("the thread panicked")
        };
        let service = Pid::from_raw(i32::try_from(started?.context("it does not run")?)?);
        runtime()?.block_on(until("the service to end", PATIENCE, || async {
            ensure!(!runs(service), "it still runs");
            Ok(())
        }))
    }
}
