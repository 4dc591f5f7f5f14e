//! What git says, and what it fetches.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::HeaderValue;

use super::*;
use crate::adapter::git::trust::Trust;

#[test]
fn what_a_host_says_back_of_a_credential_is_not_told() {
    let pair = STANDARD.encode("x-access-token:ghp_t0psecret");
    let header = HeaderValue::from_str(&format!("Basic {pair}")).unwrap();
    let url = "https://host.example/r".parse().unwrap();
    let ways = Trust::default().ways(&url, Some(&header), &[]);
    let said =
        format!("protocol error: 'Basic {pair}', x-access-token:ghp_t0psecret, ghp_t0psecret");
    let error = GitError::Failed(said).without(&ways[0].secrets());
    let message = "git says: protocol error: 'Basic (redacted)', (redacted), (redacted)";
    assert_eq!(error.to_string(), message);
}

#[tokio::test]
async fn nothing_local_is_fetched_and_nothing_is_read_beyond_its_limit() {
    let folder = tempfile::tempdir().unwrap();
    let git = Git::new(folder.path().join("cache"));
    for url in ["file:///tmp", "ext::sh -c true"] {
        let ways = Trust::default().ways(&url.parse().unwrap(), None, &[]);
        let error = git.fetch(&ways[0], "+HEAD:refs/dm/head").await;
        let error = error.unwrap_err().to_string();
        assert!(error.contains("not allowed"), "{url}: {error}");
    }
    let long = git.read(&["config", "--list"], 10).await.unwrap_err();
    assert!(matches!(long, GitError::TooLarge { limit: 10 }), "{long}");
}

#[tokio::test]
async fn git_reads_a_credential_that_neither_arguments_nor_environment_have() {
    let folder = tempfile::tempdir().unwrap();
    let git = Git::new(folder.path().join("cache"));
    git.prepare().await.unwrap();
    // With what the format of the file must escape.
    let header = HeaderValue::from_static(r#"Bearer a"b\c"#);
    let url = "https://host.example/r".parse().unwrap();
    let ways = Trust::default().ways(&url, Some(&header), &[]);
    let mut command = git.given(&ways[0]).unwrap();
    let seen = format!("{:?}", command.as_std());
    assert!(!seen.contains("Bearer"), "{seen}");
    command.args(["config", "--get-urlmatch", "http.extraHeader", &ways[0].url]);
    let read = run(command, SAID_BYTES).await.unwrap();
    assert_eq!(read, b"Authorization: Bearer a\"b\\c\n");
}
