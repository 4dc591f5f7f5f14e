//! `/admin`: for operators.

pub(super) mod clusters;

use actix_web::HttpResponse;
use actix_web::web::{Data, Payload};
use common::api::admin::ARCHIVE;
use common::server::ApiError;
use futures::StreamExt;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::service::Services;

/// The number of archive parts that may wait to be stored.
const WAITING: usize = 16;

pub async fn backup(services: Data<Services>) -> Result<HttpResponse, ApiError> {
    let archive = services.admin.backup().await?;
    let logged = archive.inspect(|part| {
        if let Err(error) = part {
            tracing::error!(
                error = common::server::answer::error::chain(error),
                "the backup is cut off"
            );
        }
    });
    Ok(HttpResponse::Ok().content_type(ARCHIVE).streaming(logged))
}

/// The archive's size is limited only by the disk: it is stored while it arrives.
pub async fn restore(
    services: Data<Services>,
    mut payload: Payload,
) -> Result<HttpResponse, ApiError> {
    let (sender, archive) = mpsc::channel(WAITING);
    let archive = futures::stream::unfold(archive, async |mut archive| {
        let part = archive.recv().await?;
        Some((part, archive))
    });
    // Set when the restore has failed: the rest of the body is read and dropped, so that the caller can receive the
    // error.
    let done = CancellationToken::new();
    let feed = async {
        while let Some(part) = payload.next().await {
            let part = part.map_err(|error| error.to_string());
            if !done.is_cancelled() {
                let _ = sender.send(part).await;
            }
        }
        drop(sender);
    };
    let restore = async {
        let outcome = services.admin.restore(archive).await;
        done.cancel();
        outcome
    };
    let ((), restored) = futures::join!(feed, restore);
    Ok(HttpResponse::Ok().json(restored?))
}

pub async fn verify(services: Data<Services>) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Ok().json(services.admin.verify().await?))
}

pub async fn formats(services: Data<Services>) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Ok().json(services.admin.formats().await?))
}

pub async fn upgrade(services: Data<Services>) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Ok().json(services.admin.upgrade().await?))
}

