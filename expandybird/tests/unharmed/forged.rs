//! Python templates that write into their own channel what only their process may say.

use common::api::error::{ErrorBody, ErrorCode};

use crate::requests::request;
use crate::server::Server;

/// Writes this frame, and returns.
fn forging(frame: &str) -> String {
    format!(
        "import os\n\
         def GenerateConfig(context):\n    \
           frame = {frame}\n    \
           frame = len(frame).to_bytes(4, 'little') + frame\n    \
           for fd in range(3, 32):\n        \
             try:\n            \
               while frame: frame = frame[os.write(fd, frame):]\n        \
             except OSError: pass\n    \
           return {{'resources': []}}\n"
    )
}

async fn answered(server: &Server, frame: &str) -> ErrorBody {
    let error = server
        .refusal(frame, &request("t.py", &forging(frame)))
        .await;
    assert_eq!(error.code.status(), 400, "{frame}: {error:?}");
    error
}

#[tokio::test(flavor = "multi_thread")]
async fn a_template_cannot_claim_that_the_system_is_at_fault() {
    let server = Server::start(&[]);
    for frame in [
        r#"b'{"refused":{"reason":"the sandbox is down"}}'"#,
        r#"b'{"opened":{"landlockAbi":1,"files":true,"network":true,"signals":true,"seccomp":true,"noNewPrivileges":true,"resourceLimits":true}}'"#,
        r#"b'{"exited":{}}'"#,
    ] {
        let error = answered(&server, frame).await;
        assert_eq!(error.code, ErrorCode::TemplateCrashed, "{frame}: {error:?}");
        assert!(!error.message.contains("sandbox is down"), "{error:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forged_failure_names_no_file_that_the_request_does_not_have() {
    let server = Server::start(&[]);
    let stack = r#"{"file":"FILE","line":7,"column":null,"function":"f","source":"root:x:0:0"}"#;
    let [invented, own] = ["/etc/passwd", "t.py"].map(|file| stack.replace("FILE", file));
    for (frames, line) in [
        (format!("[{invented}]"), None),
        (format!("[{own},{invented}]"), Some(7)),
    ] {
        let frame = format!(
            r#"b'{{"failed":{{"kind":"raised","exception":"E","message":"m","frames":{frames},"hint":null}}}}'"#
        );
        let error = answered(&server, &frame).await;
        assert_eq!(error.code, ErrorCode::TemplateFailed, "{error:?}");
        let location = error.location.clone().unwrap();
        assert_eq!(
            (location.file.as_deref(), location.line),
            (Some("t.py"), line),
            "{error:?}"
        );
        let shown = serde_json::to_string(&error).unwrap();
        assert!(!shown.contains("/etc/passwd"), "{shown}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forged_failure_of_many_megabytes_is_told_in_few_words() {
    /// An error of the service has no more than this, its excerpt included.
    const ERROR_BYTES: usize = 64 << 10;
    let server = Server::start(&[]);
    let long = "b'x' * (8 << 20)";
    let frame = format!(
        r#"b'{{"failed":{{"kind":"forbidden","exception":"' + {long} + b'","message":"' + {long} + b'","frames":[' + b','.join([b'{{"file":"t.py","line":1,"column":null,"function":"' + b'f' * 9999 + b'","source":"' + b's' * 9999 + b'"}}'] * 999) + b'],"hint":"' + {long} + b'"}}}}'"#
    );
    let error = answered(&server, &frame).await;
    assert_eq!(error.code, ErrorCode::TemplateForbidden);
    let bytes = serde_json::to_vec(&error).unwrap().len();
    assert!(bytes < ERROR_BYTES, "{bytes} bytes");
}
