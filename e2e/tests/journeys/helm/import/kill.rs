//! All services are killed during an import. Afterwards it ends: Helm owns nothing more, and nothing else has changed.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use e2e::{Stack, until};
use serde_json::Value;

use super::{Installed, alone};

const PATIENCE: Duration = Duration::from_secs(60);
const HELM: &str = "helm";
/// Objects of a release whose ownership takes a while to end.
const MANY: usize = 120;
const CONFIGS: &str = "\
{{- range until (int .Values.many) }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ $.Release.Name }}-{{ . }}
data: {number: '{{ . }}'}
{{- end }}
";

/// The field managers of each object of the release.
fn managers(stack: &Stack) -> Result<Vec<Vec<String>>> {
    let get = ["get", "configmaps,deployments", "--show-managed-fields"];
    let place = ["--namespace", &stack.namespace, "-o", "json"];
    let list = stack.cluster.kubectl(&[&get[..], &place].concat())?;
    let list: Value = serde_json::from_str(&list)?;
    let objects = list["items"].as_array().context("no list")?.iter();
    let own = objects.filter(|object| object["metadata"]["name"] != "kube-root-ca.crt");
    let names = own.map(|object| {
        let entries = object["metadata"]["managedFields"].as_array();
        let names = entries.into_iter().flatten();
        let names = names.filter_map(|entry| entry["manager"].as_str());
        names.map(str::to_owned).collect()
    });
    Ok(names.collect())
}

fn is_of(managers: &[String], tool: &str) -> bool {
    managers.iter().any(|name| name.starts_with(tool))
}

/// Imports the release, and kills all services as soon as the objects are so far. Then it ends as if nothing had been.
async fn killed_when(
    installed: &mut Installed,
    moment: &str,
    is_now: impl Fn(&[Vec<String>]) -> bool,
) -> Result<()> {
    let (before, hook) = (installed.objects()?, installed.hook()?);
    let import = installed.import(&[])?;
    let importing = installed.dm.start(&import)?;
    let stack = &installed.stack;
    until(moment, PATIENCE, || async {
        let managers = managers(stack)?;
        ensure!(is_now(&managers), "{managers:?}");
        Ok(())
    })
    .await?;
    let stack = &mut installed.stack;
    stack.resourcifier.crash()?;
    stack.manager.crash()?;
    stack.expandybird.crash()?;
    stack.resourcifier.again().await?;
    stack.expandybird.again().await?;
    stack.manager.again().await?;
    let said = importing.ends().await?;
    assert_eq!(said.code, 0, "{said:?}");
    for managers in managers(&installed.stack)? {
        assert!(!is_of(&managers, HELM), "{managers:?}");
        assert!(is_of(&managers, "dm-site"), "{managers:?}");
    }
    assert_eq!(installed.objects()?, before);
    assert_eq!(installed.hook()?, hook, "no hook has run");
    let state = installed.dm.json(&["get", "site"]).await?;
    assert_eq!(state["state"]["status"], "Deployed", "{state}");
    Ok(())
}

#[tokio::test]
async fn an_import_ends_though_all_services_are_killed_before_helms_ownership_ends() -> Result<()> {
    // The import waits for the pods, and ends the ownership then.
    let values = "greeting=Moin,image=simulated.invalid/slow:20s";
    let mut installed = Installed::release(&alone(), values).await?;
    killed_when(
        &mut installed,
        "all objects to have two owners",
        |managers| {
            let both = |managers: &Vec<String>| is_of(managers, HELM) && is_of(managers, "dm-site");
            managers.iter().all(both)
        },
    )
    .await
}

#[tokio::test]
async fn an_import_ends_though_all_services_are_killed_while_helms_ownership_ends() -> Result<()> {
    let configs = ("templates/configs.yaml".to_owned(), CONFIGS.to_owned());
    let files: Vec<_> = alone().into_iter().chain([configs]).collect();
    let values = format!("greeting=Moin,many={MANY}");
    let mut installed = Installed::release(&files, &values).await?;
    killed_when(&mut installed, "Helm to lose one object", |managers| {
        managers.iter().any(|managers| !is_of(managers, HELM))
    })
    .await
}
