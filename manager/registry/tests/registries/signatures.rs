//! Registries that require signatures: every manipulation is rejected, and the error names it.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use common::api::error::ErrorCode;
use common::model::TypeName;
use common::registry::{FilePath, sums};
use manager_registry::{Options, RegistryError, SignatureError};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::json;
use tempfile::TempDir;

use crate::support::alone::{Alone, options};

const SCHEMA: &str = "imports: [{path: lib/help.txt}]";

fn write(root: &Path, path: &str, content: &str) {
    let place = root.join(path);
    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
    std::fs::write(place, content).unwrap();
}

fn list(files: &[(&str, &str)]) -> String {
    let paths = files.iter().map(|(path, _)| FilePath::parse(path).unwrap());
    let paths: Vec<_> = paths.collect();
    let contents = files.iter().map(|(_, content)| content.as_bytes());
    sums::write(paths.iter().zip(contents))
}

const FILES: [(&str, &str); 4] = [
    ("a/v1/a.jinja", "resources: []"),
    ("a/v1/a.jinja.schema", SCHEMA),
    ("a/v1/example.yaml", "resources: []"),
    ("a/v1/lib/help.txt", "help"),
];

/// A registry with one signed version.
struct Signed {
    folder: TempDir,
    key: minisign::KeyPair,
    alone: Alone,
}

impl Signed {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let key = minisign::KeyPair::generate_unencrypted_keypair().unwrap();
        for (path, content) in FILES {
            write(folder.path(), path, content);
        }
        let signed = Self {
            alone: alone(folder.path(), &[key.pk.to_box().unwrap().to_string()]).await,
            folder,
            key,
        };
        signed.sign(&list(&FILES));
        signed
    }

    fn sign(&self, list: &str) {
        self.sign_in("a/v1", list);
    }

    fn sign_in(&self, folder: &str, list: &str) {
        let signature = minisign::sign(None, &self.key.sk, list.as_bytes(), None, None).unwrap();
        self.write(&format!("{folder}/SHA256SUMS"), list);
        let place = format!("{folder}/SHA256SUMS.minisig");
        self.write(&place, &signature.to_string());
    }

    fn write(&self, path: &str, content: &str) {
        write(self.folder.path(), path, content);
    }

    fn remove(&self, path: &str) {
        std::fs::remove_file(self.folder.path().join(path)).unwrap();
    }

    async fn resolve(&self, reference: &str) -> Result<String, RegistryError> {
        resolve(&self.alone, reference).await
    }

    async fn refusal(&self) -> SignatureError {
        refusal(self.resolve("shop/a:v1").await)
    }
}

async fn alone(folder: &Path, keys: &[String]) -> Alone {
    let options = Options {
        registry_folder: Some(folder.to_owned()),
        ..options("/")
    };
    let alone = Alone::new(&options).await.unwrap();
    let definition = json!({"type": "directory", "url": ".", "publicKeys": keys});
    alone.register("shop", definition).await;
    alone
}

async fn resolve(alone: &Alone, reference: &str) -> Result<String, RegistryError> {
    let resolved = alone.resolve(&TypeName::parse(reference).unwrap()).await?;
    Ok(resolved.imports[0].content.clone())
}

fn refusal(outcome: Result<String, RegistryError>) -> SignatureError {
    let error = outcome.unwrap_err();
    assert_eq!(error.code(), ErrorCode::TemplateUntrusted, "{error}");
    match error {
        RegistryError::Signature(error) => error,
        error => panic!("{error}"),
    }
}

#[tokio::test]
async fn a_signed_version_is_used_with_all_of_its_files() {
    let signed = Signed::new().await;
    let reference = TypeName::parse("shop/a:v1").unwrap();
    let resolved = signed.alone.resolve(&reference).await.unwrap();
    assert_eq!(resolved.imports.len(), 3);
    let described = signed.alone.describe(&reference).await.unwrap();
    assert_eq!(described.example.as_deref(), Some("resources: []"));
}

