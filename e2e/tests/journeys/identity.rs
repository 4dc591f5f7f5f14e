//! The identity of a caller from a certificate: from the kubeconfig through TLS to the API server.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use common::client::{ManagerClient, ServiceFlags};
use e2e::program::Service;
use e2e::{Dm, Stack};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair,
};
use serde_json::{Value, json};

use crate::configurations::{maps, pods};

/// An authority of the test's own; what it signs is in the stack's folder.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: String,
    folder: PathBuf,
}

impl Authority {
    fn new(folder: &Path) -> Result<Self> {
        let mut params = CertificateParams::new(Vec::new())?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate()?;
        Ok(Self {
            certificate: params.self_signed(&key)?.pem(),
            issuer: Issuer::new(params, key),
            folder: folder.to_owned(),
        })
    }

    /// `FILE.pem` and `FILE.key` for somebody of that name and group.
    fn sign(&self, file: &str, name: &str, group: &str) -> Result<()> {
        let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()])?;
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, name);
        params
            .distinguished_name
            .push(DnType::OrganizationName, group);
        let key = KeyPair::generate()?;
        let signed = params.signed_by(&key, &self.issuer)?;
        std::fs::write(self.path(file, "pem"), signed.pem())?;
        std::fs::write(self.path(file, "key"), key.serialize_pem())?;
        Ok(())
    }

    fn path(&self, file: &str, end: &str) -> PathBuf {
        self.folder.join(format!("{file}.{end}"))
    }
}

/// A manager over TLS that accepts client certificates of the cluster's authority, or of the test's.
async fn manager(stack: &Stack, authority: &Authority) -> Result<(Service, String)> {
    authority.sign("server", "manager", "services")?;
    std::fs::write(stack.folder().join("ca.pem"), &authority.certificate)?;
    let view = ["config", "view", "--raw", "--minify", "-o", "json"];
    let config: Value = serde_json::from_str(&stack.cluster.kubectl(&view)?)?;
    let of_cluster = config["clusters"][0]["cluster"]["certificate-authority-data"].as_str();
    let of_cluster = STANDARD.decode(of_cluster.context("the cluster has no authority")?)?;
    let both = format!(
        "{}\n{}",
        String::from_utf8(of_cluster)?,
        authority.certificate
    );
    let clients = stack.write("clients.pem", &both)?;
    let path = |path: &Path| path.display().to_string();
    let flags = [
        "--tls-cert".to_owned(),
        path(&authority.path("server", "pem")),
        "--tls-key".to_owned(),
        path(&authority.path("server", "key")),
        "--client-ca".to_owned(),
        path(&clients),
        "--auth-client-certs".to_owned(),
        // The administrator of the local control plane is in this group.
        "--auth-allow-system=system:masters".to_owned(),
        "--auth-rbac".to_owned(),
    ];
    let manager = stack.another_manager("tls", &flags).await?;
    let url = format!("https://{}", manager.address());
    Ok((manager, url))
}

/// A request for a certificate: the API server writes into it who made it.
fn request(name: &str) -> Result<String> {
    let key = KeyPair::generate()?;
    let pem = CertificateParams::new(Vec::new())?
        .serialize_request(&key)?
        .pem()?;
    let spec = json!({
        "request": STANDARD.encode(pem), "signerName": "example.com/nobody", "usages": ["client auth"],
    });
    let resource =
        json!({"name": name, "type": "CertificateSigningRequest", "properties": {"spec": spec}});
    Ok(json!({"resources": [resource]}).to_string())
}

