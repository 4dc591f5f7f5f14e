//! One of two instances of a service dies at any moment, and nobody who deploys notices.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use e2e::{Stack, until};
use serde_json::Value;

use crate::metrics::sample;

/// A job that was cut off may write for 30 s, and its operation waits for that.
const PATIENCE: Duration = Duration::from_secs(180);
const DEPLOYS: usize = 8;

/// Waits until so many deployments are known to the manager.
async fn begun(stack: &Stack, count: usize) -> Result<()> {
    until("further deployments", PATIENCE, || async {
        let (_, body) = stack.get("/deployments").await?;
        let items = body["items"].as_array().context("no list")?;
        ensure!(items.len() >= count, "{} of {count}", items.len());
        Ok(())
    })
    .await
}

/// Waits until the manager is ready, and says this about the service.
async fn says(stack: &Stack, name: &str, expected: &str) -> Result<()> {
    until("readyz to name an instance", PATIENCE, || async {
        let (status, body) = stack.get("/readyz").await?;
        let mut checks = body["checks"].as_array().into_iter().flatten();
        let check = checks.find(|check| check["name"] == name);
        let message = check.and_then(|check| check["message"].as_str());
        let said = message.unwrap_or_default();
        ensure!(status == 200 && said.contains(expected), "{status} {body}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn no_deploy_fails_while_one_of_two_instances_of_each_service_dies() -> Result<()> {
    let (stack, mut expandybird, mut resourcifier) = Stack::doubled().await?;
    let deploys = async {
        for number in 0..DEPLOYS {
            let name = format!("web-{number}");
            let template = ["replicatedservice:v1", "--name", &name];
            stack.deploy(&template).await?;
        }
        anyhow::Ok(())
    };
    let deaths = async {
        begun(&stack, 1).await?;
        expandybird.crash()?;
        begun(&stack, 3).await?;
        resourcifier.crash()?;
        let expected = format!("1 of 2 left out: expandybird at {}", expandybird.url());
        says(&stack, "expandybird", &expected).await?;
        let expected = format!("1 of 2 left out: resourcifier at {}", resourcifier.url());
        says(&stack, "resourcifier", &expected).await?;
        begun(&stack, 6).await?;
        expandybird.again().await?;
        resourcifier.again().await
    };
    tokio::try_join!(deploys, deaths)?;
    let (_, body) = stack.get("/operations").await?;
    let operations = body["items"].as_array().context("no operations")?;
    assert_eq!(operations.len(), DEPLOYS);
    assert!(operations.iter().all(|one| one["error"] == Value::Null));
    for (service, instance) in [
        ("expandybird", &expandybird),
        ("resourcifier", &resourcifier),
    ] {
        let url = instance.url();
        let ready = format!(r#"dm_instance_ready{{service="{service}",url="{url}"}}"#);
        until("the instance to be used again", PATIENCE, || async {
            let value = sample(&stack, &ready).await?;
            ensure!(value == 1.0, "{ready} is {value}");
            Ok(())
        })
        .await?;
    }
    Ok(())
}
