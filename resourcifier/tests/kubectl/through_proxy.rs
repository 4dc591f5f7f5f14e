//! What `kubectl proxy` adds of its own.

use super::*;

/// A kubectl that writes down which process it is.
fn noting(folder: &Path, kubectl: &Path) -> PathBuf {
    let program = folder.join("kubectl");
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = proxy ] && echo $$ > {}\nexec {} \"$@\"\n",
        folder.join("pid").display(),
        kubectl.display()
    );
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, Permissions::from_mode(0o700)).unwrap();
    program
}

fn noted(folder: &Path) -> Pid {
    let text = std::fs::read_to_string(folder.join("pid")).unwrap();
    Pid::from_raw(text.trim().parse().unwrap())
}

#[tokio::test]
async fn many_calls_at_once_all_end() {
    let (cluster, namespace) = through_proxy("many").await;
    let kubectl = cluster.acting_for(Caller::itself(), Arc::new(Gate::open()));
    let maps: Vec<Value> = (0..200)
        .map(|n| map_in(&namespace, &format!("many-{n}")))
        .collect();
    let calls = maps.iter().map(|map| kubectl.apply(map, by("dm-a"), LONG));
    let outcomes = futures::future::join_all(calls).await;
    assert!(outcomes.iter().all(Result::is_ok));
}

/// The manager of the first job gave no sign of life yet.
#[tokio::test]
async fn writes_that_wait_for_their_manager_keep_nobody_else_waiting() {
    let (cluster, namespace) = through_proxy("waiting").await;
    let other = cluster
        .clone()
        .acting_for(Caller::itself(), Arc::new(Gate::open()));
    let map = map_in(&namespace, "other");
    // Afterwards, a write needs no discovery.
    other.apply(&map, by("dm-a"), LONG).await.unwrap();
    let silent = Arc::new(Gate::leased(2 * LONG));
    let waiting = cluster.acting_for(Caller::itself(), silent.clone());
    let maps: Vec<Value> = (0..100)
        .map(|n| map_in(&namespace, &format!("waiting-{n}")))
        .collect();
    let calls = maps
        .iter()
        .map(|map| waiting.apply(map, by("dm-a"), 2 * LONG));
    let mut waiting = std::pin::pin!(futures::future::join_all(calls));
    assert!(futures::poll!(waiting.as_mut()).is_pending());
    let applied = other.apply(&map, by("dm-a"), LONG).await;
    assert!(applied.is_ok(), "{applied:?}");
    silent.halt(Halt::Superseded);
    let outcomes = waiting.await;
    let is_superseded = |outcome| matches!(outcome, &Err(KubectlError::Halted(Halt::Superseded)));
    assert!(outcomes.iter().all(is_superseded), "{outcomes:?}");
}

#[tokio::test]
async fn a_proxy_that_dies_is_started_again_unseen_and_ends_with_its_owner() {
    let folder = tempfile::tempdir().unwrap();
    let control_plane = ControlPlane::shared().await.unwrap();
    let settings = settings(control_plane);
    let program = noting(folder.path(), &settings.program);
    let kubectl = ThroughProxy::new(Settings {
        program,
        ..settings
    })
    .unwrap();
    kubectl.kinds().await.unwrap();
    let first = noted(folder.path());
    kill(first, Signal::SIGKILL).unwrap();
    let calls = (0..8).map(|_| kubectl.kinds());
    futures::future::try_join_all(calls).await.unwrap();
    let second = noted(folder.path());
    assert_ne!(first, second);
    kubectl.stop().await;
    assert!(kubectl.kinds().await.is_err());
    e2e::until("the proxy to end", LONG, || async {
        let stat = std::fs::read_to_string(format!("/proc/{second}/stat")).unwrap_or_default();
        anyhow::ensure!(stat.is_empty() || stat.contains(") Z "), "{stat}");
        Ok(())
    })
    .await
    .unwrap();
}

