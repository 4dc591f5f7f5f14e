//! Deployments of many objects, beside kubectl with the same objects, measured in turn in one run.
//!
//! `make bench` builds in release mode and runs this, for the figures that the README quotes. Times
//! are medians over the runs, with the fastest and slowest.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use e2e::Stack;

/// Deployments of many objects are slow: three runs each, in turn.
const RUNS: usize = 3;
/// Objects of one deployment.
const OBJECTS: usize = 500;

#[tokio::main]
async fn main() -> Result<()> {
    // `cargo test --benches` asks for a list or a dry run; there is nothing to test here.
    if !std::env::args().any(|arg| arg == "--bench") {
        return Ok(());
    }
    let stack = Stack::start().await?;
    println!("| what | ours | instead | ours / instead |\n|---|---|---|---|");
    deployment(&stack).await
}

/// Times of one side.
struct Times(Vec<Duration>);

impl Times {
    fn median(&self) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort();
        sorted[sorted.len() / 2]
    }

    fn show(&self) -> String {
        let ms = |time: Duration| format!("{:.1}", time.as_secs_f64() * 1000.0);
        let (least, most) = (self.0.iter().min(), self.0.iter().max());
        format!(
            "{} ms ({}–{})",
            ms(self.median()),
            least.map_or_else(String::new, |t| ms(*t)),
            most.map_or_else(String::new, |t| ms(*t))
        )
    }
}

fn row(what: &str, ours: &Times, instead: &Times) {
    let ratio = ours.median().as_secs_f64() / instead.median().as_secs_f64();
    println!(
        "| {what} | {} | {} | {ratio:.3} |",
        ours.show(),
        instead.show()
    );
}

async fn timed<T>(times: &mut Times, work: impl Future<Output = Result<T>>) -> Result<T> {
    let started = Instant::now();
    let done = work.await?;
    times.0.push(started.elapsed());
    Ok(done)
}

/// Many ConfigMaps: deployed, updated without a change, and deleted, beside kubectl with the same objects.
async fn deployment(stack: &Stack) -> Result<()> {
    let (config, manifests) = (
        stack.write("many.yaml", &configuration())?,
        stack.write("objects.yaml", &objects())?,
    );
    let config = config.to_str().context("a path that is no text")?;
    let manifests = manifests.to_str().context("a path that is no text")?;
    let [
        mut create,
        mut kubectl_create,
        mut again,
        mut kubectl_again,
        mut delete,
        mut kubectl_delete,
    ] = std::array::from_fn(|_| Times(Vec::new()));
    let namespace = ["--namespace", &stack.namespace];
    let apply = [&["apply", "--server-side", "-f", manifests], &namespace[..]].concat();
    for _ in 0..RUNS {
        timed(&mut create, stack.deploy(&[config, "--name", "many"])).await?;
        timed(
            &mut again,
            stack.dm.ok(&["update", config, "--name", "many"]),
        )
        .await?;
        timed(&mut delete, stack.dm.ok(&["delete", "many"])).await?;
        timed(&mut kubectl_create, async { stack.cluster.kubectl(&apply) }).await?;
        timed(&mut kubectl_again, async { stack.cluster.kubectl(&apply) }).await?;
        timed(&mut kubectl_delete, async {
            stack
                .cluster
                .kubectl(&[&["delete", "-f", manifests], &namespace[..]].concat())
        })
        .await?;
    }
    row(
        &format!("create {OBJECTS} ConfigMaps"),
        &create,
        &kubectl_create,
    );
    row(
        &format!("update {OBJECTS} ConfigMaps, nothing changed"),
        &again,
        &kubectl_again,
    );
    row(
        &format!("delete {OBJECTS} ConfigMaps, and wait"),
        &delete,
        &kubectl_delete,
    );
    Ok(())
}

fn configuration() -> String {
    let resource = |n| {
        format!("- {{name: many-{n}, type: ConfigMap, properties: {{data: {{index: '{n}'}}}}}}\n")
    };
    format!(
        "resources:\n{}",
        (0..OBJECTS).map(resource).collect::<String>()
    )
}

fn objects() -> String {
    let object = |n| {
        format!(
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: plain-{n}}}\ndata: {{index: '{n}'}}\n"
        )
    };
    (0..OBJECTS).map(object).collect()
}
