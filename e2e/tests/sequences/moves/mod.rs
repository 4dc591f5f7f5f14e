//! One step of a sequence, as plain data: it can be generated, dropped, simplified and run again. Pure.

pub mod generate;
pub mod simplify;

use crate::model::{Configuration, ObjectId, Options};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Move {
    Write(Write),
    /// Stops what runs on the deployment.
    Stop(usize),
    /// Sends a request with an `Idempotency-Key` again, as it was: the so-manieth of them.
    Repeat(usize),
    /// Somebody else does something to an object.
    Interfere(ObjectId, Act),
    /// Somebody else changes the cluster.
    Cluster(ClusterAct),
    /// A process of Deployment Manager ends, and starts again.
    Fault(Fault),
    /// So many milliseconds pass.
    Pause(u64),
    /// Waits until the object has this value in the cluster, at most some seconds.
    Until(ObjectId, u32),
    /// Ends all interference, waits for all operations, and checks.
    Quiet,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write {
    pub deployment: usize,
    pub what: What,
    pub options: Options,
    pub then: Then,
    /// Whether it is a fault if it does not succeed.
    pub must_succeed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    Create(Configuration, Drift),
    Update(Configuration),
    Preview(Configuration),
    /// The latest configuration again, with this version of the registry's template in it.
    Upgrade(u8),
    /// Applies the preview.
    Commit,
    DropPreview,
    /// To the so-manieth of its manifests from the last, previews included.
    Rollback(usize),
    Delete,
    /// Expands, and stores nothing.
    Expand(Configuration),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drift {
    Report,
    Correct,
}

/// What the sequence does once the write is accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// Waits for its end.
    Wait,
    /// Goes on with the next move beside it.
    GoOn,
    /// Stops it after so many milliseconds.
    StopAfter(u64),
    /// Stops it as soon as its events say that this step runs.
    StopAt(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// Makes the object, as nobody's.
    Make(u32),
    Delete,
    /// Deletes it, waits until it is gone, and makes it as nobody's.
    Recreate(u32),
    /// Gives it another value.
    Edit(u32),
    /// Adds an annotation.
    Annotate,
    /// Removes the label by which it belongs to its deployment.
    Unlabel,
    /// Makes the object with the label of this deployment on it, as a copy of one of its objects has.
    Copy(u32, usize),
    /// Sets the number of replicas of a workload, by its subresource.
    Scale(u8),
    /// Adds a finalizer, which holds deletions until a quiet point.
    Hold,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClusterAct {
    /// An admission policy refuses a kind of request on ConfigMaps, Secrets and custom objects, with these words.
    Refuse(Verb, &'static str),
    /// A quota allows so many ConfigMaps.
    Quota(u8),
    /// The second namespace is deleted.
    DropNamespace,
    /// The sequence's definition is deleted, with all its objects.
    DropDefinition,
    /// The control plane stands still for so many milliseconds.
    Freeze(u64),
    /// The sequence's service account has these rights from now on.
    Grant(Rights),
}

/// What the sequence's service account may do with all objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rights {
    All,
    NoDeletes,
    ReadOnly,
    Nothing,
}

impl Rights {
    pub const FEWER: [Rights; 3] = [Rights::NoDeletes, Rights::ReadOnly, Rights::Nothing];
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Create,
    Update,
    Delete,
}

impl Verb {
    pub const ALL: [Verb; 3] = [Verb::Create, Verb::Update, Verb::Delete];

    /// As in admission rules.
    pub fn operation(self) -> &'static str {
        match self {
            Verb::Create => "CREATE",
            Verb::Update => "UPDATE",
            Verb::Delete => "DELETE",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// `kill -9`.
    Kill(Program),
    /// SIGTERM.
    Terminate(Program),
    /// `kill -9` of resourcifier's kubectl.
    KillKubectl,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    Manager,
    Expandybird,
    Resourcifier,
}

impl Program {
    pub const ALL: [Program; 3] = [
        Program::Manager,
        Program::Expandybird,
        Program::Resourcifier,
    ];
}

/// The steps of operations, as their progress names them.
pub const STEPS: [&str; 8] = [
    "expanding",
    "checking",
    "storing",
    "comparing",
    "applying",
    "publishing",
    "deleting",
    "removing",
];

impl Write {
    pub fn new(deployment: usize, what: What) -> Self {
        Self {
            deployment,
            what,
            options: Options::default(),
            then: Then::Wait,
            must_succeed: false,
        }
    }

    pub fn create(deployment: usize, configuration: Configuration) -> Self {
        Self::new(deployment, What::Create(configuration, Drift::Report))
    }

    pub fn update(deployment: usize, configuration: Configuration) -> Self {
        Self::new(deployment, What::Update(configuration))
    }

    pub fn then(self, then: Then) -> Self {
        Self { then, ..self }
    }

    pub fn with(self, options: Options) -> Self {
        Self { options, ..self }
    }

    pub fn must_succeed(self) -> Self {
        Self {
            must_succeed: true,
            ..self
        }
    }

    /// The configuration that it asks for, if it has one.
    pub fn configuration(&self) -> Option<&Configuration> {
        match &self.what {
            What::Create(asked, _)
            | What::Update(asked)
            | What::Preview(asked)
            | What::Expand(asked) => Some(asked),
            What::Upgrade(_)
            | What::Commit
            | What::DropPreview
            | What::Rollback(_)
            | What::Delete => None,
        }
    }

    pub fn configuration_mut(&mut self) -> Option<&mut Configuration> {
        match &mut self.what {
            What::Create(asked, _)
            | What::Update(asked)
            | What::Preview(asked)
            | What::Expand(asked) => Some(asked),
            What::Upgrade(_)
            | What::Commit
            | What::DropPreview
            | What::Rollback(_)
            | What::Delete => None,
        }
    }
}

impl From<Write> for Move {
    fn from(write: Write) -> Self {
        Move::Write(write)
    }
}