/// Each call of the port that reaches objects, by somebody who may do nothing.
#[tokio::test]
async fn every_call_reaches_the_api_server_in_the_callers_name() {
    let (cluster, namespace) = through_proxy("caller").await;
    let world = World::new(cluster, namespace);
    let map = world.map("mine", json!({"a": "1"}));
    world.apply(&map).await;
    let (id, kind) = (object_ref(&map), world.kind("ConfigMap").await);
    let hers = world.acting_for(&identity("jane", &[]));
    let page = PageRequest {
        limit: 1,
        after: None,
    };
    let log = Log {
        namespace: &world.namespace,
        pod: "p",
        container: "c",
        lines: 1,
        previous: false,
    };
    let patch = json!({"metadata": {"labels": {"part-of": null}}});
    let how = PatchOptions {
        manager: "dm-a",
        precondition: Precondition::None,
    };
    let query = world.query(&kind);
    let errors = [
        ("get", hers.get(&id, LONG).await.err()),
        ("list", hers.list(query, page, LONG).await.err()),
        ("watch", hers.watch(query, "1", LONG).await.err()),
        ("patch", hers.apply(&map, by("dm-a"), LONG).await.err()),
        (
            "delete",
            hers.delete(&id, delete_of(None), LONG).await.err(),
        ),
        ("patch", hers.patch(&id, &patch, how, LONG).await.err()),
        ("create", hers.try_create(&map, "dm-a", LONG).await.err()),
        ("get pods/log", hers.log(log, LONG).await.err()),
        ("list events", hers.events(&id, None, LONG).await.err()),
    ];
    for (verb, error) in errors {
        let error = error.unwrap();
        assert_eq!(error.fault(), Some(ObjectFault::Forbidden), "{error}");
        let expected = format!("forbidden: jane may not {verb}");
        assert!(error.to_string().starts_with(&expected), "{error}");
    }
    assert_eq!(world.live(&map).await.unwrap()["data"]["a"], "1");
}

#[tokio::test]
async fn a_callers_groups_count_and_all_of_a_token_comes_back_as_it_is() {
    let (cluster, namespace) = through_proxy("identity").await;
    let control_plane = ControlPlane::shared().await.unwrap();
    let world = World::new(cluster, namespace.clone());
    let in_namespace = ["--namespace", &namespace];
    let grant = [
        "create",
        "rolebinding",
        "team",
        "--clusterrole=edit",
        "--group=Team Ünion",
    ];
    control_plane
        .kubectl(&[&grant[..], &in_namespace].concat())
        .unwrap();
    let hers = world.acting_for(&identity("jane", &["Team Ünion"]));
    let map = world.map("m", json!({}));
    hers.apply(&map, by("dm-a"), LONG).await.unwrap();
    let make = ["create", "token", "default", "--audience=dm"];
    let token = control_plane
        .kubectl(&[&make[..], &in_namespace].concat())
        .unwrap();
    let review = |audience: &str| TokenReview {
        token: Secret::new(token.trim()),
        audiences: vec![audience.to_owned()],
    };
    let verdict = world.cluster.review_token(&review("dm"), LONG).await;
    let bearer = verdict.unwrap().identity.unwrap();
    let expected = format!("system:serviceaccount:{namespace}:default");
    assert_eq!(bearer.user(), expected);
    let error = world.acting_for(&bearer).get(&object_ref(&map), LONG).await;
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains(&format!("{expected} may not get")),
        "{error}"
    );
    let verdict = world.cluster.review_token(&review("others"), LONG).await;
    assert!(!verdict.unwrap().authenticated);
}

#[tokio::test]
async fn a_secrets_values_are_in_no_error() {
    let (cluster, namespace) = through_proxy("secret").await;
    let kubectl = cluster.acting_for(Caller::itself(), Arc::new(Gate::open()));
    let secret = |data: Value| json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": namespace}, "type": "kubernetes.io/tls", "stringData": data});
    for data in [
        json!({"tls.crt": "hunter2!"}),
        json!({"tls.crt": 271828182}),
        json!({"hunter2! no key": "x"}),
    ] {
        let error = kubectl
            .apply(&secret(data), by("dm-a"), LONG)
            .await
            .unwrap_err();
        assert!(!error.to_string().contains("271828182"), "{error}");
        assert!(error.to_string().contains("ecret"), "{error}");
    }
}

#[tokio::test]
async fn an_api_server_that_is_away_is_told_with_its_cause() {
    let folder = tempfile::tempdir().unwrap();
    let kubeconfig = folder.path().join("kubeconfig");
    let away = json!({"apiVersion": "v1", "kind": "Config", "current-context": "c", "users": [{"name": "u", "user": {"token": "t"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}], "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]});
    std::fs::write(&kubeconfig, away.to_string()).unwrap();
    let control_plane = ControlPlane::shared().await.unwrap();
    let away = Settings {
        kubeconfig: Some(kubeconfig),
        ..settings(control_plane)
    };
    let nowhere = Settings {
        context: Some("nowhere".to_owned()),
        ..away.clone()
    };
    let missing = Settings {
        program: "/no/kubectl".into(),
        ..away.clone()
    };
    for (settings, part) in [
        (away, "connection refused"),
        (nowhere, "context \"nowhere\" does not exist"),
        (missing, "--kubectl"),
    ] {
        let kubectl = ThroughProxy::new(settings).unwrap();
        let error = kubectl.kinds().await.unwrap_err();
        assert!(
            error.is_transient() && error.to_string().contains(part),
            "{error}"
        );
    }
}
