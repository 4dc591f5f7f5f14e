//! The service as a black box: its program, on a free port.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test ends where it fails"
)]

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::api::error::ErrorCode;
use common::api::expander::ExpandRequest;
use common::client::{Access, ClientError, ExpanderClient};
use common::model::Import;

const PATIENCE: Duration = Duration::from_secs(20);

struct Service {
    child: Child,
    client: ExpanderClient,
    _folder: tempfile::TempDir,
}

impl Service {
    /// With a worker that cannot be: Python templates have no one to run them.
    fn start_without_python() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port_file = folder.path().join("port");
        let child = Command::new(env!("CARGO_BIN_EXE_expandybird"))
            .args([
                "--listen",
                "127.0.0.1:0",
                "--worker",
                "/nowhere/worker",
                "--port-file",
            ])
            .arg(&port_file)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let started = Instant::now();
        let port = loop {
            match std::fs::read_to_string(&port_file) {
                Ok(port) => break port.trim().to_owned(),
                Err(error) if started.elapsed() > PATIENCE => panic!("no port: {error}"),
                Err(_) => std::thread::yield_now(),
            }
        };
        let client =
            ExpanderClient::new(&format!("http://127.0.0.1:{port}"), &Access::default()).unwrap();
        Self {
            child,
            client,
            _folder: folder,
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn request(template: &str, content: &str) -> ExpandRequest {
    ExpandRequest {
        name: "config.yaml".to_owned(),
        content: format!("resources: [{{name: a, type: {template}}}]"),
        imports: vec![Import {
            name: template.to_owned(),
            path: None,
            content: content.to_owned(),
        }],
        ..ExpandRequest::default()
    }
}

#[tokio::test]
async fn without_python_jinja_is_expanded_and_python_says_what_is_missing() {
    let service = Service::start_without_python();
    let jinja = request(
        "t.jinja",
        "resources: [{name: {{ env.name }}-pod, type: Pod}]",
    );
    let answer = service.client.expand(&jinja, PATIENCE).await.unwrap();
    assert_eq!(answer.config.resources[0].name.as_str(), "a-pod");

    let readiness = service.client.readiness(PATIENCE).await.unwrap();
    let ready: Vec<_> = readiness
        .checks
        .iter()
        .map(|check| (check.name.as_str(), check.ready))
        .collect();
    assert_eq!(ready, [("jinja", true), ("python", false)]);

    let python = request(
        "t.py",
        "def GenerateConfig(context): return {'resources': []}",
    );
    match service.client.expand(&python, Duration::from_secs(2)).await {
        Err(ClientError::Answered(body)) => {
            assert_eq!(body.code, ErrorCode::ExpanderUnavailable);
            assert!(body.message.contains("/nowhere/worker"), "{body}");
            assert_eq!(
                body.location
                    .and_then(|location| location.resource)
                    .as_deref(),
                Some("a")
            );
        }
        other => panic!("{other:?}"),
    }
}
