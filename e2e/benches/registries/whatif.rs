//! What 500 deployments of a template would be with its next minor version: beside `dm expand` with that version, once for each
//! of them, which is what a script would do, and which compares nothing yet.
//!
//! The template is a bundled one, in Python. Manager and expandybird are the real ones; what is behind the manager to apply
//! is a stand-in, because a what-if asks nothing of it.

use std::path::Path;

use anyhow::{Result, ensure};
use common::api::manager::WriteQuery;
use common::client::ManagerClient;
use e2e::Dm;
use e2e::program::{Service, checkout};
use futures::{StreamExt, TryStreamExt, stream};
use serde_json::json;

use crate::stand_in;
use crate::times::{Times, row};

const DEPLOYMENTS: usize = 500;
const NEW: &str = "replicatedservice:v1.1";
const RUNS: usize = 3;
/// Deployments that are created at once.
const AT_ONCE: usize = 8;

pub async fn measure(folder: &Path) -> Result<()> {
    let mut expandybird = Service::start("expandybird", folder, Vec::new()).await?;
    let mut manager = manager(folder, &expandybird).await?;
    fill(&ManagerClient::new(&manager.url())?).await?;
    let dm = Dm::new(manager.url(), folder);
    let [mut ours, mut instead] = [Times::default(), Times::default()];
    for _ in 0..RUNS {
        ours.of(looked_at(&dm)).await?;
        instead.of(expanded(&dm)).await?;
    }
    row(
        "what-if over 500 deployments, `dm expand` for each",
        &ours,
        &instead,
    );
    manager.stop().await?;
    expandybird.stop().await
}

async fn manager(folder: &Path, expandybird: &Service) -> Result<Service> {
    let args = [
        "--store",
        &format!("sled:{}", folder.join("store").display()),
        "--registry-cache",
        &folder.join("cache").display().to_string(),
        "--registry",
        &checkout().join("charts").display().to_string(),
        "--expander-url",
        &expandybird.url(),
        "--deployer-url",
        &stand_in::start().await?,
    ];
    Service::start("manager", folder, args.map(str::to_owned).to_vec()).await
}

fn name(number: usize) -> String {
    format!("web-{number:03}")
}

async fn fill(client: &ManagerClient) -> Result<()> {
    let create = |number: usize| async move {
        let properties =
            json!({"image": "nginx", "replicas": number % 5, "service_port": 8000 + number});
        let resource =
            json!({"name": "web", "type": "replicatedservice:v1", "properties": properties});
        let content = json!({"resources": [resource]}).to_string();
        let request = json!({"name": name(number), "content": content});
        let request = serde_json::from_value(request)?;
        client.create(&request, &WriteQuery::default()).await?;
        anyhow::Ok(())
    };
    let all = stream::iter(0..DEPLOYMENTS).map(create);
    all.buffer_unordered(AT_ONCE).try_collect().await
}

async fn looked_at(dm: &Dm) -> Result<()> {
    let shown = dm.ok(&["whatif", NEW]).await?;
    let changed = shown.lines().filter(|line| line.contains("1 changed"));
    ensure!(changed.count() == DEPLOYMENTS, "{shown}");
    Ok(())
}

async fn expanded(dm: &Dm) -> Result<()> {
    for number in 0..DEPLOYMENTS {
        let (name, port) = (name(number), 8000 + number);
        let properties = format!("image=nginx,replicas={},service_port={port}", number % 5);
        let args = ["expand", NEW, "--name", &name, "--properties", &properties];
        dm.ok(&args).await?;
    }
    Ok(())
}
