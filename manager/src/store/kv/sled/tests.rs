use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

use super::super::KvError;
use super::tip::Tip;
use super::*;
use crate::testing::copied;

const PATIENCE: Duration = Duration::from_secs(10);

/// Opens a store that was closed. The programs that other tests start hold the lock of its files, as copies of this
/// process, until they begin.
#[expect(clippy::disallowed_methods, reason = "another process takes a moment")]
fn open(folder: &Path, accept: Option<&str>) -> Result<SledKv, KvError> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match SledKv::open(folder, accept) {
            Err(KvError::InUse { .. }) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(5));
            }
            outcome => return outcome,
        }
    }
}

fn put(entries: impl IntoIterator<Item = (Key, Bytes)>) -> Commit {
    Commit {
        put: entries.into_iter().collect(),
        ..Commit::default()
    }
}

/// Commits that are so large that sled keeps some in its log, some beside it, and fills several segments.
async fn filled(kv: &SledKv) {
    for n in 0..50u8 {
        let large = Bytes::from(vec![n; 64 * 1024]);
        let small = Bytes::from_static(b"small");
        kv.commit(put([(vec![n], large), (vec![n, n], small)]))
            .await
            .unwrap();
    }
}

async fn all(kv: &dyn Kv) -> Result<Vec<(Key, Bytes)>, KvError> {
    kv.scan(Scan {
        limit: usize::MAX,
        ..Scan::default()
    })
    .await
}

#[tokio::test]
async fn a_second_manager_on_the_same_store_is_told_so() {
    let folder = tempfile::tempdir().unwrap();
    let _first = SledKv::open(folder.path(), None).unwrap();
    let error = SledKv::open(folder.path(), None).unwrap_err();
    assert!(matches!(&error, KvError::InUse { .. }), "{error}");
}

#[tokio::test]
async fn a_path_that_is_no_folder_is_refused_by_name() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let error = open(file.path(), None).unwrap_err().to_string();
    assert!(error.contains(&*file.path().to_string_lossy()), "{error}");
}

/// The folder is copied while the store is open, as a crash would leave it: nothing was closed in order.
#[tokio::test]
async fn what_is_committed_is_there_after_a_crash() {
    let folder = tempfile::tempdir().unwrap();
    let kv = open(folder.path(), None).unwrap();
    filled(&kv).await;
    let crashed = tempfile::tempdir().unwrap();
    copied(folder.path(), crashed.path());
    let recovered = open(crashed.path(), None).unwrap();
    assert_eq!(all(&recovered).await, all(&kv).await);
}

#[tokio::test]
async fn a_store_that_lost_what_was_acknowledged_is_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    let kv = open(folder.path(), None).unwrap();
    filled(&kv).await;
    let crashed = tempfile::tempdir().unwrap();
    copied(folder.path(), crashed.path());
    kv.commit(put([(b"one more".to_vec(), Bytes::new())]))
        .await
        .unwrap();
    std::fs::copy(
        folder.path().join("acknowledged"),
        crashed.path().join("acknowledged"),
    )
    .unwrap();
    let error = open(crashed.path(), None).unwrap_err();
    assert!(matches!(&error, KvError::Damaged { .. }), "{error}");
    assert!(error.to_string().contains("restore a backup"), "{error}");
}

