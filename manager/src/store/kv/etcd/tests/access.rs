//! TLS, client certificates, users and passwords, with real members.

use std::path::Path;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use serde_json::{Value, json};

use super::super::client::wire;
use super::super::testing::{LEASE, Members, candidate};
use super::super::*;

/// Writes an authority, and certificates that it signed, into a folder. Those of the named have expired.
pub fn certificates(folder: &Path, expired: &[&str]) {
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let certificate = authority.self_signed(&key).unwrap();
    std::fs::write(folder.join("ca.pem"), certificate.pem()).unwrap();
    let issuer = Issuer::new(authority, key);
    for name in ["member", "manager"] {
        let own = KeyPair::generate().unwrap();
        let mut parameters = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        let subject = &mut parameters.distinguished_name;
        subject.push(DnType::CommonName, name);
        if expired.contains(&name) {
            parameters.not_after = rcgen::date_time_ymd(2001, 1, 1);
        }
        let signed = parameters.signed_by(&own, &issuer).unwrap();
        std::fs::write(folder.join(format!("{name}.pem")), signed.pem()).unwrap();
        std::fs::write(folder.join(format!("{name}.key")), own.serialize_pem()).unwrap();
    }
}

/// A member with the certificates of a folder.
pub fn secured(folder: &Path) -> Members {
    let text = |name: &str| folder.join(name).display().to_string();
    let flags = [
        "--client-cert-auth",
        "--cert-file",
        &text("member.pem"),
        "--key-file",
        &text("member.key"),
        "--trusted-ca-file",
        &text("ca.pem"),
    ];
    Members::start_with(1, "https", &flags)
}

/// A manager with the certificate of a folder.
pub fn known(folder: &Path) -> StoreAccess {
    StoreAccess {
        store_ca: Some(folder.join("ca.pem")),
        store_cert: Some(folder.join("manager.pem")),
        store_key: Some(folder.join("manager.key")),
        ..StoreAccess::default()
    }
}

pub async fn opened(address: &EtcdAddress, access: &StoreAccess) -> Result<EtcdKv, KvError> {
    EtcdKv::open_leased(address, access, None, LEASE, &candidate()).await
}

async fn works(kv: &EtcdKv) {
    let commit = Commit {
        put: vec![(b"key".to_vec(), "value".into())],
        ..Commit::default()
    };
    kv.commit(commit).await.unwrap();
    let found = kv.get(b"key").await.unwrap();
    assert_eq!(found.as_deref(), Some(&b"value"[..]));
}

#[tokio::test]
async fn members_are_trusted_by_their_authority_and_know_the_manager_by_its_certificate() {
    let folder = tempfile::tempdir().unwrap();
    certificates(folder.path(), &[]);
    let members = secured(folder.path());
    let address: EtcdAddress = members.address().parse().unwrap();
    let path = |name: &str| folder.path().join(name);
    let known = known(folder.path());
    let kv = opened(&address, &known).await.unwrap();
    works(&kv).await;
    kv.release().await;
    let unknown = StoreAccess {
        store_ca: Some(path("ca.pem")),
        ..StoreAccess::default()
    };
    for access in [unknown, StoreAccess::default()] {
        let error = opened(&address, &access).await.unwrap_err();
        assert!(error.to_string().contains("certificate"), "{error}");
    }
}

/// Calls of the gateway, as an operator makes them.
struct Operator {
    http: reqwest::Client,
    url: String,
}

impl Operator {
    async fn asks(&self, path: &str, token: &str, question: Value) -> Value {
        let url = format!("{}/v3/auth/{path}", self.url);
        let request = self.http.post(url).json(&question);
        let answer = request.header("authorization", token).send().await.unwrap();
        let (status, answer) = (answer.status(), answer.json().await.unwrap());
        assert!(status.is_success(), "{path}: {answer}");
        answer
    }

    /// From now on etcd asks who calls. The user `manager` may use the store's prefix.
    async fn asks_for_users(&self, address: &EtcdAddress, manager: Value) {
        let range = |text: String| json!(wire::Text(text.into_bytes()));
        let (first, last) = (
            range(format!("{}/", address.prefix)),
            range(format!("{}0", address.prefix)),
        );
        for (path, question) in [
            ("user/add", json!({"name": "root", "password": "r"})),
            ("user/grant", json!({"user": "root", "role": "root"})),
            ("role/add", json!({"name": "dm"})),
            (
                "role/grant",
                json!({"name": "dm", "perm": {"permType": "READWRITE", "key": first, "range_end": last}}),
            ),
            ("user/add", manager),
            ("user/grant", json!({"user": "manager", "role": "dm"})),
            ("enable", json!({})),
        ] {
            self.asks(path, "", question).await;
        }
    }
}

/// Members that are there, and have decided on their version. Their address, and how an operator reaches them.
async fn settled(members: &Members, access: &StoreAccess) -> (EtcdAddress, Operator) {
    let address: EtcdAddress = members.address().parse().unwrap();
    opened(&address, access).await.unwrap().release().await;
    let url = address.members[0].as_str().trim_end_matches('/').to_owned();
    let http = access.client().unwrap().builder().build().unwrap();
    (address, Operator { http, url })
}

#[tokio::test]
async fn a_user_with_a_password_may_use_its_prefix_and_gets_a_new_token_when_one_ends() {
    let members = Members::start_with(1, "http", &[]);
    let (address, operator) = settled(&members, &StoreAccess::default()).await;
    let manager = json!({"name": "manager", "password": "s3cret"});
    operator.asks_for_users(&address, manager).await;
    let password = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(password.path(), "s3cret\n").unwrap();
    let known = StoreAccess {
        store_user: Some("manager".to_owned()),
        store_password_file: Some(password.path().to_owned()),
        ..StoreAccess::default()
    };
    let kv = opened(&address, &known).await.unwrap();
    works(&kv).await;
    // Every change of users and roles ends all tokens.
    let root = json!({"name": "root", "password": "r"});
    let token = operator.asks("authenticate", "", root).await["token"].clone();
    let other = json!({"name": "other"});
    operator
        .asks("role/add", token.as_str().unwrap(), other)
        .await;
    works(&kv).await;
    let elsewhere: EtcdAddress = format!("{}/elsewhere", operator.url).parse().unwrap();
    let error = opened(&elsewhere, &known).await.unwrap_err().to_string();
    assert!(error.contains("readwrite"), "{error}");
    let error = opened(&address, &StoreAccess::default())
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("--store-user"), "{error}");
    std::fs::write(password.path(), "wrong").unwrap();
    let error = opened(&address, &known).await.unwrap_err().to_string();
    assert!(error.contains("invalid user ID or password"), "{error}");
    kv.release().await;
}

#[tokio::test]
async fn the_name_in_a_client_certificate_is_a_user() {
    let folder = tempfile::tempdir().unwrap();
    certificates(folder.path(), &[]);
    let members = secured(folder.path());
    let known = known(folder.path());
    let (address, operator) = settled(&members, &known).await;
    let manager = json!({"name": "manager", "options": {"no_password": true}});
    operator.asks_for_users(&address, manager).await;
    let kv = opened(&address, &known).await.unwrap();
    works(&kv).await;
    kv.release().await;
    let elsewhere: EtcdAddress = format!("{}/elsewhere", operator.url).parse().unwrap();
    let error = opened(&elsewhere, &known).await.unwrap_err().to_string();
    assert!(error.contains("readwrite"), "{error}");
}
