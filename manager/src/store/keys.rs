//! The key space: one table. Parts are joined by a zero byte, which no name can contain.
//!
//! | key | record |
//! |---|---|
//! | `format` | the version of this table |
//! | `digests` | the key that digests of contents are made with |
//! | `fence` | the number of the last take of an operation, and the name of the store that the numbers are of |
//! | `deployment·NAME` | the deployment as callers see it |
//! | `objects·NAME` | what exists of it in the cluster, and which manifests may have left more |
//! | `recorded·NAME·DIGEST` | a piece of the list of what exists, where that is long: without an envelope, like `content` |
//! | `writer·NAME` | who wrote it last: in whose name drift of it is looked for and corrected; absent if nobody was known |
//! | `lock·NAME` | the id of the operation that holds it |
//! | `manifest·NAME·MANIFEST` | the manifest's head: times, digests, sizes |
//! | `lists·NAME·MANIFEST` | the digests of the pieces of its input, expansion and layout |
//! | `content·NAME·DIGEST` | such a piece, as it is: without an envelope; its digest is keyed, or plain if it is older |
//! | `final·NAME·MANIFEST·NUMBER` | a piece of what the manifest's references were when it was applied last |
//! | `type·TYPE` | how many instances it has: a number that is only added to, without an envelope |
//! | `instance·TYPE·NAME·NUMBER` | an instance, numbered in the order of the layout |
//! | `operation·ID` | the operation, and what it was asked |
//! | `operation-of·NAME·ID` | an index: the operations of a deployment |
//! | `unfinished·ID` | an index: what to resume at start |
//! | `stop·ID` | that the operation is to be stopped, and who wants it; until it is done |
//! | `request·KEY` | the operation that was begun with an idempotency key, or the answer, and the request's digest |
//! | `request-at·TIME·KEY` | an index: which keys to forget first |
//! | `journal·ID·NUMBER` | an event of the operation |
//! | `registry·NAME` | a registered template registry |
//! | `cluster·NAME` | a registered cluster |
//! | `template·NAMESPACE·NAME` | a stored Template object |
//! | `credential·NAME` | a registry's credential, sealed |
//! | `broker-instance·DIGEST` | a service instance, by the digest of its id |
//! | `broker-binding·DIGEST·DIGEST` | a service binding, by the digests of its instance's id and its own |
//! | `broker-running·DIGEST…` | an index: the instances and bindings to follow at start |
//! | `broker-gone·TIME·DIGEST…` | an index: which deleted ones to forget first |
//! | `broker-environment·NAME` | what the templates of a broker's deployment see beside what all see |
//! | `broker-outputs·NAME` | the outputs of a binding, until its record has them |
//! | `payload·ID·PART·NUMBER` | a piece of the operation's input, or of its expansion, until it is done |
//! | `transfer` | the folder whose state is being moved here, until all of it is here |
//! | `restoring` | only while a backup is being restored: nothing else counts |
//!
//! Operation ids begin with the time, so that their order is that of their beginning.

use common::model::{
    ClusterName, CredentialName, DeploymentName, ManifestName, Namespace, OperationId,
    RegistryName, TemplateName, TypeName,
};

use super::kv::Key;

const SEPARATOR: u8 = 0;

/// The version of the key space and of what the records are ([`super::format`]).
pub const FORMAT: &str = "format";

pub fn key(parts: &[&str]) -> Key {
    parts.join("\0").into_bytes()
}

/// A prefix of all keys with further parts.
pub fn prefix(parts: &[&str]) -> Key {
    let mut key = key(parts);
    key.push(SEPARATOR);
    key
}

/// The parts of a key; what is not text is shown as far as it is one.
pub fn parts(key: &[u8]) -> Vec<String> {
    let parts = key.split(|byte| *byte == SEPARATOR);
    parts
        .map(|part| String::from_utf8_lossy(part).into_owned())
        .collect()
}

/// A key for people.
pub fn shown(key: &[u8]) -> String {
    parts(key).join("/")
}

pub fn restoring() -> Key {
    key(&["restoring"])
}

/// See [`super::maintenance::transfer`].
pub fn transfer() -> Key {
    key(&["transfer"])
}

pub fn format() -> Key {
    key(&[FORMAT])
}

pub fn fence() -> Key {
    key(&["fence"])
}

pub fn deployment(name: &DeploymentName) -> Key {
    key(&["deployment", name.as_str()])
}

pub fn deployments() -> Key {
    prefix(&["deployment"])
}

pub fn objects(name: &DeploymentName) -> Key {
    key(&["objects", name.as_str()])
}