#[tokio::test]
async fn a_full_disk_refuses_commits_by_name_keeps_what_was_acknowledged_and_takes_them_again() {
    let folder = tempfile::tempdir().unwrap();
    let kv = open(folder.path(), None).unwrap();
    filled(&kv).await;
    let before = all(&kv).await;
    drop(kv);
    let full = SledKv::open_keeping(folder.path(), None, u64::MAX).unwrap();
    let error = full
        .commit(put([(b"k".to_vec(), Bytes::new())]))
        .await
        .unwrap_err();
    assert!(matches!(&error, KvError::Full { .. }), "{error}");
    assert_eq!(all(&full).await, before);
    drop(full);
    let roomy = open(folder.path(), None).unwrap();
    roomy
        .commit(put([(b"k".to_vec(), Bytes::new())]))
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_stays_as_the_store_was_in_both_directions() {
    let folder = tempfile::tempdir().unwrap();
    let kv = open(folder.path(), None).unwrap();
    filled(&kv).await;
    let before = all(&kv).await.unwrap();
    let snapshot = kv.snapshot().await.unwrap();
    let mut change = put([
        (vec![0, 7], Bytes::from_static(b"new")),
        (vec![3], Bytes::from_static(b"changed")),
    ]);
    change.delete = vec![vec![4], vec![49, 49]];
    change.add = vec![(b"count".to_vec(), 3)];
    kv.commit(change).await.unwrap();
    assert_ne!(all(&kv).await.unwrap(), before);
    assert_eq!(all(&*snapshot).await.unwrap(), before);
    assert_eq!(snapshot.get(&[0, 7]).await, Ok(None));
    assert_eq!(snapshot.get(&[4]).await.unwrap().unwrap().len(), 64 * 1024);
    let mut backwards = Vec::new();
    while let Some((key, value)) = snapshot
        .scan(Scan {
            after: backwards.last().map(|(key, _): &(Key, Bytes)| key.clone()),
            limit: 1,
            order: Order::Descending,
            ..Scan::default()
        })
        .await
        .unwrap()
        .pop()
    {
        backwards.push((key, value));
    }
    backwards.reverse();
    assert_eq!(backwards, before);
}

#[tokio::test]
async fn a_store_that_takes_no_commits_says_so_before_anybody_commits() {
    let folder = tempfile::tempdir().unwrap();
    let kv = open(folder.path(), None).unwrap();
    assert_eq!(kv.accepts().await, Ok(()));
    drop(kv);
    let full = SledKv::open_keeping(folder.path(), None, u64::MAX).unwrap();
    let error = full.accepts().await.unwrap_err();
    assert!(matches!(&error, KvError::Full { .. }), "{error}");
}

/// A store as a manager of before there were sums left it: the file has a number only, and the log's tip no store.
#[tokio::test]
async fn the_store_of_an_earlier_manager_is_opened_and_guarded_from_then_on() {
    let folder = tempfile::tempdir().unwrap();
    let kv = open(folder.path(), None).unwrap();
    filled(&kv).await;
    let before = all(&kv).await;
    let tip = Tip::read(&kv.data.db).unwrap().unwrap();
    kv.data.db.insert(tip::KEY, &tip.encoded()[..16]).unwrap();
    drop(kv);
    let file = folder.path().join(acknowledged::NAME);
    std::fs::write(&file, format!("{:020}\n", tip.commits)).unwrap();
    let kv = open(folder.path(), None).unwrap();
    assert_eq!(all(&kv).await, before);
    drop(kv);
    std::fs::remove_file(&file).unwrap();
    let error = open(folder.path(), None).unwrap_err().to_string();
    assert!(error.contains(&*file.to_string_lossy()), "{error}");
    assert!(error.contains("it is missing"), "{error}");
}

#[tokio::test]
async fn a_file_of_another_store_is_none_of_this_one() {
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    for folder in &folders {
        filled(&open(folder.path(), None).unwrap()).await;
    }
    let [one, other] = folders
        .each_ref()
        .map(|folder| folder.path().join(acknowledged::NAME));
    std::fs::copy(one, &other).unwrap();
    let error = open(folders[1].path(), None).unwrap_err().to_string();
    assert!(error.contains("another store"), "{error}");
}

/// Each byte of the files, one after the other, would take hours: these are spread over all of them.
#[tokio::test]
async fn damage_anywhere_is_told_or_harmless_and_never_a_silent_loss() {
    let images = images();
    for part in 0..80 {
        let damaged = tempfile::tempdir().unwrap();
        copied(images.folders[part % 2].path(), damaged.path());
        damage(&damaged.path().join(LOG), part / 2, 40);
        if let Ok(found) = served(damaged.path(), None).await {
            assert!(found == images.before, "damage {part} of 80");
        }
    }
}

#[tokio::test]
async fn a_store_that_lost_its_record_is_not_served_whatever_its_log_holds() {
    let images = images();
    for part in 0..20 {
        let damaged = tempfile::tempdir().unwrap();
        copied(images.folders[part % 2].path(), damaged.path());
        damage(&damaged.path().join(LOG), part, 20);
        let record = damaged.path().join(acknowledged::NAME);
        match part % 3 {
            0 => std::fs::remove_file(record).unwrap(),
            1 => std::fs::write(record, "").unwrap(),
            _ => std::fs::write(record, "garbled").unwrap(),
        }
        let error = served(damaged.path(), None).await.unwrap_err().to_string();
        assert!(
            error.contains(&*damaged.path().to_string_lossy()),
            "{error}"
        );
        assert!(error.contains("restore a backup"), "{error}");
    }
}

#[tokio::test]
async fn a_loss_is_accepted_by_its_own_token_and_only_once() {
    let images = images();
    let folder = tempfile::tempdir().unwrap();
    copied(images.folders[1].path(), folder.path());
    let record = folder.path().join(acknowledged::NAME);
    std::fs::remove_file(&record).unwrap();
    let refused = |error| match error {
        KvError::Damaged {
            accept: Some(token),
            ..
        } => token,
        error => panic!("no loss that can be accepted: {error}"),
    };
    let token = refused(served(folder.path(), None).await.unwrap_err());
    let other = served(folder.path(), Some("loss-0")).await.unwrap_err();
    assert_eq!(refused(other), token);
    let left = served(folder.path(), Some(&token)).await.unwrap();
    assert!(left == images.before);
    let kv = open(folder.path(), None).unwrap();
    kv.commit(put([(b"more".to_vec(), Bytes::new())]))
        .await
        .unwrap();
    drop(kv);
    std::fs::remove_file(&record).unwrap();
    let again = served(folder.path(), Some(&token)).await.unwrap_err();
    assert_ne!(refused(again), token);
}

/// Flips 16 bytes in one part of a file.
fn damage(path: &Path, part: usize, parts: usize) {
    let mut bytes = std::fs::read(path).unwrap();
    let at = bytes.len() * part / parts + 40;
    for byte in bytes.iter_mut().skip(at).take(16) {
        *byte ^= 0xff;
    }
    std::fs::write(path, bytes).unwrap();
}

/// What can happen to the files of a store. Places and files are shares of what is there.
#[derive(Debug, Clone)]
enum Damage {
    Remove(usize),
    Truncate(usize, f64),
    Garble(usize, f64, Vec<u8>),
    Duplicate(usize, usize),
    Swap(usize, usize),
}

impl Damage {
    fn any() -> impl Strategy<Value = Self> {
        let file = || 0..8usize;
        let bytes = || prop::collection::vec(1..=255u8, 1..32);
        prop_oneof![
            file().prop_map(Self::Remove),
            (file(), 0.0..1.0).prop_map(|(file, at)| Self::Truncate(file, at)),
            (file(), 0.0..1.0, bytes()).prop_map(|(file, at, by)| Self::Garble(file, at, by)),
            // The log is most of it.
            (0.0..1.0, bytes()).prop_map(|(at, by)| Self::Garble(usize::MAX, at, by)),
            (file(), file()).prop_map(|(from, to)| Self::Duplicate(from, to)),
            (file(), file()).prop_map(|(one, other)| Self::Swap(one, other)),
        ]
    }

    fn happen(&self, folder: &Path) {
        let files = files(folder);
        let file = |number: usize| match number {
            usize::MAX => folder.join(LOG),
            number => files[number % files.len()].clone(),
        };
        // What an earlier damage has removed stays away.
        let read = |path: &Path| std::fs::read(path).unwrap_or_default();
        let place = |bytes: &[u8], at: f64| (bytes.len() as f64 * at) as usize;
        match self {
            Self::Remove(number) => std::fs::remove_file(file(*number)).unwrap(),
            Self::Truncate(number, at) => {
                let bytes = read(&file(*number));
                std::fs::write(file(*number), &bytes[..place(&bytes, *at)]).unwrap();
            }
            Self::Garble(number, at, by) => {
                let mut bytes = read(&file(*number));
                let at = place(&bytes, *at);
                for (byte, by) in bytes.iter_mut().skip(at).zip(by) {
                    *byte ^= by;
                }
                std::fs::write(file(*number), bytes).unwrap();
            }
            Self::Duplicate(from, to) => {
                let bytes = read(&file(*from));
                std::fs::write(file(*to), bytes).unwrap();
            }
            Self::Swap(one, other) => {
                let bytes = [*one, *other].map(|number| read(&file(number)));
                std::fs::write(file(*one), &bytes[1]).unwrap();
                std::fs::write(file(*other), &bytes[0]).unwrap();
            }
        }
    }
}

/// Every file of a folder, in the order of their names.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        match entry.file_type().unwrap().is_dir() {
            true => found.extend(files(&entry.path())),
            false => found.push(entry.path()),
        }
    }
    found.sort();
    found
}