pub async fn rotate(services: Data<Services>) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Ok().json(services.admin.rotate().await?))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::Bytes;
    use common::api::admin::Restored;
    use common::api::error::ErrorCode;
    use common::api::manager::{CreateDeployment, WriteQuery};
    use common::api::page::PageQuery;
    use common::client::{ClientError, ManagerClient};
    use common::model::OperationStatus;
    use futures::TryStreamExt;
    use serde_json::json;

    use crate::testing::{DyingKv, Served, TestBed};

    fn creation(name: &str, content: &str) -> CreateDeployment {
        serde_json::from_value(json!({"name": name, "content": content})).unwrap()
    }

    async fn create(client: &ManagerClient, name: &str) {
        let content = json!({"resources": [{"name": name, "type": "pair:v1"}]}).to_string();
        let request = creation(name, &content);
        client
            .create(&request, &WriteQuery::default())
            .await
            .unwrap();
    }

    async fn backup(client: &ManagerClient) -> String {
        let parts: Vec<Bytes> = client.backup().await.unwrap().try_collect().await.unwrap();
        String::from_utf8(parts.concat()).unwrap()
    }

    async fn restore(client: &ManagerClient, archive: &str) -> Result<Restored, ClientError> {
        let parts: Vec<_> = archive
            .as_bytes()
            .chunks(1000)
            .map(|part| Ok(Bytes::copy_from_slice(part)))
            .collect();
        client.restore(futures::stream::iter(parts)).await
    }

    async fn refused(archive: &str) -> (ErrorCode, String) {
        let served = Served::new().await;
        let empty = served.bed.keys().await;
        let Err(ClientError::Answered(body)) = restore(&served.client, archive).await else {
            panic!("not refused")
        };
        assert_eq!(served.bed.keys().await, empty, "{}", body.message);
        create(&served.client, "after").await;
        (body.code, body.message)
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_backup_restored_elsewhere_is_the_same_store() {
        let served = Served::new().await;
        for name in ["web", "db"] {
            create(&served.client, name).await;
        }
        let archive = backup(&served.client).await;
        create(&served.client, "later").await;

        let other = Served::new().await;
        let restored = restore(&other.client, &archive).await.unwrap();
        assert_eq!(restored.entries, other.bed.keys().await.len() as u64);
        assert!(other.client.verify().await.unwrap().ok);
        let names = |page: common::api::page::Page<common::model::DeploymentSummary>| {
            let names = page.items.into_iter().map(|found| found.name.to_string());
            names.collect::<Vec<_>>()
        };
        let page = PageQuery::default();
        let found = names(other.client.deployments(page.clone()).await.unwrap());
        assert_eq!(found, ["db", "web"]);
        assert_eq!(
            other.client.types(&page).await.unwrap().items[0].instances,
            2
        );
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn what_was_running_when_the_backup_was_made_goes_on_after_the_restore() {
        let bed = TestBed::new();
        let dying = DyingKv::after(4, bed.kv.clone());
        let app = bed.manager_on(dying.clone()).await;
        let content = r#"{"resources": [{"name": "a", "type": "Service"}]}"#;
        let request = creation("web", content);
        let handle = app
            .services
            .writes
            .create(request, &WriteQuery::default())
            .await
            .unwrap();
        tokio::select! {
            () = dying.death() => {}
            outcome = handle.outcome() => panic!("it survived: {outcome:?}"),
        }
        let parts: Vec<Bytes> = app
            .services
            .admin
            .backup()
            .await
            .unwrap()
            .try_collect()
            .await
            .unwrap();
        let archive = String::from_utf8(parts.concat()).unwrap();

        let other = Served::new().await;
        let restored = restore(&other.client, &archive).await.unwrap();
        assert_eq!(restored.resumed, 1);
        let id = &handle.watch().operation().id;
        let handle = other.app.engine.handle(id).unwrap();
        let outcome = handle.outcome().await.unwrap();
        assert_eq!(outcome.operation.status, OperationStatus::Done);
        assert_eq!(outcome.operation.error, None);
        assert!(other.client.verify().await.unwrap().ok);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_archive_that_is_not_whole_is_refused_and_leaves_nothing() {
        let served = Served::new().await;
        create(&served.client, "web").await;
        let archive = backup(&served.client).await;
        let (all_but_last, _) = archive.trim_end().rsplit_once('\n').unwrap();
        let (first, rest) = archive.split_once('\n').unwrap();
        let cases = [
            (String::new(), "begin as one"),
            ("{}\n".to_owned(), "begin as one"),
            (first.to_owned(), "cut off"),
            (all_but_last.to_owned(), "cut off"),
            (archive.replace("left", "lift"), "digest does not fit"),
            (archive.clone() + "more\n", "something follows"),
            (format!("{first}\n[]\n{rest}"), "line 2 is damaged"),
            (
                archive.replacen("\"backup\":1", "\"backup\":3", 1),
                "this one is older",
            ),
            (
                archive.replacen("\"format\":3", "\"format\":4", 1),
                "this one is older",
            ),
            (
                archive.replacen("\"format\":3", "\"format\":0", 1),
                "release in between",
            ),
        ];
        for (archive, reason) in cases {
            let (code, message) = refused(&archive).await;
            assert_eq!(code, ErrorCode::InvalidBackup);
            assert!(message.contains(reason), "{message}");
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_backup_is_not_restored_over_anything() {
        let served = Served::new().await;
        create(&served.client, "web").await;
        let archive = backup(&served.client).await;
        let Err(ClientError::Answered(body)) = restore(&served.client, &archive).await else {
            panic!("restored over what was there")
        };
        assert_eq!(body.code, ErrorCode::StoreNotEmpty);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_restore_that_a_crash_cut_off_leaves_nothing() {
        let served = Served::new().await;
        create(&served.client, "web").await;
        let archive = backup(&served.client).await;
        let bed = TestBed::new();
        let empty = {
            bed.manager().await;
            bed.keys().await
        };
        // The mark and the entries, without the last line.
        let app = bed.manager_on(DyingKv::after(2, bed.kv.clone())).await;
        let parts = [Ok::<_, String>(Bytes::from(archive))];
        let restored = app
            .services
            .admin
            .restore(futures::stream::iter(parts))
            .await;
        assert!(restored.is_err());
        assert_ne!(bed.keys().await, empty);
        bed.manager_on(Arc::clone(&bed.kv) as _).await;
        assert_eq!(bed.keys().await, empty);
    }
}
