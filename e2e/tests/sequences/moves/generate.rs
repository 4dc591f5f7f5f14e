//! Random sequences: every choice follows from one random number.

use fastrand::Rng;

use super::{Act, ClusterAct, Drift, Fault, Move, Program, Rights, STEPS, Then, Verb, What, Write};
use crate::model::configuration::Template;
use crate::model::options::Fingerprint;
use crate::model::{Configuration, Item, Kind, ObjectId, Options, Pace, Policies};

/// Deployments of one sequence.
const DEPLOYMENTS: usize = 2;
/// Objects of one kind that a deployment may ask for.
const NUMBERS: u8 = 3;
const VALUES: u32 = 50;

/// Words of an admission policy that sound like the API server's own about immutable fields.
const WORDS: [&str; 3] = [
    "updates to this object are not allowed",
    "field is immutable",
    "no",
];

/// A sequence of so many moves, with a quiet point at its end.
pub fn sequence(seed: u64, length: usize) -> Vec<Move> {
    let mut generator = Generator {
        rng: Rng::with_seed(seed),
        used: Vec::new(),
    };
    let mut moves: Vec<_> = (0..DEPLOYMENTS)
        .map(|deployment| Move::from(generator.first(deployment)))
        .collect();
    moves.extend((0..length).map(|_| generator.next()));
    moves.push(Move::Quiet);
    moves
}

struct Generator {
    rng: Rng,
    /// Objects of earlier configurations: interference is mostly with them.
    used: Vec<ObjectId>,
}

impl Generator {
    fn first(&mut self, deployment: usize) -> Write {
        let configuration = self.configuration(deployment);
        let drift = match self.one_in(4) {
            true => Drift::Correct,
            false => Drift::Report,
        };
        let options = Options {
            in_account: self.one_in(2),
            ..Options::default()
        };
        Write::new(deployment, What::Create(configuration, drift)).with(options)
    }

    fn next(&mut self) -> Move {
        match self.rng.u32(0..100) {
            0..50 => Move::from(self.write()),
            50..76 => Move::Interfere(self.object(), self.act()),
            76..84 => Move::Cluster(self.cluster_act()),
            84..87 => Move::Fault(self.fault()),
            87..90 => Move::Pause(self.rng.u64(0..1500)),
            90..92 => Move::Stop(self.deployment()),
            92..94 => Move::Repeat(self.rng.usize(0..8)),
            _ => Move::Quiet,
        }
    }

    fn write(&mut self) -> Write {
        let deployment = self.deployment();
        let what = match self.rng.u32(0..100) {
            0..45 => What::Update(self.configuration(deployment)),
            45..60 => {
                return self
                    .first(deployment)
                    .then(self.then())
                    .with(self.options());
            }
            60..72 => What::Delete,
            72..79 => What::Rollback(self.rng.usize(0..4)),
            79..82 => What::Upgrade(self.version()),
            82..90 => What::Preview(self.configuration(deployment)),
            90..95 => What::Commit,
            95..97 => What::DropPreview,
            _ => What::Expand(self.configuration(deployment)),
        };
        Write::new(deployment, what)
            .then(self.then())
            .with(self.options())
    }

    fn then(&mut self) -> Then {
        match self.rng.u32(0..10) {
            0..5 => Then::Wait,
            5..7 => Then::GoOn,
            7..9 => Then::StopAfter(self.rng.u64(0..1200)),
            _ => Then::StopAt(STEPS[self.rng.usize(0..STEPS.len())]),
        }
    }

    fn options(&mut self) -> Options {
        Options {
            policies: match self.one_in(3) {
                true => self.policies(),
                false => Policies::default(),
            },
            timeout_ms: self
                .one_in(4)
                .then(|| [50, 1000, 3000, 20_000][self.rng.usize(0..4)]),
            allow_deletes: !self.one_in(4),
            rollback_on_failure: self.one_in(4),
            fingerprint: match self.rng.u32(0..10) {
                0 => Fingerprint::Stale,
                1..3 => Fingerprint::Present,
                _ => Fingerprint::None,
            },
            keyed: self.one_in(3),
            synchronous: self.one_in(4),
            in_account: self.one_in(2),
        }
    }

    fn policies(&mut self) -> Policies {
        Policies {
            create: self.maybe(&Policies::CREATE),
            update: self.maybe(&Policies::UPDATE),
            delete: self.maybe(&Policies::DELETE),
            conflict: self.maybe(&Policies::CONFLICT),
        }
    }

