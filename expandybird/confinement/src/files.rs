//! Landlock: which files a process may read. It also forbids TCP and signals to other processes.

use landlock::{
    ABI, Access, AccessFs, AccessNet, LandlockStatus, PathBeneath, PathFd, RestrictionStatus,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope,
};

use crate::error::Error;

/// The rules that are known and tested. An older kernel enforces the part that it supports.
const RULES: ABI = ABI::V7;

/// Rules that are ready to be enforced.
pub struct FileRules(RulesetCreated);

/// Which rules are in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Files {
    /// The Landlock version, if the kernel has Landlock.
    pub abi: Option<u32>,
    /// Only files below the folders, and these read-only.
    pub files: bool,
    /// No TCP.
    pub network: bool,
    /// No signal to another process.
    pub signals: bool,
    pub no_new_privileges: bool,
}

impl FileRules {
    /// `folders` stay readable.
    pub fn new(folders: &[String]) -> Result<Self, Error> {
        let mut rules = Ruleset::default()
            .handle_access(AccessFs::from_all(RULES))
            .and_then(|rules| rules.handle_access(AccessNet::from_all(RULES)))
            .and_then(|rules| rules.scope(Scope::from_all(RULES)))
            .and_then(Ruleset::create)
            .map_err(Error::FileRules)?;
        for folder in folders {
            let opened = PathFd::new(folder).map_err(|source| Error::Folder {
                folder: folder.clone(),
                source,
            })?;
            // Not executable: that is for programs. Modules written in C are loaded before this.
            let reading = AccessFs::ReadFile | AccessFs::ReadDir;
            rules = rules
                .add_rule(PathBeneath::new(opened, reading))
                .map_err(Error::FileRules)?;
        }
        Ok(Self(rules))
    }

    /// Enforces the rules on this thread and all that it starts.
    pub fn enforce(self) -> Result<Files, Error> {
        let status = self.0.restrict_self().map_err(Error::FileRules)?;
        Ok(in_force(&status))
    }
}

fn in_force(status: &RestrictionStatus) -> Files {
    let abi = match status.landlock {
        LandlockStatus::Available { effective_abi, .. } => Some(effective_abi as u32),
        LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => None,
    };
    let since =
        |version| status.ruleset != RulesetStatus::NotEnforced && abi >= Some(version as u32);
    Files {
        abi,
        files: since(ABI::V1),
        network: since(ABI::V4),
        signals: since(ABI::V6),
        no_new_privileges: status.no_new_privs,
    }
}
