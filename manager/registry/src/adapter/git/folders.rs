//! The folders of repositories in the cache: their sizes, and which is removed when they are too large together.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::HEAD;

/// Bytes of all files below a folder. Unreadable files count as zero.
pub async fn size(folder: PathBuf) -> u64 {
    let counted = tokio::task::spawn_blocking(move || size_now(&folder)).await;
    counted.unwrap_or_default()
}

/// Removes the folders that were fetched longest ago, but not `keep`, until all together have at most `limit` bytes. A
/// folder that is removed during its use is fetched again.
pub async fn make_room(keep: PathBuf, limit: u64) {
    let removed = tokio::task::spawn_blocking(move || make_room_now(&keep, limit));
    // It is tried again after the next fetch.
    let _ = removed.await;
}

fn make_room_now(keep: &Path, limit: u64) {
    let Some(parent) = keep.parent() else {
        return;
    };
    let mut others: Vec<(SystemTime, PathBuf)> = Vec::new();
    for entry in parent.read_dir().into_iter().flatten().flatten() {
        let path = entry.path();
        let fetched = path.join(HEAD).metadata().and_then(|head| head.modified());
        // A folder without it is in its first fetch.
        if let Ok(fetched) = fetched
            && path != keep
        {
            others.push((fetched, path));
        }
    }
    others.sort_unstable();
    let mut used = size_now(parent);
    for (_, path) in others {
        if used <= limit {
            return;
        }
        used = used.saturating_sub(size_now(&path));
        if let Err(error) = std::fs::remove_dir_all(&path) {
            tracing::warn!(%error, "{} cannot be removed: {error}", path.display());
        }
    }
}

fn size_now(folder: &Path) -> u64 {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => size_now(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    });
    sizes.sum()
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_was_fetched_longest_ago_goes_first_and_never_what_was_fetched_now() {
        let cache = tempfile::tempdir().unwrap();
        let place = |name: &str| cache.path().join(name);
        for (name, age) in [("oldest", 30), ("older", 20), ("now", 40), ("begun", 50)] {
            let head = place(name).join(HEAD);
            std::fs::create_dir_all(head.parent().unwrap()).unwrap();
            std::fs::write(&head, vec![b'x'; 100]).unwrap();
            let time = SystemTime::now() - Duration::from_secs(age);
            File::open(&head).unwrap().set_modified(time).unwrap();
        }
        std::fs::rename(place("begun").join(HEAD), place("begun").join("pack")).unwrap();
        make_room_now(&place("now"), 300);
        assert!(!place("oldest").exists() && place("older").exists());
        make_room_now(&place("now"), 0);
        assert!(place("now").exists() && place("begun").exists() && !place("older").exists());
    }
}
