//! The store is backed up, moved to another manager, and verified; its disk fills up; a file of it is damaged.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use e2e::Stack;
use e2e::stack::AUDIT_LOG;

use crate::configurations::maps;

#[tokio::test]
async fn a_backup_restored_into_a_new_store_gives_the_same_lists() -> Result<()> {
    let stack = Stack::start().await?;
    for name in ["one", "two"] {
        stack.write("own.yaml", &maps(&[name], "first"))?;
        stack.deploy(&["own.yaml", "--name", name]).await?;
    }
    let file = stack.folder().join("store.backup");
    let file = file.to_str().context("a path that is not text")?;
    stack.dm.ok(&["admin", "backup", file]).await?;
    let said = stack.dm.run(&["admin", "restore", file]).await?;
    assert_eq!(
        said.code, 4,
        "a store that is not empty is not filled: {said:?}"
    );

    let other = Stack::start().await?;
    let refused = other.dm.run(&["admin", "restore", file]).await?;
    assert!(refused.stderr.contains("sealed with key"), "{refused:?}");
    let keys = |of: &Stack| of.store().with_extension("key");
    let both = [keys(&other), keys(&stack)].map(std::fs::read_to_string);
    let [own, first] = both;
    std::fs::write(keys(&other), own? + &first?)?;
    other.dm.ok(&["admin", "restore", file]).await?;
    for list in [
        &["list"][..],
        &["operations"],
        &["deployed-types"],
        &["manifest", "one"],
    ] {
        assert_eq!(
            other.dm.json(list).await?,
            stack.dm.json(list).await?,
            "{list:?}"
        );
    }
    other.dm.ok(&["admin", "verify"]).await?;
    other.dm.ok(&["admin", "rotate"]).await?;
    let verified = other.dm.json(&["admin", "verify"]).await?;
    let keys = verified["keys"].as_object().map(serde_json::Map::len);
    assert_eq!(keys, Some(1), "{verified}");
    Ok(())
}

#[tokio::test]
async fn a_file_that_is_no_backup_is_refused_and_fills_nothing() -> Result<()> {
    let stack = Stack::start().await?;
    let file = stack.write("no.backup", "no backup\n")?;
    let file = file.to_str().context("a path that is not text")?;
    stack.dm.fails(1, &["admin", "restore", file]).await?;
    let list = stack.dm.json(&["list"]).await?;
    assert_eq!(list["items"], serde_json::json!([]));
    Ok(())
}

#[tokio::test]
async fn what_the_manager_keeps_can_be_read_by_its_user_alone() -> Result<()> {
    let stack = Stack::telling_all().await?;
    stack.write("own.yaml", &maps(&["own"], "first"))?;
    stack.deploy(&["own.yaml"]).await?;
    stack.dm.ok(&["admin", "rotate"]).await?;
    let mut all = below(&stack.store())?;
    all.extend([stack.store(), stack.store().with_extension("key")]);
    all.push(stack.folder().join(AUDIT_LOG));
    let mut open = Vec::new();
    for path in &all {
        let mode = path.metadata()?.permissions().mode();
        if mode & 0o077 != 0 {
            open.push(format!("{}: {mode:o}", path.display()));
        }
    }
    assert_eq!(open, Vec::<String>::new(), "of {}", all.len());
    Ok(())
}

/// Everything in a folder, also in those within it.
fn below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(below(&path)?);
        }
        found.push(path);
    }
    Ok(found)
}

/// More than the manager needs to begin with and keeps free, and less than that with [`FILLER_MIB`] on it.
const DISK_MIB: usize = 64;
const FILLER_MIB: usize = 36;

#[tokio::test]
async fn on_a_full_disk_writes_are_refused_until_there_is_room_and_nothing_is_lost() -> Result<()> {
    let stack = Stack::with_disk(DISK_MIB).await?;
    stack.write("own.yaml", &maps(&["own"], "first"))?;
    stack.deploy(&["own.yaml"]).await?;
    let filler = stack.manager.sees(&stack.store())?;
    let filler = filler.with_file_name("filler");
    std::fs::write(&filler, vec![0; FILLER_MIB * 1024 * 1024])?;
    stack.write("own.yaml", &maps(&["own"], "second"))?;
    let refused = stack.dm.fails(5, &["update", "own.yaml"]).await?;
    assert!(refused.contains("disk is full"), "{refused}");
    assert!(refused.contains("make room"), "{refused}");
    let list = stack.dm.ok(&["list"]).await?;
    assert!(list.contains("own"), "what is there is read: {list}");
    let http = common::client::http::builder().no_proxy().build()?;
    let ready = http.get(stack.manager.url() + "/readyz").send().await?;
    assert_eq!(ready.status(), 503);
    let ready = ready.text().await?;
    assert!(ready.contains("disk is full"), "{ready}");
    std::fs::remove_file(&filler)?;
    stack.dm.ok(&["update", "own.yaml"]).await?;
    stack.dm.ok(&["admin", "verify"]).await?;
    Ok(())
}

/// Turns every bit of a file's second half.
fn damage(file: &Path) -> Result<()> {
    let mut bytes = std::fs::read(file)?;
    let half = bytes.len() / 2;
    bytes.iter_mut().skip(half).for_each(|byte| *byte ^= 0xff);
    Ok(std::fs::write(file, bytes)?)
}

#[tokio::test]
async fn a_damaged_store_is_not_served_and_its_backup_is() -> Result<()> {
    let mut stack = Stack::start().await?;
    for name in ["one", "two"] {
        stack.write("own.yaml", &maps(&[name], "first"))?;
        stack.deploy(&["own.yaml", "--name", name]).await?;
    }
    let file = stack.folder().join("store.backup");
    let file = file.to_str().context("a path that is not text")?.to_owned();
    stack.dm.ok(&["admin", "backup", &file]).await?;
    let store = stack.store();
    stack.manager.stop().await?;
    damage(&store.join("db"))?;
    let refused = stack.manager.again().await;
    let refused = format!("{:#}", refused.err().context("it is served")?);
    assert!(refused.contains("restore a backup"), "{refused}");
    stack.manager.crash().ok();
    stack.dm.fails(5, &["list"]).await?;

    std::fs::rename(&store, store.with_extension("damaged"))?;
    stack.manager.again().await?;
    stack.ready().await?;
    stack.dm.ok(&["admin", "restore", &file]).await?;
    let list = stack.dm.json(&["list"]).await?;
    assert_eq!(list["items"].as_array().map(Vec::len), Some(2), "{list}");
    stack.write("own.yaml", &maps(&["one"], "second"))?;
    stack
        .dm
        .ok(&["update", "own.yaml", "--name", "one"])
        .await?;
    Ok(())
}
