//! Key files, good and bad.

use super::*;

fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dm-data.key");
    (folder, path)
}

fn open(path: &Path) -> Ring {
    Ring::open(KeyPlace::File(path.to_owned()), true).unwrap()
}

#[test]
fn a_key_file_is_made_for_a_new_store_and_for_its_owner_only() {
    let (folder, path) = place();
    let missing = Ring::open(KeyPlace::File(path.clone()), true).unwrap_err();
    assert!(missing.to_string().contains("bring the key file back"));
    assert!(!path.exists(), "the store would be thought to have a key");
    let ring = Ring::open(KeyPlace::File(path.clone()), false).unwrap();
    let mode = path.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, OWNER_ONLY);
    assert_eq!(folder.path().read_dir().unwrap().count(), 1);
    assert_eq!(open(&path).newest().unwrap().id, ring.newest().unwrap().id);
}

#[test]
fn a_new_key_comes_first_and_the_old_ones_stay() {
    let (_folder, path) = place();
    let ring = Ring::open(KeyPlace::File(path.clone()), false).unwrap();
    let first = ring.newest().unwrap().id;
    let second = ring.renew().unwrap().id;
    let ids = |ring: &Ring| ring.keys().iter().map(|key| key.id).collect::<Vec<_>>();
    assert_eq!(ids(&ring), [second, first]);
    assert_eq!(ids(&open(&path)), [second, first]);
    assert!(ring.find(&first.0).is_some());
}

#[test]
fn a_key_that_somebody_put_into_the_file_is_the_new_one() {
    let (_folder, path) = place();
    let ring = Ring::open(KeyPlace::File(path.clone()), false).unwrap();
    let own = Key::random().unwrap();
    let old = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{}\n{old}", STANDARD.encode(own.bytes))).unwrap();
    assert_eq!(ring.renew().unwrap().id, own.id);
    assert_eq!(open(&path).keys().len(), 2);
}

#[test]
fn a_file_that_others_can_read_or_that_is_no_key_is_refused() {
    let (_folder, path) = place();
    std::fs::write(&path, STANDARD.encode([1; KEY_BYTES])).unwrap();
    let open = || Ring::open(KeyPlace::File(path.clone()), true).map(|_| ());
    let mode =
        |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    mode(0o644);
    assert!(matches!(open(), Err(KeyError::Readable { .. })));
    mode(0o440);
    assert!(open().is_ok());
    mode(0o600);
    std::fs::write(&path, "short").unwrap();
    assert!(matches!(open(), Err(KeyError::NoKey { .. })));
}

#[test]
fn a_key_is_not_shown_when_it_is_printed() {
    let key = Key::random().unwrap();
    assert!(!format!("{key:?}").contains(&STANDARD.encode(key.bytes)));
}
