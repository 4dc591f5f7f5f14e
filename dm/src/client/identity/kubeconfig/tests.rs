use super::*;

fn config(folder: &Path, name: &str, text: &str) -> PathBuf {
    let file = folder.join(name);
    std::fs::write(&file, text).unwrap();
    file
}

const WHOLE: &str =
    "current-context: c\ncontexts: [{name: c, context: {cluster: x, user: jane}}]\n";

async fn proof(files: &[PathBuf]) -> String {
    let found = match current(files) {
        Ok(Some(user)) => user.proof().await,
        Ok(None) => return "nobody".to_owned(),
        Err(error) => return error.to_string(),
    };
    match found.map(|shown| (shown.token, shown.certificate)) {
        Ok((Some(token), _)) => token.token().await.unwrap().unwrap(),
        Ok((None, Some(_))) => "a certificate".to_owned(),
        Ok((None, None)) => unreachable!("it shows nothing"),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn the_current_users_token_is_found_over_several_files() {
    let folder = tempfile::tempdir().unwrap();
    let first = config(folder.path(), "a", WHOLE);
    let users = "users: [{name: joe, user: {token: his}}, {name: jane, user: {token: secret-1}}]";
    let second = config(folder.path(), "b", users);
    assert_eq!(proof(&[first, second]).await, "secret-1");
}

#[tokio::test]
async fn a_token_file_is_relative_to_the_kubeconfig() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("t"), "from-file\n").unwrap();
    let users = "users: [{name: jane, user: {token: old, tokenFile: t}}]";
    let file = config(folder.path(), "a", &format!("{WHOLE}{users}"));
    assert_eq!(proof(&[file]).await, "from-file");
}

#[tokio::test]
async fn a_plugin_is_asked_and_what_it_says_of_a_failure_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let user = |script: &str| {
        let exec = serde_json::json!({"apiVersion": "client.authentication.k8s.io/v1", "command": "sh",
            "args": ["-c", script], "env": [{"name": "WHO", "value": "jane"}]});
        format!("{WHOLE}users: [{{name: jane, user: {{exec: {exec}}}}}]")
    };
    let gives = "test -n \"$KUBERNETES_EXEC_INFO\" && echo \"{\\\"kind\\\": \\\"ExecCredential\\\", \\\"status\\\": {\\\"token\\\": \\\"of-$WHO\\\"}}\"";
    let file = config(folder.path(), "a", &user(gives));
    assert_eq!(proof(&[file]).await, "of-jane");
    let file = config(folder.path(), "b", &user("echo log in first >&2; exit 3"));
    let printed = proof(&[file]).await;
    assert!(
        printed.contains("log in first") && printed.contains("sh"),
        "{printed}"
    );
}

#[tokio::test]
async fn a_plugin_that_is_missing_or_says_nothing_tells_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    for (exec, expected) in [
        (
            "{command: /nowhere/plugin, installHint: get it at example.com}",
            "get it at example.com",
        ),
        ("{command: /nowhere/plugin}", "install it"),
        ("{command: 'true'}", "printed no ExecCredential"),
        (
            "{command: echo, args: ['{\"status\": {\"clientKeyData\": \"hunter2\"}}']}",
            "printed no ExecCredential",
        ),
        (
            "{command: echo, args: ['{\"status\": {\"clientCertificateData\": \"x\", \"clientKeyData\": \"hunter2\"}}']}",
            "returned a certificate that cannot be used",
        ),
        ("{command: 'false'}", "log in again"),
    ] {
        let users = format!("users: [{{name: jane, user: {{exec: {exec}}}}}]");
        let file = config(folder.path(), "a", &format!("{WHOLE}{users}"));
        let printed = proof(&[file]).await;
        assert!(printed.contains(expected), "{exec}: {printed}");
        assert!(!printed.contains("hunter2"), "{printed}");
    }
}

#[tokio::test]
async fn a_plugin_that_wants_to_know_is_told_its_cluster() {
    let folder = tempfile::tempdir().unwrap();
    let cluster = "clusters: [{name: x, cluster: {server: 'https://k', certificate-authority: no.pem, extensions: [{name: client.authentication.k8s.io/exec, extension: {audience: a}}]}}]\n";
    let script = "echo \"{\\\"status\\\": {\\\"token\\\": \\\"$(printf %s \"$KUBERNETES_EXEC_INFO\" | base64 -w0)\\\"}}\"";
    for (wants, expected) in [
        (false, None),
        (
            true,
            Some(serde_json::json!({"server": "https://k", "config": {"audience": "a"}})),
        ),
    ] {
        let exec = serde_json::json!({"command": "sh", "args": ["-c", script], "provideClusterInfo": wants});
        let users = format!("users: [{{name: jane, user: {{exec: {exec}}}}}]");
        let file = config(folder.path(), "a", &format!("{WHOLE}{cluster}{users}"));
        let printed = STANDARD.decode(proof(&[file]).await).unwrap();
        let printed: Value = serde_json::from_slice(&printed).unwrap();
        assert_eq!(
            printed["spec"].get("cluster"),
            expected.as_ref(),
            "{printed}"
        );
    }
}

#[tokio::test]
async fn what_holds_no_token_says_so_and_quotes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = config(folder.path(), "a", "kind: Config\n");
    assert_eq!(proof(&[file]).await, "nobody");
    for (user, expected) in [
        ("{}", "\"jane\" has no token"),
        (
            "{client-certificate-data: aHVudGVyMg==}",
            "its key is missing",
        ),
        (
            "{client-key-data: aHVudGVyMg==}",
            "a key, but no certificate",
        ),
        (
            "{client-certificate-data: hunter2!, client-key-data: aHVudGVyMg==}",
            "client-certificate-data is not PEM in base64",
        ),
        (
            "{client-certificate-data: aHVudGVyMg==, client-key-data: aHVudGVyMg==}",
            "it contains no certificate",
        ),
        (
            "{client-certificate: nowhere.pem, client-key: nowhere.key}",
            "nowhere.pem",
        ),
        (
            "{token: hunter2, as: admin}",
            "impersonates \"admin\" (as), which a manager does not support",
        ),
    ] {
        let users = format!("users: [{{name: jane, user: {user}}}]");
        let file = config(folder.path(), "b", &format!("{WHOLE}{users}"));
        let printed = proof(&[file]).await;
        assert!(printed.contains(expected), "{user}: {printed}");
        assert!(!printed.contains("hunter2"), "{printed}");
    }
    let file = config(folder.path(), "c", "users: {hunter2: 1}\n");
    assert!(proof(&[file]).await.ends_with("it is not a kubeconfig"));
}
