//! Checks what is recorded of deployments' objects.

use common::model::DeploymentName;

use super::relations::belongs_to;
use super::{Range, Verifying};
use crate::store::deployments::recorded::{self, ObjectsRecord};
use crate::store::kv::Key;
use crate::store::{StoreError, keys, read};

impl Verifying {
    /// The list of a deployment's objects has all its pieces, and every piece belongs to a list.
    pub(super) async fn objects(&self) -> Result<(), StoreError> {
        let mut all = Range::of("objects", keys::prefix(&["objects"]));
        while let Some(page) = self.page::<ObjectsRecord>(&mut all).await? {
            let wanted = page
                .iter()
                .map(|(key, _)| belongs_to(key.clone(), keys::deployments()));
            self.hold_each(wanted.collect(), "there is no such deployment")
                .await?;
            for (key, record) in page {
                let name = keys::parts(&key).into_iter().nth(1).unwrap_or_default();
                // Reported as a deployment that does not exist.
                let Ok(name) = DeploymentName::parse(name) else {
                    continue;
                };
                if let Err(error) = recorded::whole(&self.store, &name, record).await {
                    self.tell(&key, &common::server::answer::error::chain(&error));
                }
            }
        }
        let mut all = Range::of("pieces", keys::prefix(&["recorded"]));
        while let Some(page) = self.entries_of(&mut all).await? {
            for (key, _) in &page {
                self.recorded_piece(key).await?;
            }
        }
        Ok(())
    }

    async fn recorded_piece(&self, key: &Key) -> Result<(), StoreError> {
        let mut parts = keys::parts(key).into_iter().skip(1);
        let (name, digest) = (parts.next(), parts.next().unwrap_or_default());
        let list = keys::key(&["objects", &name.unwrap_or_default()]);
        let list = self.store.kv.get(&list).await?;
        // An unreadable one is reported with the entries.
        let list = list.and_then(|list| read::<ObjectsRecord>(key, &list).ok());
        let named = list.is_some_and(|list| list.pieces.contains(&digest));
        self.hold(key, named, "no list of objects has this piece");
        Ok(())
    }
}