/// A piece of the list of a deployment's objects.
pub fn recorded_piece(name: &DeploymentName, digest: &str) -> Key {
    key(&["recorded", name.as_str(), digest])
}

pub fn recorded_pieces(name: &DeploymentName) -> Key {
    prefix(&["recorded", name.as_str()])
}

pub fn writer(name: &DeploymentName) -> Key {
    key(&["writer", name.as_str()])
}

pub fn writers() -> Key {
    prefix(&["writer"])
}

pub fn lock(name: &DeploymentName) -> Key {
    key(&["lock", name.as_str()])
}

pub fn manifest(deployment: &DeploymentName, name: &ManifestName) -> Key {
    key(&["manifest", deployment.as_str(), name.as_str()])
}

pub fn all_manifests() -> Key {
    prefix(&["manifest"])
}

pub fn manifests(deployment: &DeploymentName) -> Key {
    prefix(&["manifest", deployment.as_str()])
}

pub fn digests() -> Key {
    key(&["digests"])
}

/// The lists of a manifest's pieces.
pub fn lists(deployment: &DeploymentName, manifest: &ManifestName) -> Key {
    key(&["lists", deployment.as_str(), manifest.as_str()])
}

pub fn all_lists(deployment: &DeploymentName) -> Key {
    prefix(&["lists", deployment.as_str()])
}

/// A piece of a deployment's manifests.
pub fn piece_of(deployment: &DeploymentName, digest: &str) -> Key {
    key(&["content", deployment.as_str(), digest])
}

/// The prefix of the pieces of what the last apply of a manifest came to.
pub fn final_properties(deployment: &DeploymentName, manifest: &ManifestName) -> Key {
    prefix(&["final", deployment.as_str(), manifest.as_str()])
}

pub fn all_pieces_of(deployment: &DeploymentName) -> Key {
    prefix(&["content", deployment.as_str()])
}

/// A piece; numbers have six digits, so that their order is that of the text.
pub fn piece(pieces: &Key, number: usize) -> Key {
    [pieces.as_slice(), format!("{number:06}").as_bytes()].concat()
}

pub fn type_count(name: &TypeName) -> Key {
    key(&["type", name.as_str()])
}

pub fn types() -> Key {
    prefix(&["type"])
}

pub fn instance(type_name: &TypeName, deployment: &DeploymentName, number: usize) -> Key {
    key(&[
        "instance",
        type_name.as_str(),
        deployment.as_str(),
        &format!("{number:06}"),
    ])
}

pub fn instances(type_name: &TypeName) -> Key {
    prefix(&["instance", type_name.as_str()])
}

pub fn all_instances() -> Key {
    prefix(&["instance"])
}

pub fn operation(id: &OperationId) -> Key {
    key(&["operation", id.as_str()])
}

pub fn operations() -> Key {
    prefix(&["operation"])
}

pub fn operation_of(deployment: &DeploymentName, id: &OperationId) -> Key {
    key(&["operation-of", deployment.as_str(), id.as_str()])
}

pub fn operations_of(deployment: &DeploymentName) -> Key {
    prefix(&["operation-of", deployment.as_str()])
}

pub fn unfinished(id: &OperationId) -> Key {
    key(&["unfinished", id.as_str()])
}

pub fn all_unfinished() -> Key {
    prefix(&["unfinished"])
}

pub fn stop(id: &OperationId) -> Key {
    key(&["stop", id.as_str()])
}

pub fn request(idempotency_key: &str) -> Key {
    key(&["request", idempotency_key])
}

/// Seconds have ten digits until the year 2286, so that their order is that of the text.
pub fn request_at(second: i64, idempotency_key: &str) -> Key {
    key(&["request-at", &format!("{second:010}"), idempotency_key])
}

pub fn requests_by_time() -> Key {
    prefix(&["request-at"])
}

pub fn journal_entry(id: &OperationId, number: usize) -> Key {
    piece(&journal(id), number)
}

pub fn journal(id: &OperationId) -> Key {
    prefix(&["journal", id.as_str()])
}

pub fn registry(name: &RegistryName) -> Key {
    key(&["registry", name.as_str()])
}

pub fn registries() -> Key {
    prefix(&["registry"])
}

pub fn cluster(name: &ClusterName) -> Key {
    key(&["cluster", name.as_str()])
}

pub fn clusters() -> Key {
    prefix(&["cluster"])
}

pub fn template(namespace: &Namespace, name: &TemplateName) -> Key {
    key(&["template", namespace.as_str(), name.as_str()])
}

/// The Templates of a namespace.
pub fn templates(namespace: &Namespace) -> Key {
    prefix(&["template", namespace.as_str()])
}

