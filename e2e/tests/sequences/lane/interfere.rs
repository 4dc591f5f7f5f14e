//! Somebody else at work in the cluster. What is refused there is noted, and is no fault.

use std::time::Duration;

use anyhow::Result;
use jiff::Timestamp;
use reqwest::Method;
use serde_json::{Value, json};

use super::Lane;
use crate::known::Foreign;
use crate::model::{Kind, ObjectId};
use crate::moves::{Act, ClusterAct, Rights};
use crate::seen::{LABEL, text};
use crate::world::cluster_wide;

/// An object without finalizers is gone at once, a pod after a moment.
const GONE: Duration = Duration::from_secs(5);
/// A namespace that was removed is there again by then, also on a busy machine.
const RENEWED: Duration = Duration::from_secs(180);
const FINALIZER: &str = "sequences.dev/hold";
const QUOTA: &str = "sequences";

impl Lane {
    pub(super) async fn interfere(&mut self, object: ObjectId, act: Act) -> Result<()> {
        self.known.objects.insert(object);
        let name = object.name(&self.names);
        self.script.run(format!(
            "# somebody else: {act:?} {} {name}",
            object.kind.kubernetes()
        ));
        self.known.disturb(object);
        let done = self.act(object, act).await;
        // An operation that ran meanwhile may have seen either.
        self.known.disturb(object);
        match done {
            Ok(true) => {}
            Ok(false) => self.script.note("there is none, or there is one already"),
            Err(error) => self.script.note(format!("refused: {error:#}")),
        }
        Ok(())
    }

    async fn act(&mut self, object: ObjectId, act: Act) -> Result<bool> {
        let (collection, name) = (object.collection(&self.names), object.name(&self.names));
        let api = self.world.api.clone();
        match act {
            Act::Make(value) => self.make(object, value, None).await,
            Act::Copy(value, deployment) => self.make(object, value, Some(deployment)).await,
            Act::Delete => self.delete(object).await,
            Act::Recreate(value) => {
                if !self.delete(object).await? {
                    return Ok(false);
                }
                let what = format!("{name} to be gone");
                let gone = e2e::until(&what, GONE, || async {
                    anyhow::ensure!(api.get(&collection, &name).await?.is_none(), "still there");
                    Ok(())
                });
                gone.await?;
                self.make(object, value, None).await
            }
            Act::Edit(value) => {
                let done = api
                    .merge(&collection, &name, &object.kind.patch(value))
                    .await?;
                let theirs = self
                    .known
                    .foreign
                    .iter_mut()
                    .filter(|one| one.object == object);
                theirs.for_each(|one| one.value = value);
                Ok(done)
            }
            Act::Annotate => {
                let patch = json!({"metadata": {"annotations": {"sequences.dev/touched": "true"}}});
                api.merge(&collection, &name, &patch).await
            }
            Act::Unlabel => {
                let patch = json!({"metadata": {"labels": {LABEL: Value::Null}}});
                let done = api.merge(&collection, &name, &patch).await?;
                let foreign = self.known.foreign.iter_mut();
                let theirs = foreign.filter(|one| one.object == object);
                theirs.for_each(|one| one.label = None);
                Ok(done)
            }
            Act::Scale(replicas) => {
                let name = format!("{name}/scale");
                let patch = json!({"spec": {"replicas": replicas}});
                match object.kind {
                    Kind::Workload => api.merge(&collection, &name, &patch).await,
                    _ => Ok(false),
                }
            }
            Act::Hold => {
                let patch = json!({"metadata": {"finalizers": [FINALIZER]}});
                let done = api.merge(&collection, &name, &patch).await?;
                self.held.push(object);
                Ok(done)
            }
        }
    }

    /// What others made of it, others take away, unless that is refused.
    async fn delete(&mut self, object: ObjectId) -> Result<bool> {
        let (collection, name) = (object.collection(&self.names), object.name(&self.names));
        let done = self.world.api.delete(&collection, &name).await?;
        self.known.foreign.retain(|one| one.object != object);
        Ok(done)
    }

    /// Makes the object, as nobody's, or with a deployment's label.
    async fn make(
        &mut self,
        object: ObjectId,
        value: u32,
        labelled: Option<usize>,
    ) -> Result<bool> {
        let collection = object.collection(&self.names);
        let api = &self.world.api;
        let label = labelled.map(|index| self.names.deployment(index));
        let mut made = object.object(&self.names, value);
        if let Some(label) = &label {
            made["metadata"]["labels"][LABEL] = json!(label);
        }
        if !api.create(&collection, &made).await? {
            return Ok(false);
        }
        let made = api.get(&collection, &object.name(&self.names)).await?;
        self.known.foreign.push(Foreign {
            object,
            uid: text(&made.unwrap_or_default()["metadata"]["uid"]),
            value,
            label,
            made: Timestamp::now(),
        });
        Ok(true)
    }