/// What a store held, and its folder as a crash leaves it, and as a stop does.
struct Images {
    before: Vec<(Key, Bytes)>,
    folders: [tempfile::TempDir; 2],
}

fn images() -> &'static Images {
    static IMAGES: OnceLock<Images> = OnceLock::new();
    // Tests that are tasks themselves cannot wait for other tasks on their own thread.
    IMAGES.get_or_init(|| std::thread::spawn(made).join().unwrap())
}

fn made() -> Images {
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let store = tempfile::tempdir().unwrap();
    let before = run(async {
        // Opened again, as a store is: sled then has a snapshot of its log beside it.
        drop(open(store.path(), None).unwrap());
        let kv = open(store.path(), None).unwrap();
        for n in 0..12u8 {
            let large = Bytes::from(vec![n; 36 * 1024]);
            let small = (0..40).map(|m| (vec![n, m], Bytes::from(vec![m; 90])));
            kv.commit(put(small.chain([(vec![n], large)])))
                .await
                .unwrap();
        }
        copied(store.path(), folders[0].path());
        all(&kv).await.unwrap()
    });
    drop(open(store.path(), None).unwrap());
    copied(store.path(), folders[1].path());
    Images { before, folders }
}

fn run<T>(future: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().unwrap();
    runtime.block_on(future)
}

