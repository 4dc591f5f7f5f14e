//! Deployments of many objects, beside kubectl with the same objects, measured in turn in one run.
//!
//! `make bench` builds in release mode and runs this, for the figures that the README quotes. Times
//! are medians over the runs, with the fastest and slowest. `cargo bench --bench deployments -- preflight` measures one part.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use e2e::Stack;

/// Deployments of many objects are slow: so many runs each, in turn.
const RUNS: usize = 5;
/// Objects of one deployment.
const OBJECTS: usize = 1_000;
/// Objects of the deployment that is only looked at.
const LOOKED_AT: usize = 5_000;
/// Waves of the chain, and resources of each.
const WAVES: usize = 10;
const WIDTH: usize = 10;
/// Services of the deployment with and without preflight.
const SERVICES: usize = 27;
/// Deployments of the test of memory: 10,000 resources.
const DEPLOYMENTS: usize = 10;

#[tokio::main]
async fn main() -> Result<()> {
    // `cargo test --benches` asks for a list or a dry run; there is nothing to test here.
    if !std::env::args().any(|arg| arg == "--bench") {
        return Ok(());
    }
    let named: Vec<String> = std::env::args().skip(1).collect();
    let parts = ["deployment", "looks", "chain", "preflight", "memory"];
    let is_chosen = |part: &&str| named.iter().any(|one| one == part);
    let is_any = parts.iter().any(is_chosen);
    let stack = Stack::start().await?;
    println!("| what | ours | instead | ours / instead |\n|---|---|---|---|");
    for part in parts.into_iter().filter(|part| !is_any || is_chosen(part)) {
        match part {
            "deployment" => deployment(&stack).await?,
            "looks" => looks(&stack).await?,
            "chain" => chain(&stack).await?,
            "preflight" => preflight(&stack).await?,
            _ => memory(&stack).await?,
        }
    }
    Ok(())
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
    let config = file(stack, "many.yaml", &configuration(OBJECTS))?;
    let manifests = file(stack, "objects.yaml", &plain(OBJECTS))?;
    let [mut create, mut again, mut delete] = std::array::from_fn(|_| Times(Vec::new()));
    let [mut kubectl_create, mut kubectl_again, mut kubectl_delete] =
        std::array::from_fn(|_| Times(Vec::new()));
    let kubectl = |args: &[&str]| {
        let args = [args, &["-f", &manifests, "--namespace", &stack.namespace]].concat();
        stack.cluster.kubectl(&args)
    };
    let apply = ["apply", "--server-side"];
    for _ in 0..RUNS {
        timed(&mut create, stack.deploy(&[&config, "--name", "many"])).await?;
        timed(&mut kubectl_create, async { kubectl(&apply) }).await?;
        let update = ["update", &config, "--name", "many"];
        timed(&mut again, stack.dm.ok(&update)).await?;
        timed(&mut kubectl_again, async { kubectl(&apply) }).await?;
        timed(&mut delete, stack.dm.ok(&["delete", "many"])).await?;
        timed(&mut kubectl_delete, async {
            kubectl(&["delete", "--wait=false"])
        })
        .await?;
    }
    let rows = [
        ("create", create, kubectl_create),
        ("update unchanged", again, kubectl_again),
        ("delete", delete, kubectl_delete),
    ];
    for (what, ours, instead) in rows {
        row(&format!("{what} {OBJECTS} ConfigMaps"), &ours, &instead);
    }
    Ok(())
}

/// Status and difference of a large deployment that nobody has changed, beside an update of it that changes nothing.
async fn looks(stack: &Stack) -> Result<()> {
    let config = file(stack, "large.yaml", &configuration(LOOKED_AT))?;
    let [mut status, mut diff, mut update] = std::array::from_fn(|_| Times(Vec::new()));
    stack.deploy(&[&config, "--name", "large"]).await?;
    for _ in 0..RUNS {
        timed(&mut status, stack.dm.ok(&["status", "large"])).await?;
        timed(&mut diff, stack.dm.ok(&["diff", "large"])).await?;
        let again = ["update", &config, "--name", "large"];
        timed(&mut update, stack.dm.ok(&again)).await?;
    }
    stack.dm.ok(&["delete", "large"]).await?;
    let what = |look: &str| format!("{look} of {LOOKED_AT} unchanged ConfigMaps, beside an update");
    row(&what("status"), &status, &update);
    row(&what("diff"), &diff, &update);
    Ok(())
}

/// Resources that wait for each other, beside kubectl with as many objects that do not.
async fn chain(stack: &Stack) -> Result<()> {
    let config = file(stack, "chain.yaml", &waves())?;
    let manifests = file(stack, "plain.yaml", &plain(WAVES * WIDTH))?;
    let [mut ours, mut instead] = std::array::from_fn(|_| Times(Vec::new()));
    let place = ["-f", &manifests, "--namespace", &stack.namespace];
    for _ in 0..RUNS {
        timed(&mut ours, stack.deploy(&[&config, "--name", "chain"])).await?;
        let apply = [&["apply", "--server-side"], &place[..]].concat();
        timed(&mut instead, async { stack.cluster.kubectl(&apply) }).await?;
        stack.dm.ok(&["delete", "chain"]).await?;
        let delete = [&["delete", "--wait=false"], &place[..]].concat();
        stack.cluster.kubectl(&delete)?;
    }
    let what = format!("create {} ConfigMaps in a chain of {WAVES}", WAVES * WIDTH);
    row(&what, &ours, &instead);
    Ok(())
}

