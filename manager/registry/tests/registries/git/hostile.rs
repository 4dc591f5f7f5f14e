//! A malicious git repository, and its server.

use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::symlink;

use common::api::error::ErrorCode;
use common::model::TypeName;
use serde_json::json;

use crate::support::alone::{Alone, options};
use crate::support::backend::Backend;

async fn refused(alone: &Alone, reference: &str) -> (ErrorCode, String) {
    let reference = TypeName::parse(reference).unwrap();
    let error = alone.resolve(&reference).await.unwrap_err();
    (error.code(), error.to_string())
}

/// A list of refs that never ends.
fn list_without_end(mut stream: TcpStream) -> std::io::Result<()> {
    let line = |text: &str| format!("{:04x}{text}\n", text.len() + 5);
    let commit = "1".repeat(40);
    stream.write_all(line(&format!("{commit} HEAD\0ofs-delta shallow")).as_bytes())?;
    let name = "n".repeat(60_000);
    for number in 0_u64.. {
        stream.write_all(line(&format!("{commit} refs/heads/{name}-{number}")).as_bytes())?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_of_refs_without_end_takes_no_more_memory_than_it_may() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().map(Result::unwrap) {
            // It ends when git stops reading.
            std::thread::spawn(move || list_without_end(stream));
        }
    });
    let alone = Alone::new(&options("/")).await.unwrap();
    let url = format!("git://localhost:{port}/r.git");
    let definition = json!({"type": "git", "url": url});
    alone.register("endless", definition).await;
    let (code, message) = refused(&alone, "endless/a:v1").await;
    assert!(message.contains("MiB of memory"), "{message}");
    assert_eq!(code, ErrorCode::RegistryUnavailable);
}

#[tokio::test(flavor = "multi_thread")]
async fn links_and_submodules_of_a_repository_lead_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let backend = Backend::serve(folder.path(), None);
    let files = backend.files();
    for version in ["file", "folder", "own"] {
        std::fs::create_dir_all(files.join(version)).unwrap();
    }
    symlink("/etc", files.join("folder/v1")).unwrap();
    std::fs::create_dir(files.join("file/v1")).unwrap();
    symlink("/etc/passwd", files.join("file/v1/file.jinja")).unwrap();
    let modules = "[submodule \"m\"]\n\tpath = m\n\turl = ext::sh -c 'touch /tmp/owned'\n";
    std::fs::write(files.join(".gitmodules"), modules).unwrap();
    backend.run(&["add", "--all"]);
    let commit = "1".repeat(40);
    let module = format!("160000,{commit},own/v1");
    backend.run(&["update-index", "--add", "--cacheinfo", &module]);
    backend.run(&["commit", "--quiet", "-m", "hostile"]);
    let alone = Alone::new(&options("/")).await.unwrap();
    let definition = json!({"type": "git", "url": backend.url()});
    alone.register("own", definition).await;
    for template in ["file", "folder", "own"] {
        let (code, message) = refused(&alone, &format!("own/{template}:v1")).await;
        let is_refused = matches!(
            code,
            ErrorCode::TemplateNotFound | ErrorCode::RegistryUnavailable
        );
        assert!(
            is_refused && !message.contains("root:"),
            "{code:?}: {message}"
        );
    }
}