    fn maybe(&mut self, choices: &[&'static str]) -> Option<&'static str> {
        self.one_in(3)
            .then(|| choices[self.rng.usize(0..choices.len())])
    }

    fn configuration(&mut self, deployment: usize) -> Configuration {
        let mut items: Vec<Item> = Vec::new();
        for _ in 0..self.rng.usize(1..6) {
            let object = self.fresh_object(deployment);
            if items.iter().any(|item| item.object == object) {
                continue;
            }
            self.used.push(object);
            items.push(self.item(object));
        }
        Configuration {
            items,
            template: match self.rng.u32(0..6) {
                0 => Template::Import,
                1..3 => Template::Version(self.version()),
                _ => Template::None,
            },
        }
    }

    fn item(&mut self, object: ObjectId) -> Item {
        Item {
            object,
            value: self.rng.u32(0..VALUES),
            pace: match self.rng.u32(0..10) {
                0..4 => Pace::Well,
                4..9 => Pace::Slow(self.rng.u64(200..2500)),
                _ => Pace::Never,
            },
            after: self.one_in(2),
            refers: object.kind == Kind::Map && self.one_in(4),
            policies: match self.one_in(4) {
                true => self.policies(),
                false => Policies::default(),
            },
        }
    }

    fn version(&mut self) -> u8 {
        Template::VERSIONS[self.rng.usize(0..Template::VERSIONS.len())]
    }

    fn fresh_object(&mut self, deployment: usize) -> ObjectId {
        let kind = self.kind();
        ObjectId {
            owner: (!self.one_in(4)).then_some(deployment),
            kind,
            number: self.rng.u8(0..NUMBERS),
            second: self.one_in(8) && !kind.is_cluster_wide(),
        }
    }

    /// ConfigMaps mostly: they are cheap.
    fn kind(&mut self) -> Kind {
        match self.one_in(2) {
            true => Kind::Map,
            false => Kind::ALL[self.rng.usize(0..Kind::ALL.len())],
        }
    }

    fn object(&mut self) -> ObjectId {
        match self.used.is_empty() {
            true => ObjectId::shared(Kind::Map, 0),
            false => self.used[self.rng.usize(0..self.used.len())],
        }
    }

    fn act(&mut self) -> Act {
        let value = self.rng.u32(0..VALUES);
        match self.rng.u32(0..12) {
            0..2 => Act::Make(value),
            2..4 => Act::Delete,
            4..6 => Act::Recreate(value),
            6 => Act::Edit(value),
            7 => Act::Annotate,
            8 => Act::Unlabel,
            9 => Act::Copy(value, self.deployment()),
            10 => Act::Scale(self.rng.u8(0..4)),
            _ => Act::Hold,
        }
    }

    fn cluster_act(&mut self) -> ClusterAct {
        match self.rng.u32(0..14) {
            0..4 => ClusterAct::Refuse(
                Verb::ALL[self.rng.usize(0..Verb::ALL.len())],
                WORDS[self.rng.usize(0..WORDS.len())],
            ),
            4..6 => ClusterAct::Quota(self.rng.u8(1..5)),
            6 => ClusterAct::DropNamespace,
            7 => ClusterAct::DropDefinition,
            8..12 => ClusterAct::Grant(Rights::FEWER[self.rng.usize(0..Rights::FEWER.len())]),
            _ => ClusterAct::Freeze(self.rng.u64(200..3000)),
        }
    }

    fn fault(&mut self) -> Fault {
        let program = Program::ALL[self.rng.usize(0..Program::ALL.len())];
        match self.rng.u32(0..10) {
            0..6 => Fault::Kill(program),
            6..8 => Fault::Terminate(program),
            _ => Fault::KillKubectl,
        }
    }

    fn deployment(&mut self) -> usize {
        self.rng.usize(0..DEPLOYMENTS)
    }

    fn one_in(&mut self, of: u32) -> bool {
        self.rng.u32(0..of) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_sequence_each_time_and_another_seed_another() {
        assert_eq!(sequence(1, 40), sequence(1, 40));
        assert_ne!(sequence(1, 40), sequence(2, 40));
    }

    #[test]
    fn every_kind_of_move_is_generated() {
        let moves: Vec<_> = (0..200).flat_map(|seed| sequence(seed, 20)).collect();
        let text = format!("{moves:?}");
        let words = [
            "Create(",
            "Update(",
            "Preview(",
            "Commit",
            "DropPreview",
            "Rollback(",
            "Delete",
            "Expand(",
            "Wait",
            "GoOn",
            "StopAfter(",
            "StopAt(",
            "Stop(",
            "Repeat(",
            "Make(",
            "Recreate(",
            "Edit(",
            "Annotate",
            "Unlabel",
            "Copy(",
            "Scale(",
            "Upgrade(",
            "Import",
            "Version(",
            "Space",
            "Definition",
            "Hold",
            "Refuse(",
            "Quota(",
            "DropNamespace",
            "DropDefinition",
            "Freeze(",
            "Grant(NoDeletes)",
            "Grant(ReadOnly)",
            "Grant(Nothing)",
            "in_account: true",
            "Kill(",
            "Terminate(",
            "KillKubectl",
            "Pause(",
            "Quiet",
            "Correct",
            "Stale",
            "Present",
            "Never",
            "Slow(",
        ];
        for word in words {
            assert!(text.contains(word), "{word} is never generated");
        }
        for word in Policies::CREATE
            .iter()
            .chain(&Policies::UPDATE)
            .chain(&Policies::DELETE)
            .chain(&Policies::CONFLICT)
        {
            assert!(
                text.contains(&format!("{word:?}")),
                "{word} is never generated"
            );
        }
    }
}
