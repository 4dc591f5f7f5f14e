//! The secrets, which cannot be in a chart: a certificate for each service, and the key that encrypts the store.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use common::model::DeploymentName;
use jiff::tz::TimeZone;
use ring::rand::{SecureRandom as _, SystemRandom};
use serde_json::{Value, json};

use super::certificates::Authority;
use super::objects::{ETCD, has_etcd};
use super::{Installation, InstallationError};

const SERVICES: [&str; 3] = ["manager", "expandybird", "resourcifier"];
const KEY_BYTES: usize = 32;

/// A certificate for each service of the chart's objects, and the authority's own.
pub fn certificates(
    installation: &Installation,
    objects: &[Value],
) -> Result<Vec<Value>, InstallationError> {
    let name = &installation.name;
    let today = jiff::Timestamp::now().to_zoned(TimeZone::UTC).date();
    let authority = Authority::new(name.as_str(), today)?;
    let mut secrets = Vec::new();
    for service in services(installation, objects) {
        let certificate = authority.issue(service, hosts(installation, service))?;
        let mut secret = metadata(installation, &format!("{name}-{service}-certificate"));
        secret["kind"] = json!("Secret");
        secret["type"] = json!("kubernetes.io/tls");
        secret["stringData"] = json!({
            "ca.crt": authority.certificate,
            "tls.crt": certificate.certificate,
            "tls.key": certificate.key,
        });
        secrets.push(secret);
    }
    let mut authority_object = metadata(installation, &format!("{name}-ca"));
    authority_object["kind"] = json!("ConfigMap");
    authority_object["data"] = json!({"ca.crt": authority.certificate});
    secrets.push(authority_object);
    Ok(secrets)
}

/// The three services, and etcd if the installation has its own.
fn services(installation: &Installation, objects: &[Value]) -> Vec<&'static str> {
    let mut services = SERVICES.to_vec();
    if has_etcd(objects, &installation.name) {
        services.push(ETCD);
    }
    services
}

/// Immutable: without this key, the whole store is lost.
pub fn key(installation: &Installation) -> Result<Value, InstallationError> {
    let mut bytes = [0; KEY_BYTES];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| InstallationError::Random)?;
    let mut secret = metadata(installation, &format!("{}-key", installation.name));
    secret["kind"] = json!("Secret");
    secret["immutable"] = json!(true);
    secret["stringData"] = json!({"key": STANDARD.encode(bytes)});
    Ok(secret)
}

fn metadata(installation: &Installation, name: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": null,
        "metadata": {
            "name": name,
            "namespace": installation.namespace,
            "labels": {
                "app.kubernetes.io/name": "deployment-manager",
                "app.kubernetes.io/instance": installation.name,
            },
        },
    })
}

/// The host names of a service. The manager has the deployment's name, and is also reached through a forwarded port. Each
/// manager, and each member of etcd, has a name of its own besides.
fn hosts(installation: &Installation, service: &str) -> Vec<String> {
    let deployment: &DeploymentName = &installation.name;
    let namespace = &installation.namespace;
    let local = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
    match service {
        "manager" => {
            let mut hosts = in_cluster(installation, deployment.as_str());
            hosts.push(format!("*.{deployment}-managers.{namespace}.svc"));
            hosts.extend(local);
            hosts
        }
        // etcd accepts a member if one of these names leads to the member's address.
        ETCD => {
            let mut hosts = in_cluster(installation, &format!("{deployment}-{service}"));
            hosts.push(format!("*.{deployment}-{service}.{namespace}.svc"));
            hosts.extend(local);
            hosts
        }
        _ => in_cluster(installation, &format!("{deployment}-{service}")),
    }
}

fn in_cluster(installation: &Installation, service: &str) -> Vec<String> {
    let namespace = &installation.namespace;
    vec![
        service.to_owned(),
        format!("{service}.{namespace}"),
        format!("{service}.{namespace}.svc"),
    ]
}