pub fn credential(name: &CredentialName) -> Key {
    key(&["credential", name.as_str()])
}

pub fn credentials() -> Key {
    prefix(&["credential"])
}

pub fn broker_instance(digest: &str) -> Key {
    key(&["broker-instance", digest])
}

pub fn broker_binding(instance: &str, digest: &str) -> Key {
    key(&["broker-binding", instance, digest])
}

/// The bindings of an instance.
pub fn broker_bindings(instance: &str) -> Key {
    prefix(&["broker-binding", instance])
}

pub fn broker_running(digests: &[&str]) -> Key {
    key(&[&["broker-running"], digests].concat())
}

pub fn all_broker_running() -> Key {
    prefix(&["broker-running"])
}

/// As with requests, seconds have ten digits.
pub fn broker_gone(second: i64, digests: &[&str]) -> Key {
    key(&[&["broker-gone", &format!("{second:010}")], digests].concat())
}

pub fn all_broker_gone() -> Key {
    prefix(&["broker-gone"])
}

pub fn broker_environment(name: &DeploymentName) -> Key {
    key(&["broker-environment", name.as_str()])
}

pub fn broker_outputs(name: &DeploymentName) -> Key {
    key(&["broker-outputs", name.as_str()])
}

/// The prefix of all pieces of what an operation works on.
pub fn payloads(id: &OperationId) -> Key {
    prefix(&["payload", id.as_str()])
}

/// The prefix of the pieces of one part of it.
pub fn payload(id: &OperationId, part: &str) -> Key {
    prefix(&["payload", id.as_str(), part])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_space_is_a_promise_to_every_store_that_exists() {
        let (deployment_name, other) = (
            DeploymentName::parse("web").unwrap(),
            TypeName::parse("apps/v1:Deployment").unwrap(),
        );
        let (manifest_name, id) = (
            ManifestName::parse("m-1").unwrap(),
            OperationId::parse("op-1").unwrap(),
        );
        let all = [
            format(),
            fence(),
            deployment(&deployment_name),
            objects(&deployment_name),
            recorded_piece(&deployment_name, "0af3"),
            writer(&deployment_name),
            lock(&deployment_name),
            manifest(&deployment_name, &manifest_name),
            lists(&deployment_name, &manifest_name),
            piece_of(&deployment_name, "0af3"),
            type_count(&other),
            instance(&other, &deployment_name, 3),
            operation(&id),
            operation_of(&deployment_name, &id),
            unfinished(&id),
            stop(&id),
            request("key"),
            request_at(1_700_000_000, "key"),
            journal_entry(&id, 12),
            piece(&payload(&id, "input"), 0),
            transfer(),
            restoring(),
            registry(&RegistryName::parse("own").unwrap()),
            credential(&CredentialName::parse("own").unwrap()),
            cluster(&ClusterName::parse("own").unwrap()),
            template(
                &Namespace::parse("shop").unwrap(),
                &TemplateName::parse("own").unwrap(),
            ),
            broker_instance("0af3"),
            broker_binding("0af3", "1b"),
            broker_running(&["0af3", "1b"]),
            broker_gone(1_700_000_000, &["0af3"]),
            broker_environment(&deployment_name),
            broker_outputs(&deployment_name),
        ];
        let table: Vec<_> = all
            .iter()
            .map(|key| String::from_utf8_lossy(key).replace('\0', "·"))
            .collect();
        insta::assert_snapshot!(table.join("\n"), @r"
        format
        fence
        deployment·web
        objects·web
        recorded·web·0af3
        writer·web
        lock·web
        manifest·web·m-1
        lists·web·m-1
        content·web·0af3
        type·apps/v1:Deployment
        instance·apps/v1:Deployment·web·000003
        operation·op-1
        operation-of·web·op-1
        unfinished·op-1
        stop·op-1
        request·key
        request-at·1700000000·key
        journal·op-1·000012
        payload·op-1·input·000000
        transfer
        restoring
        registry·own
        credential·own
        cluster·own
        template·shop·own
        broker-instance·0af3
        broker-binding·0af3·1b
        broker-running·0af3·1b
        broker-gone·1700000000·0af3
        broker-environment·web
        broker-outputs·web
        ");
    }

    #[test]
    fn a_name_that_begins_like_another_is_no_part_of_its_range() {
        let (web, web2) = (
            DeploymentName::parse("web").unwrap(),
            DeploymentName::parse("web2").unwrap(),
        );
        let id = OperationId::parse("op-1").unwrap();
        assert!(!operation_of(&web2, &id).starts_with(&operations_of(&web)));
        assert!(!operation_of(&web, &id).starts_with(&operations()));
    }
}