#[tokio::test]
async fn a_version_without_a_signature_is_refused() {
    let signed = Signed::new().await;
    signed.remove("a/v1/SHA256SUMS.minisig");
    let error = signed.refusal().await;
    assert!(matches!(error, SignatureError::Missing { .. }), "{error}");
    signed.remove("a/v1/SHA256SUMS");
    let error = signed.refusal().await;
    assert!(matches!(error, SignatureError::Missing { .. }), "{error}");
}

#[tokio::test]
async fn a_signature_of_another_key_or_of_another_list_is_refused() {
    let mut signed = Signed::new().await;
    let other = Signed::new().await;
    signed.write("a/v1/SHA256SUMS", &(list(&FILES) + "\n"));
    let error = signed.refusal().await;
    assert!(matches!(error, SignatureError::Key { .. }), "{error}");
    signed.key = other.key;
    signed.sign(&list(&FILES));
    let error = signed.refusal().await;
    assert!(matches!(error, SignatureError::Key { .. }), "{error}");
}

#[tokio::test]
async fn a_changed_template_schema_or_helper_is_refused() {
    for (file, content) in FILES {
        let signed = Signed::new().await;
        signed.write(file, &format!("{content} "));
        let reference = TypeName::parse("shop/a:v1").unwrap();
        let described = signed.alone.describe(&reference).await;
        let error = refusal(described.map(|_| String::new()));
        assert!(
            matches!(&error, SignatureError::Changed { file: named } if named.ends_with(file)),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_file_that_was_added_or_taken_away_is_refused() {
    let signed = Signed::new().await;
    signed.write("a/v1/lib/more.txt", "more");
    let error = signed.refusal().await;
    assert!(
        matches!(&error, SignatureError::Unlisted { file } if file.ends_with("lib/more.txt")),
        "{error}"
    );
    signed.remove("a/v1/lib/more.txt");
    signed.remove("a/v1/a.jinja.schema");
    let error = signed.refusal().await;
    assert!(
        matches!(&error, SignatureError::Gone { file } if file.ends_with("a.jinja.schema")),
        "{error}"
    );
}

#[tokio::test]
async fn a_signature_is_for_no_other_version_and_no_other_template() {
    let signed = Signed::new().await;
    let from = signed.folder.path().join("a/v1");
    for (to, reference) in [("a/v1.0.7", "shop/a:v1"), ("b/v1", "shop/b:v1")] {
        let to = signed.folder.path().join(to);
        std::fs::create_dir_all(to.join("lib")).unwrap();
        for entry in std::fs::read_dir(&from).unwrap() {
            let entry = entry.unwrap();
            if entry.path().is_file() {
                std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
            }
        }
        std::fs::copy(from.join("lib/help.txt"), to.join("lib/help.txt")).unwrap();
        let error = refusal(signed.resolve(reference).await);
        assert!(
            matches!(&error, SignatureError::Other { signed, .. } if signed == "a/v1/a.jinja"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_list_that_is_signed_and_none_is_refused() {
    let signed = Signed::new().await;
    for bad in ["", "no list", "../a"] {
        signed.sign(bad);
        let error = signed.refusal().await;
        assert!(matches!(error, SignatureError::List { .. }), "{error}");
    }
}

#[tokio::test]
async fn a_package_without_a_version_folder_is_signed_as_a_whole_and_apart_from_its_other_versions()
{
    const FILES: [(&str, &str); 2] = [
        ("redis/Chart.yaml", "version: 0.1.0"),
        (
            "redis/manifests/a.yaml",
            "{apiVersion: v1, kind: Secret, metadata: {name: a}}",
        ),
    ];
    let signed = Signed::new().await;
    for (path, content) in FILES {
        signed.write(path, content);
    }
    let error = refusal(signed.resolve("shop/redis:v0.1").await);
    assert!(matches!(error, SignatureError::Missing { .. }), "{error}");
    signed.sign_in("redis", &list(&FILES));
    let template = signed.resolve("shop/redis:v0.1").await.unwrap();
    assert_eq!(template, "version: 0.1.0");
    // The folder of another version is signed, or not, independently.
    for (path, content) in FILES {
        let path = path.replace("redis/", "redis/v0.2.0/");
        signed.write(&path, &content.replace("0.1.0", "0.2.0"));
    }
    signed.resolve("shop/redis:v0.1").await.unwrap();
    let error = refusal(signed.resolve("shop/redis:v0.2").await);
    assert!(matches!(error, SignatureError::Missing { .. }), "{error}");

    signed.write("redis/manifests/b.yaml", FILES[1].1);
    let error = refusal(signed.resolve("shop/redis:v0.1").await);
    assert!(matches!(error, SignatureError::Unlisted { .. }), "{error}");
    signed.remove("redis/manifests/b.yaml");
    signed.write(FILES[1].0, &FILES[1].1.replace("name: a", "name: b"));
    let error = refusal(signed.resolve("shop/redis:v0.1").await);
    assert!(matches!(error, SignatureError::Changed { .. }), "{error}");
    // An unsigned version number does not exist.
    signed.write(FILES[1].0, FILES[1].1);
    signed.write(FILES[0].0, "version: 0.1.7");
    let error = refusal(signed.resolve("shop/redis:v0.1").await);
    assert!(matches!(error, SignatureError::Changed { .. }), "{error}");
}

/// The author's steps, with minisign itself.
#[tokio::test]
async fn a_version_that_minisign_signed_with_a_key_without_a_password_is_used() {
    let folder = tempfile::tempdir().unwrap();
    for (path, content) in FILES {
        write(folder.path(), path, content);
    }
    write(folder.path(), "a/v1/SHA256SUMS", &list(&FILES));
    let minisign = |args: &[&str]| {
        let run = std::process::Command::new("minisign")
            .current_dir(folder.path())
            .args(args)
            .output();
        let run = run.expect("minisign is installed by `make setup`");
        assert!(run.status.success(), "{run:?}");
    };
    minisign(&["-G", "-W", "-p", "k.pub", "-s", "k.key"]);
    minisign(&["-S", "-s", "k.key", "-m", "a/v1/SHA256SUMS"]);
    let public = std::fs::read_to_string(folder.path().join("k.pub")).unwrap();
    let alone = alone(folder.path(), &[public]).await;
    resolve(&alone, "shop/a:v1").await.unwrap();
}

#[tokio::test]
async fn nothing_of_an_unsigned_version_is_read() {
    let signed = Signed::new().await;
    signed.write("a/v1/a.jinja.schema", "a: [\n");
    signed.remove("a/v1/SHA256SUMS.minisig");
    let error = signed.refusal().await;
    assert!(matches!(error, SignatureError::Missing { .. }), "{error}");
}

#[tokio::test]
async fn keys_of_p256_sign_as_cosign_and_openssl_do() {
    let folder = tempfile::tempdir().unwrap();
    let random = SystemRandom::new();
    let kind = &ECDSA_P256_SHA256_ASN1_SIGNING;
    let pkcs8 = EcdsaKeyPair::generate_pkcs8(kind, &random).unwrap();
    let pair = EcdsaKeyPair::from_pkcs8(kind, pkcs8.as_ref(), &random).unwrap();
    let head = STANDARD
        .decode("MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgA=")
        .unwrap();
    let info = [&head[..], pair.public_key().as_ref()].concat();
    let pem = format!(
        "-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n",
        STANDARD.encode(info)
    );
    for (path, content) in FILES {
        write(folder.path(), path, content);
    }
    let alone = alone(folder.path(), &[pem]).await;
    let list = list(&FILES);
    write(folder.path(), "a/v1/SHA256SUMS", &list);
    let signature = pair.sign(&random, list.as_bytes()).unwrap();
    let place = folder.path().join("a/v1/SHA256SUMS.sig");
    std::fs::write(&place, signature.as_ref()).unwrap();
    resolve(&alone, "shop/a:v1").await.unwrap();
    std::fs::write(&place, STANDARD.encode(signature.as_ref())).unwrap();
    resolve(&alone, "shop/a:v1").await.unwrap();
    let other = pair.sign(&random, b"something else").unwrap();
    std::fs::write(&place, other.as_ref()).unwrap();
    let error = refusal(resolve(&alone, "shop/a:v1").await);
    assert!(matches!(error, SignatureError::Key { .. }), "{error}");
}