/// The dry run before the first write, beside none: of ConfigMaps, which are alike and ready at once, and of replicated
/// services with settings, as users deploy them.
async fn preflight(stack: &Stack) -> Result<()> {
    let cases = [
        (
            format!("create {OBJECTS} ConfigMaps"),
            configuration(OBJECTS),
        ),
        (
            format!("create {OBJECTS} ConfigMaps with labels of their own"),
            different(OBJECTS),
        ),
        (
            format!("create {SERVICES} services of 3 objects"),
            services(),
        ),
    ];
    for (what, content) in cases {
        let config = file(stack, "preflight.yaml", &content)?;
        let [mut with, mut without] = std::array::from_fn(|_| Times(Vec::new()));
        let deploy = [config.as_str(), "--name", "preflight"];
        for _ in 0..RUNS {
            timed(&mut with, stack.deploy(&deploy)).await?;
            stack.dm.ok(&["delete", "preflight"]).await?;
            let alone = [&deploy[..], &["--no-preflight"]].concat();
            timed(&mut without, stack.deploy(&alone)).await?;
            stack.dm.ok(&["delete", "preflight"]).await?;
        }
        row(
            &format!("{what}, beside without preflight"),
            &with,
            &without,
        );
    }
    Ok(())
}

/// The most memory that the resourcifier ever had, after many deployments and after one as large as they can be.
async fn memory(stack: &Stack) -> Result<()> {
    let config = file(stack, "many.yaml", &configuration(OBJECTS))?;
    let mib = || -> Result<String> {
        Ok(format!(
            "{} MiB",
            stack.resourcifier.peak_memory()? / (1024 * 1024)
        ))
    };
    println!("| the resourcifier's memory, so far | {} | – | – |", mib()?);
    for n in 0..DEPLOYMENTS {
        let (name, namespace) = (format!("many-{n}"), format!("{}-{n}", stack.namespace));
        stack
            .cluster
            .kubectl(&["create", "namespace", &namespace])?;
        let deploy = [
            "deploy",
            &config,
            "--name",
            &name,
            "--namespace",
            &namespace,
        ];
        stack.dm.ok(&deploy).await?;
        stack.dm.ok(&["update", &config, "--name", &name]).await?;
    }
    let resources = DEPLOYMENTS * OBJECTS;
    println!(
        "| its memory, after {resources} resources | {} | – | – |",
        mib()?
    );
    for n in 0..DEPLOYMENTS {
        stack.dm.ok(&["delete", &format!("many-{n}")]).await?;
        let namespace = format!("{}-{n}", stack.namespace);
        stack
            .cluster
            .kubectl(&["delete", "namespace", &namespace, "--wait=false"])?;
    }
    Ok(())
}

fn file(stack: &Stack, name: &str, content: &str) -> Result<String> {
    let path = stack.write(name, content)?;
    Ok(path.to_str().context("a path that is not text")?.to_owned())
}

fn configuration(objects: usize) -> String {
    let resource = |n| {
        format!("- {{name: many-{n}, type: ConfigMap, properties: {{data: {{index: '{n}'}}}}}}\n")
    };
    format!(
        "resources:\n{}",
        (0..objects).map(resource).collect::<String>()
    )
}

/// Each has a label of its own, so that no two are alike.
fn different(objects: usize) -> String {
    let resource = |n| {
        format!(
            "- {{name: many-{n}, type: ConfigMap, properties: {{metadata: {{labels: {{index: '{n}'}}}}}}}}\n"
        )
    };
    format!(
        "resources:\n{}",
        (0..objects).map(resource).collect::<String>()
    )
}

fn services() -> String {
    let resource = |n| {
        format!(
            "- {{name: web-{n}, type: replicatedservice:v1, properties: {{replicas: 1, config: {{a: '{n}'}}}}}}\n"
        )
    };
    format!(
        "resources:\n{}",
        (0..SERVICES).map(resource).collect::<String>()
    )
}

/// Each resource depends on all of the wave before.
fn waves() -> String {
    let names = |wave: usize| (0..WIDTH).map(move |n| format!("wave-{wave}-{n}"));
    let resource = |wave: usize, name: String| {
        let before: Vec<String> = wave.checked_sub(1).into_iter().flat_map(names).collect();
        format!(
            "- {{name: {name}, type: ConfigMap, metadata: {{dependsOn: [{}]}}}}\n",
            before.join(", ")
        )
    };
    let waves = (0..WAVES).flat_map(|wave| names(wave).map(move |name| resource(wave, name)));
    format!("resources:\n{}", waves.collect::<String>())
}

fn plain(count: usize) -> String {
    let object = |n| {
        format!(
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: plain-{n}}}\ndata: {{index: '{n}'}}\n"
        )
    };
    (0..count).map(object).collect()
}