    pub(super) async fn change_cluster(&mut self, act: ClusterAct) -> Result<()> {
        self.script.run(format!("# somebody else: {act:?}"));
        let [first, second] = self.names.namespaces();
        let done = match act {
            ClusterAct::Refuse(verb, words) => self.world.refuse(&first, verb, words).await,
            ClusterAct::Quota(number) => self.set_quota(&first, number).await,
            ClusterAct::DropNamespace => {
                self.drop_all(|object| object.second);
                let namespaces = cluster_wide("api/v1", "namespaces");
                self.world
                    .api
                    .delete(&namespaces, &second)
                    .await
                    .map(|_| ())
            }
            ClusterAct::DropDefinition => {
                self.drop_all(|object| object.kind == Kind::Custom);
                let name = self.names.definition();
                self.world
                    .api
                    .delete(&definitions(), &name)
                    .await
                    .map(|_| ())
            }
            ClusterAct::Grant(rights) => self.grant(rights).await,
            ClusterAct::Freeze(_) => Ok(()),
        };
        if let Err(error) = done {
            self.script.note(format!("refused: {error:#}"));
        }
        Ok(())
    }

    pub(super) async fn grant(&mut self, rights: Rights) -> Result<()> {
        self.world.grant(&self.names, rights).await?;
        self.rights = Some(rights);
        Ok(())
    }

    /// All these objects go, ours and others'.
    fn drop_all(&mut self, is_dropped: impl Fn(&ObjectId) -> bool) {
        let dropped: Vec<_> = self
            .known
            .objects
            .iter()
            .copied()
            .filter(|object| is_dropped(object))
            .collect();
        for object in dropped {
            self.known.disturb(object);
        }
        self.known
            .foreign
            .retain(|foreign| !is_dropped(&foreign.object));
    }

    async fn set_quota(&self, namespace: &str, number: u8) -> Result<()> {
        let quota = json!({
            "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": QUOTA},
            "spec": {"hard": {"count/configmaps": number.to_string()}},
        });
        self.world.api.create(&quotas(namespace), &quota).await?;
        Ok(())
    }

    /// Ends all interference, and returns when nothing of it works any more.
    pub(super) async fn heal(&mut self) -> Result<()> {
        let [first, second] = self.names.namespaces();
        self.world.api.delete(&quotas(&first), QUOTA).await?;
        self.world.admit_all(&first).await?;
        if self.rights.is_some_and(|rights| rights != Rights::All) {
            self.grant(Rights::All).await?;
        }
        for object in std::mem::take(&mut self.held) {
            let (collection, name) = (object.collection(&self.names), object.name(&self.names));
            let patch = json!({"metadata": {"finalizers": Value::Null}});
            self.world.api.merge(&collection, &name, &patch).await?;
        }
        let world = self.world.clone();
        e2e::until(&format!("namespace {second}"), RENEWED, || async {
            world.make_namespace(&second).await?;
            let namespaces = cluster_wide("api/v1", "namespaces");
            let object = world
                .api
                .get(&namespaces, &second)
                .await?
                .unwrap_or_default();
            anyhow::ensure!(object["status"]["phase"] == "Active", "{object}");
            Ok(())
        })
        .await
    }

    pub(super) async fn make_definition(&self) -> Result<()> {
        let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        let definition = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": self.names.definition()},
            "spec": {
                "group": self.names.group(), "scope": "Namespaced",
                "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
            },
        });
        let api = &self.world.api;
        api.create(&definitions(), &definition).await?;
        let things = format!("apis/{}/v1/things", self.names.group());
        e2e::until("things to be served", Duration::from_secs(30), || async {
            let (status, answer) = api
                .send(Method::GET, &things, "application/json", None)
                .await?;
            anyhow::ensure!(status.is_success(), "{answer}");
            Ok(())
        })
        .await
    }

    /// What is the sequence's in the whole cluster goes; nobody waits for it.
    pub(super) async fn leave(&self) {
        let _ = self
            .world
            .withdraw_all_but(&self.names, Rights::Nothing)
            .await;
        let own = self.known.objects.iter();
        for object in own.filter(|object| object.kind.is_cluster_wide()) {
            let collection = object.collection(&self.names);
            let _ = self
                .world
                .api
                .delete(&collection, &object.name(&self.names))
                .await;
        }
        let namespaces = cluster_wide("api/v1", "namespaces");
        for namespace in self.names.namespaces() {
            let _ = self.world.api.delete(&namespaces, &namespace).await;
        }
        let _ = self
            .world
            .api
            .delete(&definitions(), &self.names.definition())
            .await;
    }
}

fn definitions() -> e2e::api_client::Collection {
    cluster_wide("apis/apiextensions.k8s.io/v1", "customresourcedefinitions")
}

fn quotas(namespace: &str) -> e2e::api_client::Collection {
    e2e::api_client::Collection {
        version: "api/v1".to_owned(),
        resource: "resourcequotas",
        namespace: Some(namespace.to_owned()),
    }
}
