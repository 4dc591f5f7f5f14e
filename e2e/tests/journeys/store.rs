//! The store is backed up, moved to another manager, and verified.

use anyhow::{Context, Result};
use e2e::Stack;

use crate::configurations::maps;

#[tokio::test]
async fn a_backup_restored_into_a_new_store_gives_the_same_lists() -> Result<()> {
    let stack = Stack::start().await?;
    for name in ["one", "two"] {
        stack.write("own.yaml", &maps(&[name], "first"))?;
        stack.deploy(&["own.yaml", "--name", name]).await?;
    }
    let file = stack.folder().join("store.backup");
    let file = file.to_str().context("a path that is no text")?;
    stack.dm.ok(&["admin", "backup", file]).await?;
    let said = stack.dm.run(&["admin", "restore", file]).await?;
    assert_eq!(
        said.code, 4,
        "a store that is not empty is not filled: {said:?}"
    );

    let other = Stack::start().await?;
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
    Ok(())
}

#[tokio::test]
async fn a_file_that_is_no_backup_is_refused_and_fills_nothing() -> Result<()> {
    let stack = Stack::start().await?;
    let file = stack.write("no.backup", "no backup\n")?;
    let file = file.to_str().context("a path that is no text")?;
    stack.dm.fails(1, &["admin", "restore", file]).await?;
    let list = stack.dm.json(&["list"]).await?;
    assert_eq!(list["items"], serde_json::json!([]));
    Ok(())
}
