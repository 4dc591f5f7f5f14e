//! Runs one sequence: its moves in their order, in namespaces of its own, with what it knows and a script of what it did.

mod interfere;
mod quiet;
mod request;
mod write;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;

use crate::check::{Point, Violation, violation};
use crate::known::Known;
use crate::model::object::value_in;
use crate::model::{Kind, Names, ObjectId};
use crate::moves::{ClusterAct, Move, Rights, What};
use crate::script::{Request, Script};
use crate::seen::{self, Seen};
use crate::world::{Answer, World};

/// Deployments that a sequence may have.
pub const DEPLOYMENTS: usize = 3;
/// An object that is about to be made is there by then, or will not be.
const THERE: Duration = Duration::from_secs(10);

pub struct Lane {
    world: Arc<World>,
    names: Names,
    known: Known,
    script: Script,
    /// The requests with a key, and their first answers.
    keyed: Vec<(Request, Answer)>,
    /// Objects with a finalizer of ours.
    held: Vec<ObjectId>,
    /// What the service account may do now; nothing if the sequence needs none.
    rights: Option<Rights>,
    violations: Vec<Violation>,
}

/// How a sequence ended.
pub struct Outcome {
    pub violations: Vec<Violation>,
    pub script: Script,
    last: Last,
}

/// What is needed to look for calls that came after the end.
struct Last {
    names: Names,
    known: Known,
    seen: Seen,
}

impl Outcome {
    /// Calls that reached the cluster until now, and should not have.
    pub fn late_calls(&self, world: &World) -> Result<Vec<Violation>> {
        let Last { names, known, seen } = &self.last;
        let writes = world.writes(names)?;
        let point = Point {
            names,
            known,
            seen,
            writes: &writes,
        };
        Ok(point.calls())
    }
}

/// Runs a sequence to its end. What remains is updated, deleted and checked; an error is one of the tester itself.
pub async fn run(world: &Arc<World>, prefix: &str, moves: &[Move]) -> Result<Outcome> {
    let mut lane = Lane::new(world, prefix).await?;
    if moves.iter().any(needs_definition) {
        lane.make_definition().await?;
    }
    if moves.iter().any(needs_account) {
        lane.grant(Rights::All).await?;
    }
    for step in moves {
        lane.step(step).await?;
    }
    lane.settle().await?;
    let seen = lane.look().await?;
    lane.leave().await;
    Ok(Outcome {
        violations: lane.violations,
        script: lane.script,
        last: Last {
            names: lane.names,
            known: lane.known,
            seen,
        },
    })
}

fn needs_definition(step: &Move) -> bool {
    let objects: Vec<_> = match step {
        Move::Write(write) => {
            let asked = write.configuration().map(|asked| asked.items.as_slice());
            let items = asked.unwrap_or_default().iter();
            items.map(|item| item.object).collect()
        }
        Move::Interfere(object, _) => vec![*object],
        _ => Vec::new(),
    };
    objects.iter().any(|object| object.kind == Kind::Custom)
}

fn needs_account(step: &Move) -> bool {
    match step {
        Move::Write(write) => matches!(write.what, What::Create(..)) && write.options.in_account,
        Move::Cluster(ClusterAct::Grant(_)) => true,
        _ => false,
    }
}

impl Lane {
    async fn new(world: &Arc<World>, prefix: &str) -> Result<Self> {
        let lane = Self {
            world: world.clone(),
            names: Names {
                prefix: prefix.to_owned(),
            },
            known: Known::default(),
            script: Script::new(),
            keyed: Vec::new(),
            held: Vec::new(),
            rights: None,
            violations: Vec::new(),
        };
        for namespace in lane.names.namespaces() {
            world.make_namespace(&namespace).await?;
        }
        world.make_probe(&lane.names.namespaces()[0]).await?;
        Ok(lane)
    }

    async fn step(&mut self, step: &Move) -> Result<()> {
        match step {
            Move::Write(write) => self.write(write).await,
            Move::Stop(deployment) => self.stop(*deployment).await,
            Move::Repeat(index) => self.repeat(*index).await,
            Move::Interfere(object, act) => self.interfere(*object, *act).await,
            Move::Cluster(ClusterAct::Freeze(ms)) => {
                self.script.run(format!(
                    "kill -STOP $API_SERVER; sleep {}; kill -CONT $API_SERVER",
                    Duration::from_millis(*ms).as_secs_f32()
                ));
                self.world.freeze(Duration::from_millis(*ms)).await
            }
            Move::Cluster(act) => self.change_cluster(*act).await,
            Move::Fault(fault) => {
                self.script.run(format!("# {fault:?}, and start it again"));
                self.world.strike(*fault).await
            }
            Move::Pause(ms) => {
                self.script.run(format!(
                    "sleep {}",
                    Duration::from_millis(*ms).as_secs_f32()
                ));
                tokio::time::sleep(Duration::from_millis(*ms)).await;
                Ok(())
            }
            Move::Until(object, value) => self.until(*object, *value).await,
            Move::Quiet => self.quiet().await,
        }
    }

    async fn until(&mut self, object: ObjectId, value: u32) -> Result<()> {
        let (collection, name) = (object.collection(&self.names), object.name(&self.names));
        let api = self.world.api.clone();
        let found = e2e::until(&name, THERE, || async {
            let live = api.get(&collection, &name).await?.unwrap_or_default();
            let found = value_in(object.kind.kubernetes(), &live);
            anyhow::ensure!(found == Some(value), "it is {found:?}");
            Ok(())
        });
        let outcome = match found.await {
            Ok(()) => "is now",
            Err(_) => "does not become",
        };
        self.script.note(format!("{name} {outcome} {value}"));
        Ok(())
    }

    fn fault(&mut self, rule: &'static str, what: impl Into<String>) {
        let found = violation(rule, what);
        self.script.note(format!("FAULT {found}"));
        self.violations.push(found);
    }

    async fn look(&mut self) -> Result<Seen> {
        let seen = seen::look(&self.world, &self.names, DEPLOYMENTS).await?;
        for (key, manifest) in &seen.manifests {
            self.known
                .manifests
                .entry(key.clone())
                .or_insert_with(|| manifest.clone());
        }
        Ok(seen)
    }
}