#[tokio::test]
async fn the_kubeconfigs_certificate_reaches_the_api_server_as_whom_it_names() -> Result<()> {
    let stack = Stack::guarded().await?;
    let authority = Authority::new(stack.folder())?;
    let (_manager, url) = manager(&stack, &authority).await?;
    let admin = stack
        .dm
        .at(url.clone())
        .with_kubeconfig(stack.cluster.kubeconfig());
    let ca = ["--ca-file", "ca.pem"];
    let known = admin.ok(&[&["whoami"][..], &ca].concat()).await?;
    let name = known
        .split_whitespace()
        .next()
        .context("nobody")?
        .to_owned();
    assert!(known.contains("(system:masters)"), "{known}");

    // The API server itself says who has made this.
    let csr = format!("{}-csr", stack.namespace);
    stack.write("own.yaml", &request(&csr)?)?;
    let within = ["--namespace", &stack.namespace];
    admin
        .ok(&[&["deploy", "own.yaml"][..], &within, &ca].concat())
        .await?;
    let made = ["get", "csr", &csr, "-o", "jsonpath={.spec.username}"];
    assert_eq!(stack.cluster.kubectl(&made)?, name);
    admin.ok(&[&["delete", "own"][..], &ca].concat()).await?;

    // A client without a certificate is rejected, and the error says what to do.
    let stranger: Dm = stack.dm.at(url);
    let error = stranger.fails(1, &[&["list"][..], &ca].concat()).await?;
    assert!(error.contains("certificate"), "{error}");
    Ok(())
}

#[tokio::test]
async fn who_has_a_certificate_may_what_the_cluster_lets_its_name_do() -> Result<()> {
    let stack = Stack::guarded().await?;
    let authority = Authority::new(stack.folder())?;
    let (_manager, url) = manager(&stack, &authority).await?;
    let (namespace, group) = (&stack.namespace, format!("{}-makers", stack.namespace));
    authority.sign("carol", "carol", &group)?;
    let api = "rbac.authorization.k8s.io";
    let metadata = json!({"name": "makers", "namespace": namespace});
    let rule = |group, resource, verbs: &[&str]| json!({"apiGroups": [group], "resources": [resource], "verbs": verbs});
    let all = &["get", "list", "create", "update", "patch", "delete"][..];
    let objects = json!({"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": format!("{api}/v1"), "kind": "Role", "metadata": metadata, "rules": [
            rule("", "configmaps", all), rule("apps", "deployments", &["get"]),
            rule("deploymentmanager", "deployments", all),
        ]},
        {"apiVersion": format!("{api}/v1"), "kind": "RoleBinding", "metadata": metadata,
            "roleRef": {"apiGroup": api, "kind": "Role", "name": "makers"},
            "subjects": [{"apiGroup": api, "kind": "Group", "name": group}]},
    ]});
    stack.cluster.apply(&objects.to_string())?;

    let carol = stack.dm.at(url.clone());
    let shown = [
        "--ca-file",
        "ca.pem",
        "--client-cert",
        "carol.pem",
        "--client-key",
        "carol.key",
    ];
    let within = ["--namespace", namespace];
    let create = |file| [&["deploy", file][..], &within, &shown].concat();
    stack.write("own.yaml", &maps(&["own"], "first"))?;
    e2e::until(
        "the cluster to know what carol may",
        std::time::Duration::from_secs(30),
        || async { carol.ok(&create("own.yaml")).await },
    )
    .await?;
    assert!(stack.names("configmaps")?.contains(&"own".to_owned()));
    stack.write("app.yaml", &pods("app", "well", 1))?;
    let error = carol.fails(1, &create("app.yaml")).await?;
    assert!(
        error.contains("deployments.apps") && error.contains("carol may not"),
        "{error}"
    );
    assert!(stack.names("deployments")?.is_empty());

    // As any other client has it.
    let path = |end| Some(authority.path("carol", end));
    let flags = ServiceFlags {
        service_ca: Some(stack.folder().join("ca.pem")),
        service_cert: path("pem"),
        service_key: path("key"),
        service_token_file: None,
    };
    let client = ManagerClient::with(&url, &flags.access()?)?;
    assert_eq!(client.whoami().await?.user, "carol");
    Ok(())
}
