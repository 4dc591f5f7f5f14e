//! Registries and their credentials, as the command line asks for them.

use dm::ExitCode;
use serde_json::{Value, json};

use crate::stand_in::{Manager, dm};

fn credential() -> Value {
    json!({"name": "own", "type": "token", "createdAt": "2026-01-01T00:00:00Z", "modifiedAt": "2026-01-01T00:00:00Z"})
}

#[actix_web::test]
async fn a_credential_is_read_from_standard_input_and_never_shown() {
    let manager = Manager::start(&[("POST /credentials/own", 200, credential())]);
    let args = ["setcredential", "own", "--service", &manager.url];
    let said = dm(&args, b"s3cret\n").await;
    assert_eq!(said.code, ExitCode::Done, "{said:?}");
    assert_eq!(manager.asked()[0].body, json!({"token": "s3cret"}));
    assert!(!format!("{said:?}").contains("s3cret"));
    assert!(said.stdout.contains("own"), "{said:?}");
}

#[actix_web::test]
async fn a_password_is_read_from_a_file_and_goes_with_its_user() {
    let manager = Manager::start(&[("POST /credentials/own", 200, credential())]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("password");
    std::fs::write(&file, "p\n").unwrap();
    let file = file.to_str().unwrap();
    let said = manager
        .dm(&["setcredential", "own", "--username", "u", file])
        .await;
    assert_eq!(said.code, ExitCode::Done, "{said:?}");
    let expected = json!({"basic": {"username": "u", "password": "p"}});
    assert_eq!(manager.asked()[0].body, expected);
    let said = manager
        .dm(&["setcredential", "own", "--token", "s3cret"])
        .await;
    assert_eq!(said.code, ExitCode::Usage, "a secret is not an argument");
}

#[actix_web::test]
async fn a_registry_is_registered_with_what_its_url_says() {
    let definition =
        json!({"type": "github", "url": "https://github.com/o/r", "credential": "own"});
    let mut answer = definition.clone();
    answer["name"] = json!("shop");
    let manager = Manager::start(&[("POST /registries/shop", 201, answer)]);
    let url = "https://github.com/o/r";
    let said = manager
        .dm(&["createregistry", "shop", url, "--credential", "own"])
        .await;
    assert_eq!(said.code, ExitCode::Done, "{said:?}");
    assert_eq!(manager.asked()[0].body, definition);
    let said = manager
        .dm(&["createregistry", "shop", "https://host/x"])
        .await;
    assert_eq!(said.code, ExitCode::Usage);
    assert!(said.stderr.contains("--type"), "{said:?}");
}
