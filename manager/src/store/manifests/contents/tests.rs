//! Contents that are stored once, and removed with their last use.

use std::sync::Arc;

use super::*;
use crate::store::kv::MemoryKv;

/// Text without repetition, as templates and their output are.
fn text(lines: std::ops::Range<usize>) -> String {
    lines
        .map(|n| format!("{n}: größe {}\n", n * 7919))
        .collect()
}

fn names() -> (DeploymentName, ManifestName) {
    ("web".parse().unwrap(), "m-1".parse().unwrap())
}

fn one_part(record: &impl Serialize) -> BTreeMap<String, Vec<Bytes>> {
    let pieces = part(record, &b"p".to_vec()).unwrap();
    BTreeMap::from([("layout".to_owned(), pieces)])
}

#[test]
fn pieces_are_text_of_bounded_size_and_make_up_the_whole() {
    for size in [0, 1, 1000, 10_000, 100_000] {
        let whole = Bytes::from(text(0..size));
        let pieces = cut(whole.clone());
        assert_eq!(pieces.concat(), whole);
        let (_, but_the_last) = pieces.split_last().unwrap_or((&whole, &[]));
        let bounds = LEAST_BYTES..=MOST_BYTES + 3;
        assert!(
            but_the_last
                .iter()
                .all(|piece| bounds.contains(&piece.len()))
        );
        assert!(
            pieces
                .iter()
                .all(|piece| std::str::from_utf8(piece).is_ok())
        );
    }
    let monotonous = Bytes::from(vec![b'x'; 10 * MOST_BYTES]);
    assert_eq!(cut(monotonous.clone()).concat(), monotonous);
}

#[test]
fn an_insertion_changes_only_the_pieces_around_it() {
    let (head, tail) = (text(0..50_000), text(50_000..100_000));
    let before: BTreeSet<_> = cut(Bytes::from(head.clone() + &tail)).into_iter().collect();
    let after = cut(Bytes::from(head + "a line more\n" + &tail));
    let new = after
        .iter()
        .filter(|piece| !before.contains(*piece))
        .count();
    assert!(
        (1..=3).contains(&new),
        "{new} of {} pieces are new",
        after.len()
    );
}

#[tokio::test]
async fn a_part_of_any_size_is_read_as_it_was_written_and_removed_whole() {
    let store = Store::open(Arc::new(MemoryKv::default())).await.unwrap();
    let (web, manifest) = names();
    for lines in [0, 1, 1000, 100_000, 1_000_000] {
        let text = text(0..lines);
        let mut changes = Changes::default();
        put(&store, &mut changes, &web, &manifest, one_part(&text))
            .await
            .unwrap();
        store.commit(changes).await.unwrap();
        let found: String = get(&store, &web, &manifest, "layout").await.unwrap();
        assert!(found == text, "{lines}");
        let mut changes = Changes::default();
        delete(&store, &mut changes, &web, &manifest).await.unwrap();
        store.commit(changes).await.unwrap();
        assert_eq!(store.all(keys::all_pieces_of(&web)).await.unwrap(), []);
        assert_eq!(lists(&store, &web, &manifest).await.unwrap(), None);
    }
}

#[tokio::test]
async fn what_manifests_share_is_kept_once_and_until_the_last_of_them_goes() {
    let store = Store::open(Arc::new(MemoryKv::default())).await.unwrap();
    let (web, first) = names();
    let second: ManifestName = "m-2".parse().unwrap();
    let count = async || store.all(keys::all_pieces_of(&web)).await.unwrap().len();
    let mut counts = Vec::new();
    for (manifest, lines) in [(&first, 100_000), (&second, 100_001)] {
        let mut changes = Changes::default();
        let parts = one_part(&text(0..lines));
        put(&store, &mut changes, &web, manifest, parts)
            .await
            .unwrap();
        store.commit(changes).await.unwrap();
        counts.push(count().await);
    }
    assert!(counts[1] - counts[0] <= 2, "{counts:?}");
    let mut changes = Changes::default();
    delete(&store, &mut changes, &web, &first).await.unwrap();
    store.commit(changes).await.unwrap();
    let left: String = get(&store, &web, &second, "layout").await.unwrap();
    assert!(left == text(0..100_001));
    assert!(count().await <= counts[0] + 1);
    let before = count().await;
    sweep(&store, &web).await.unwrap();
    assert_eq!(count().await, before);
}