/// All that a store holds, if it is served.
async fn served(folder: &Path, accept: Option<&str>) -> Result<Vec<(Key, Bytes)>, KvError> {
    let kv = open(folder, accept)?;
    kv.check(Pace::Fast).await?;
    all(&kv).await
}

/// On some combinations of damage, sled 0.34 corrupts the memory of its process. The process then ends by a signal, so
/// nothing is served. Cases run in processes of their own, a few in each, so that the others still run.
#[test]
#[expect(clippy::disallowed_methods, reason = "a test has no flags of its own")]
fn damage_of_any_kind_is_refused_with_the_file_and_what_to_do_or_nothing_is_lost() {
    if let Ok(seed) = std::env::var(SEED) {
        return cases(seed.parse().unwrap());
    }
    for seed in 0..PROCESSES {
        let mut process = Command::new(std::env::current_exe().unwrap());
        let cases = process.env(SEED, seed.to_string()).args([CASES, "--exact"]);
        let Output { status, stdout, .. } = cases.output().unwrap();
        let said = String::from_utf8_lossy(&stdout);
        println!("{SEED}={seed}: {status}");
        assert!(status.success() || status.signal().is_some(), "{said}");
        assert!(!status.success() || said.contains("1 passed"), "{said}");
    }
}

const SEED: &str = "DM_DAMAGE_SEED";
const CASES: &str = "store::kv::sled::tests::damage_of_any_kind_is_refused_with_the_file_and_what_to_do_or_nothing_is_lost";
const PROCESSES: u64 = 8;
const CASES_OF_A_PROCESS: u32 = 8;

fn cases(seed: u64) {
    let config = ProptestConfig {
        cases: CASES_OF_A_PROCESS,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let seed = [seed.to_be_bytes(); 4].concat();
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let damages = (0..2usize, prop::collection::vec(Damage::any(), 1..4));
    let outcome = TestRunner::new_with_rng(config, random).run(&damages, |(image, damages)| {
        let images = images();
        let folder = tempfile::tempdir().unwrap();
        copied(images.folders[image].path(), folder.path());
        for damage in &damages {
            damage.happen(folder.path());
        }
        run(judge(folder.path(), &images.before))
    });
    outcome.unwrap();
}

/// A store that was damaged holds all that it held, or is refused until each loss is accepted.
async fn judge(folder: &Path, before: &[(Key, Bytes)]) -> Result<(), TestCaseError> {
    let mut error = match served(folder, None).await {
        Ok(found) => {
            prop_assert!(found == before, "served with losses");
            return Ok(());
        }
        Err(error) => error,
    };
    // A loss may hide another one.
    for _ in 0..3 {
        let text = error.to_string();
        prop_assert!(text.contains(&*folder.to_string_lossy()), "{}", text);
        prop_assert!(
            text.contains("restore a backup into a new store"),
            "{}",
            text
        );
        let KvError::Damaged {
            accept: Some(token),
            ..
        } = error
        else {
            return Ok(());
        };
        prop_assert!(text.contains(&format!("--accept-loss {token}")), "{}", text);
        prop_assert!(served(folder, Some("another")).await.is_err());
        match served(folder, Some(&token)).await {
            Ok(left) => {
                prop_assert_eq!(served(folder, None).await, Ok(left));
                return Ok(());
            }
            Err(next) => error = next,
        }
    }
    prop_assert!(false, "accepted, and still refused: {}", error);
    Ok(())
}
