//! Reads and commits that overlap in any way, beside a store that does one thing after the other.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// Reads, and commits, that are under way at once.
const AT_ONCE: usize = 3;

/// What happens next. Numbers name one of those that are under way.
#[derive(Debug, Clone)]
enum Step {
    Ask {
        read: usize,
        keys: Vec<Key>,
    },
    Answer {
        read: usize,
    },
    Begin {
        commit: usize,
        changes: Commit,
    },
    Happen {
        commit: usize,
    },
    /// The manager learns that it has happened, or that it was refused.
    End {
        commit: usize,
    },
    Look {
        keys: Vec<Key>,
    },
}

fn key() -> impl Strategy<Value = Key> {
    prop_oneof!["a", "ab", "b"].prop_map(String::into_bytes)
}

fn keys() -> impl Strategy<Value = Vec<Key>> {
    proptest::collection::vec(key(), 1..4)
}

prop_compose! {
    fn changes()(
        put in proptest::collection::vec((key(), "[0-9]{1,9}"), 0..3),
        delete in proptest::collection::vec(key(), 0..2),
        delete_prefix in proptest::collection::vec(key(), 0..2),
    ) -> Commit {
        let put = put.into_iter().map(|(key, value)| (key, Bytes::from(value))).collect();
        Commit { put, delete, delete_prefix, ..Commit::default() }
    }
}

fn step() -> impl Strategy<Value = Step> {
    let number = 0..AT_ONCE;
    prop_oneof![
        (number.clone(), keys()).prop_map(|(read, keys)| Step::Ask { read, keys }),
        number.clone().prop_map(|read| Step::Answer { read }),
        (number.clone(), changes()).prop_map(|(commit, changes)| Step::Begin { commit, changes }),
        number.clone().prop_map(|commit| Step::Happen { commit }),
        number.prop_map(|commit| Step::End { commit }),
        keys().prop_map(|keys| Step::Look { keys }),
    ]
}

/// The store as etcd has it.
#[derive(Debug, Default)]
struct Etcd {
    entries: BTreeMap<Key, Entry>,
    revision: i64,
}

impl Etcd {
    fn read(&self, keys: &[Key]) -> Vec<Option<Entry>> {
        let each = keys.iter().map(|key| self.entries.get(key).cloned());
        each.collect()
    }

    fn make(&mut self, commit: &Commit) -> Number {
        self.revision += 1;
        let at = Number(self.revision);
        let is_gone = |key: &Key| {
            let mut prefixes = commit.delete_prefix.iter();
            prefixes.any(|prefix| key.starts_with(prefix))
        };
        self.entries.retain(|key, _| !is_gone(key));
        for (key, value) in commit.writes() {
            match value {
                Some(value) => self.entries.insert(key.to_vec(), entry(value.clone(), at)),
                None => self.entries.remove(key),
            };
        }
        at
    }
}

/// A commit that is under way, and the revision at which it has happened.
struct Sent<'a> {
    commit: Commit,
    changing: Changing<'a>,
    at: Option<Number>,
}

type Asked = (Vec<Key>, Vec<Option<Entry>>, Number);

fn follow(steps: Vec<Step>, bytes: usize) -> Result<(), TestCaseError> {
    let (cache, mut etcd) = (Cache::new(bytes), Etcd::default());
    let mut reads: [Option<Asked>; AT_ONCE] = Default::default();
    let mut commits: [Option<Sent<'_>>; AT_ONCE] = Default::default();
    for step in steps {
        match step {
            Step::Ask { read, keys } => {
                let entries = etcd.read(&keys);
                reads[read] = Some((keys, entries, Number(etcd.revision)));
            }
            Step::Answer { read } => {
                if let Some((keys, entries, at)) = reads[read].take() {
                    cache.keep(&keys, &entries, at);
                }
            }
            Step::Begin { commit, changes } if commits[commit].is_none() => {
                commits[commit] = Some(Sent {
                    changing: cache.change(&changes),
                    commit: changes,
                    at: None,
                });
            }
            Step::Happen { commit } => {
                if let Some(sent) = &mut commits[commit]
                    && sent.at.is_none()
                {
                    sent.at = Some(etcd.make(&sent.commit));
                }
            }
            Step::End { commit } => {
                if let Some(Sent {
                    commit,
                    changing,
                    at: Some(at),
                }) = commits[commit].take()
                {
                    changing.done(at, &commit.writes());
                }
            }
            Step::Begin { .. } => {}
            Step::Look { keys } => {
                if let Some(known) = cache.look(&keys) {
                    prop_assert_eq!(known, etcd.read(&keys));
                }
            }
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn what_is_known_is_what_etcd_has(
        steps in proptest::collection::vec(step(), 1..60),
        // Few entries, or all of them.
        bytes in prop_oneof![Just(600), Just(BYTES)],
    ) {
        follow(steps, bytes)?;
    }
}

/// A commit and its read, with nothing between them.
#[test]
fn what_was_written_is_known_without_a_question() {
    let cache = Cache::new(BYTES);
    let commit = Commit {
        put: vec![(b"a".to_vec(), Bytes::from("1"))],
        delete: vec![b"b".to_vec()],
        ..Commit::default()
    };
    let changing = cache.change(&commit);
    assert_eq!(cache.look(&[b"a".to_vec()]), None);
    changing.done(Number(7), &commit.writes());
    let known = cache.look(&[b"a".to_vec(), b"b".to_vec()]).unwrap();
    assert_eq!(known, [Some(entry(Bytes::from("1"), Number(7))), None]);
    assert_eq!(cache.look(&[b"c".to_vec()]), None);
}
