//! Deployment Manager installs itself, and then looks after its own installation.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use e2e::program::path_of;
use e2e::{Stack, until};
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(60);
const IMAGE: &str = "deployment-manager:test";
const SERVICES: [&str; 3] = ["expandybird", "manager", "resourcifier"];

/// A kubectl that finds the tests' cluster by itself, as a user's does.
fn kubectl(stack: &Stack) -> Result<String> {
    let script = format!(
        "#!/bin/sh\nKUBECONFIG='{}' exec '{}' \"$@\"\n",
        stack.cluster.kubeconfig().display(),
        stack.cluster.kubectl_path().display()
    );
    let path = stack.write("kubectl", &script)?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
    Ok(path.display().to_string())
}

/// Waits for pods: the namespace admits only those that keep the restricted standard, so none would come otherwise.
async fn all_pods_run(stack: &Stack, namespace: &str) -> Result<()> {
    until("the pods of all three services", PATIENCE, || async {
        let pods = stack.cluster.objects(namespace, "deployments")?;
        let ready: Vec<_> = pods
            .iter()
            .map(|deployment| deployment["status"]["readyReplicas"].as_u64())
            .collect();
        ensure!(ready == [Some(2), Some(1), Some(2)], "{ready:?}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn an_installation_runs_is_repeated_without_harm_and_is_taken_over_by_the_system_itself()
-> Result<()> {
    let stack = Stack::start().await?;
    let namespace = format!("{}-own", stack.namespace);
    let kubectl = kubectl(&stack)?;
    let install = [
        "install",
        "--image",
        IMAGE,
        "--name",
        "own",
        "--namespace",
        &namespace,
        // The cluster's own roles are every test's.
        "--properties",
        "user_roles=false",
        "--apply",
        "--kubectl",
        &kubectl,
    ];
    stack.dm.ok(&install).await?;
    all_pods_run(&stack, &namespace).await?;
    // That they run says something: others are refused there.
    let plain = ["run", "plain", "--image=none", "--dry-run=server"];
    let refused = stack
        .cluster
        .kubectl(&[&plain[..], &["--namespace", &namespace]].concat());
    let refused = refused.err().context("a plain pod is admitted")?;
    ensure!(refused.to_string().contains("violates PodSecurity"));
    let accounts = stack.cluster.names(&namespace, "serviceaccounts")?;
    for service in SERVICES {
        assert!(accounts.contains(&format!("own-{service}")), "{accounts:?}");
    }

    let key = [
        "get",
        "secret",
        "own-key",
        "--namespace",
        &namespace,
        "-o",
        "jsonpath={.data.key}",
    ];
    let before = stack.cluster.kubectl(&key)?;
    let said = stack.dm.ok(&install).await?;
    assert!(
        said.contains("secret/own-key exists and stays as it is"),
        "{said}"
    );
    assert_eq!(stack.cluster.kubectl(&key)?, before);

    let image = format!("image={IMAGE},user_roles=false,replicas=3");
    let deploy = [
        "deploy",
        "deployment-manager:v1",
        "--name",
        "own",
        "--namespace",
        &namespace,
        "--properties",
        &image,
    ];
    stack.dm.ok(&deploy).await?;
    let deployments = stack.cluster.objects(&namespace, "deployments")?;
    let replicas = deployments.first().context("no Deployment")?["spec"]["replicas"].as_u64();
    assert_eq!(
        replicas,
        Some(3),
        "what was installed was taken over, and changed"
    );

    stack.dm.ok(&["delete", "own"]).await?;
    assert_eq!(
        stack.cluster.names(&namespace, "persistentvolumeclaims")?,
        ["own-store"],
        "what is deployed is known from the store only"
    );
    stack
        .cluster
        .kubectl(&["delete", "namespace", &namespace, "--wait=false"])?;
    Ok(())
}

#[tokio::test]
async fn what_is_printed_is_what_kubectl_takes_and_holds_no_secret_if_that_is_asked() -> Result<()>
{
    let stack = Stack::start().await?;
    let namespace = format!("{}-printed", stack.namespace);
    let install = [
        "install",
        "--image",
        IMAGE,
        "--name",
        "printed",
        "--namespace",
        &namespace,
    ];
    let all = stack.dm.ok(&install).await?;
    for kind in [
        "Namespace",
        "Secret",
        "ConfigMap",
        "Deployment",
        "Service",
        "NetworkPolicy",
        "PodDisruptionBudget",
        "ClusterRole",
    ] {
        assert!(all.contains(&format!("\nkind: {kind}\n")), "{kind}");
    }
    let without = stack
        .dm
        .ok(&[&install[..], &["--without-secrets"]].concat())
        .await?;
    assert!(!without.contains("\nkind: Secret\n") && !without.contains("PRIVATE KEY"));

    let file = stack.write("all.yaml", &all)?;
    let file = file.display().to_string();
    stack
        .cluster
        .kubectl(&["create", "namespace", &namespace])?;
    // A dry run checks every object against its schema and the cluster's admission.
    let said =
        stack
            .cluster
            .kubectl(&["apply", "--server-side", "--dry-run=server", "-f", &file])?;
    assert!(
        said.contains("deployment.apps/printed-manager serverside-applied"),
        "{said}"
    );
    stack
        .cluster
        .kubectl(&["delete", "namespace", &namespace, "--wait=false"])?;
    Ok(())
}

/// All that an operator may set of the manager, each at a value of its own.
const SET: &str = r#"
user_roles: false
replicas: 3
manager:
  storage: 50Gi
  registry_ports: [443, 5000]
  cluster_ports: [8443]
  private_registries: true
  registry_authority: "-----BEGIN CERTIFICATE-----\nr\n-----END CERTIFICATE-----\n"
  registry_refresh: 5m
  operation_timeout: 20m
  drift_interval: 10m
  trusted_proxies: [10.0.0.1]
  limits:
    caller_reads: 101
    caller_writes: 102
    caller_requests: 103
    caller_streams: 104
    max_connections: 105
    max_requests: 106
    max_deployments: 107
    max_deployment_size: 108
    operations_at_once: 109
    operations_waiting: 110
    keep_manifests: 111
  accept_loss: loss-0123456789abcdef
  identity:
    cluster_audiences: [own]
    tokens_secret: tokens
    client_authority: "-----BEGIN CERTIFICATE-----\nc\n-----END CERTIFICATE-----\n"
    system_names: ["system:masters"]
    oidc:
      issuer: https://id.example.com
      audiences: [own]
      username_claim: email
      username_prefix: "-"
      groups_claim: groups
      groups_prefix: "id:"
      authority: "-----BEGIN CERTIFICATE-----\ni\n-----END CERTIFICATE-----\n"
  policy:
    bindings:
    - {role: edit, groups: [developers], namespaces: [shop]}
"#;

#[tokio::test]
async fn what_an_operator_sets_is_the_managers_flags_and_files_and_the_cluster_takes_it()
-> Result<()> {
    let stack = Stack::start().await?;
    let namespace = format!("{}-set", stack.namespace);
    let kubectl = kubectl(&stack)?;
    stack.write("set.yaml", SET)?;
    let install = [
        "install",
        "--image",
        IMAGE,
        "--name",
        "set",
        "--namespace",
        &namespace,
        "--properties-file",
        "set.yaml",
        "--apply",
        "--kubectl",
        &kubectl,
    ];
    stack.dm.ok(&install).await?;
    let deployments = stack.cluster.objects(&namespace, "deployments")?;
    let manager = deployments
        .iter()
        .find(|found| found["metadata"]["name"] == "set-manager")
        .context("no manager")?;
    let args = &manager["spec"]["template"]["spec"]["containers"][0]["args"];
    let args: Vec<String> = serde_json::from_value(args.clone())?;
    let help = std::process::Command::new(path_of("manager")?)
        .arg("--help")
        .output()?;
    let help = String::from_utf8(help.stdout)?;
    for arg in &args {
        let flag = arg.split('=').next().unwrap_or_default();
        let known = [" ", "\n"]
            .iter()
            .any(|end| help.contains(&format!("{flag}{end}")));
        ensure!(known, "manager has no {flag}");
    }
    for expected in [
        "--caller-reads=101",
        "--max-deployment-size=108",
        "--operations-at-once=109",
        "--operations-waiting=110",
        "--keep-manifests=111",
        "--accept-loss=loss-0123456789abcdef",
        "--drift-interval=10m",
        "--audit-log=-",
        "--allow-private-registries",
        "--registry-ca=/settings/registries.pem",
        "--auth-cluster",
        "--auth-tokens=/tokens/tokens",
        "--client-ca=/settings/clients.pem",
        "--auth-client-certs",
        "--auth-allow-system=system:masters",
        "--auth-oidc-issuer=https://id.example.com",
        "--auth-oidc-username-prefix=-",
        "--auth-oidc-ca=/settings/issuer.pem",
        "--auth-policy=/settings/policy.yaml",
    ] {
        ensure!(args.contains(&expected.to_owned()), "{expected}: {args:?}");
    }
    ensure!(!args.contains(&"--auth-rbac".to_owned()), "{args:?}");
    let settings = [
        "get",
        "configmap",
        "set-settings",
        "--namespace",
        &namespace,
    ];
    let settings = stack
        .cluster
        .kubectl(&[&settings[..], &["-o", "jsonpath={.data.policy\\.yaml}"]].concat())?;
    ensure!(settings.contains("developers"), "{settings}");
    let policies = stack.cluster.objects(&namespace, "networkpolicies")?;
    let policies = policies
        .iter()
        .filter(|one| one["metadata"]["name"] == "set-manager");
    let egress = policies.flat_map(|one| one["spec"]["egress"].as_array().cloned());
    let to_clusters = json!({"ports": [{"port": 8443, "protocol": "TCP"}]});
    let rules: Vec<Value> = egress.flatten().collect();
    ensure!(rules.contains(&to_clusters), "{rules:?}");
    let claim = stack
        .cluster
        .objects(&namespace, "persistentvolumeclaims")?;
    assert_eq!(claim[0]["spec"]["resources"]["requests"]["storage"], "50Gi");

    // What could let nobody in, and what there is not, is refused before anything is made.
    for (properties, expected) in [
        (
            "manager.identity.cluster=false",
            "no way to say who somebody is",
        ),
        ("manager.limits.caller_read=1", "caller_read"),
        (
            "manager.identity.oidc.issuer=http://id.example.com",
            "issuer",
        ),
    ] {
        let install = ["install", "--image", IMAGE, "--properties", properties];
        let said = stack.dm.run(&install).await?;
        let reported = said.code != 0 && said.stderr.contains(expected);
        ensure!(reported, "{properties}: {said:?}");
    }
    stack
        .cluster
        .kubectl(&["delete", "namespace", &namespace, "--wait=false"])?;
    Ok(())
}

/// The managers' own etcd: three members, three managers, and jobs that look after the members.
#[tokio::test]
async fn three_managers_come_with_an_etcd_whose_certificates_are_of_one_authority() -> Result<()> {
    let stack = Stack::start().await?;
    let namespace = format!("{}-several", stack.namespace);
    let kubectl = kubectl(&stack)?;
    let install = |properties: &'static str| {
        let target = ["install", "--image", IMAGE, "--name", "own", "--apply"];
        let further = ["--properties", properties, "--kubectl", &kubectl];
        let all = [&target[..], &["--namespace", &namespace], &further].concat();
        all.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let run = async |arguments: Vec<String>| {
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        stack.dm.ok(&arguments).await
    };
    run(install("user_roles=false")).await?;
    let mut several = install("user_roles=false,managers=3");
    let arguments: Vec<_> = several.iter().map(String::as_str).collect();
    let refused = stack.dm.run(&arguments).await?;
    ensure!(
        refused.code == 2 && refused.stderr.contains("--replace-certificates"),
        "{refused:?}"
    );
    several.push("--replace-certificates".to_owned());
    let said = run(several).await?;
    for step in [
        "moves the state of its volume into etcd",
        "deployment \"own-manager\" successfully rolled out",
        "deployment.apps \"own-manager\" deleted",
    ] {
        ensure!(said.contains(step), "{step}: {said}");
    }
    let deployments = stack.cluster.names(&namespace, "deployments")?;
    assert_eq!(deployments, ["own-expandybird", "own-resourcifier"]);
    let claims = stack.cluster.names(&namespace, "persistentvolumeclaims")?;
    ensure!(claims.contains(&"own-store".to_owned()), "{claims:?}");
    until("three managers and three members", PATIENCE, || async {
        let sets = stack.cluster.objects(&namespace, "statefulsets")?;
        let ready: Vec<_> = sets
            .iter()
            .map(|set| set["status"]["readyReplicas"].as_u64())
            .collect();
        ensure!(ready == [Some(3), Some(3)], "{ready:?}");
        Ok(())
    })
    .await?;
    let authorities = ["etcd", "manager", "resourcifier"].map(|service| {
        let secret = format!("own-{service}-certificate");
        let field = "jsonpath={.data.ca\\.crt}";
        let get = [
            "get",
            "secret",
            &secret,
            "--namespace",
            &namespace,
            "-o",
            field,
        ];
        stack.cluster.kubectl(&get)
    });
    let authorities: Vec<String> = authorities.into_iter().collect::<Result<_>>()?;
    ensure!(authorities.windows(2).all(|pair| pair[0] == pair[1]));
    assert_eq!(
        stack.cluster.names(&namespace, "cronjobs")?,
        ["own-etcd-defragmentation", "own-etcd-snapshots"]
    );
    let args = manager_args(&stack, &namespace)?;
    for expected in [
        format!("--advertise=https://$(POD_NAME).own-managers.{namespace}.svc:8080"),
        "--store-ca=/etcd/ca.crt".to_owned(),
    ] {
        ensure!(args.contains(&expected), "{expected}: {args:?}");
    }
    stack
        .cluster
        .kubectl(&["delete", "namespace", &namespace, "--wait=false"])?;
    Ok(())
}

/// That etcd has certificates already, so those of the services stay.
#[tokio::test]
async fn one_manager_moves_into_an_etcd_that_is_there_with_the_certificates_that_it_has()
-> Result<()> {
    let stack = Stack::start().await?;
    let namespace = format!("{}-moved", stack.namespace);
    let kubectl = kubectl(&stack)?;
    let run = async |properties: &[&str]| {
        let target = ["install", "--image", IMAGE, "--name", "own", "--apply"];
        let place = ["--namespace", &namespace, "--kubectl", &kubectl];
        let all = [&target[..], &place, properties].concat();
        stack.dm.ok(&all).await
    };
    let authority = || {
        let get = ["get", "configmap", "own-ca", "--namespace", &namespace];
        let field = ["-o", "jsonpath={.data.ca\\.crt}"];
        stack.cluster.kubectl(&[&get[..], &field].concat())
    };
    run(&["--properties", "user_roles=false"]).await?;
    let before = authority()?;
    let etcd = json!({"endpoints": ["https://etcd.example.com:2379"], "secret": "theirs"});
    let properties = json!({"user_roles": false, "managers": 3, "etcd": etcd}).to_string();
    stack.write("several.yaml", &properties)?;
    let said = run(&["--properties-file", "several.yaml"]).await?;
    ensure!(
        said.contains("moves the state of its volume into etcd"),
        "{said}"
    );
    assert_eq!(authority()?, before);
    assert_eq!(
        stack.cluster.names(&namespace, "statefulsets")?,
        ["own-manager"]
    );
    stack
        .cluster
        .kubectl(&["delete", "namespace", &namespace, "--wait=false"])?;
    Ok(())
}

/// As an installation that looks after itself does it.
#[tokio::test]
async fn two_updates_of_the_chart_move_the_state_of_one_manager_into_etcd() -> Result<()> {
    let stack = Stack::start().await?;
    let apply = async |further: &str| {
        let properties = format!("image={IMAGE},user_roles=false{further}");
        let template = ["apply", "deployment-manager:v1", "--name", "own"];
        let target = ["--namespace", &stack.namespace, "--set", &properties];
        let apply = [template, target].concat();
        stack.dm.ok(&apply).await
    };
    let args = || -> Result<Vec<String>> {
        let deployments = stack.cluster.objects(&stack.namespace, "deployments")?;
        let mut found = deployments.iter();
        let manager = found.find(|one| one["metadata"]["name"] == "own-manager");
        let pod = &manager.context("no manager")?["spec"]["template"]["spec"];
        Ok(serde_json::from_value(
            pod["containers"][0]["args"].clone(),
        )?)
    };
    apply("").await?;
    ensure!(args()?.contains(&"--store=sled:/data/store".to_owned()));
    apply(",managers=3,etcd.move_from_volume=true").await?;
    let (found, namespace) = (args()?, &stack.namespace);
    for expected in [
        "--store-from=sled:/data/store".to_owned(),
        format!("--advertise=https://mover.own-managers.{namespace}.svc:8080"),
    ] {
        ensure!(found.contains(&expected), "{expected}: {found:?}");
    }
    apply(",managers=3,etcd.move_from_volume=false").await?;
    let deployments = stack.cluster.names(&stack.namespace, "deployments")?;
    assert_eq!(deployments, ["own-expandybird", "own-resourcifier"]);
    let sets = stack.cluster.names(&stack.namespace, "statefulsets")?;
    assert_eq!(sets, ["own-etcd", "own-manager"]);
    let claims = stack
        .cluster
        .names(&stack.namespace, "persistentvolumeclaims")?;
    ensure!(
        claims.contains(&"own-store".to_owned()),
        "the old state is kept: {claims:?}"
    );
    Ok(())
}

fn manager_args(stack: &Stack, namespace: &str) -> Result<Vec<String>> {
    let sets = stack.cluster.objects(namespace, "statefulsets")?;
    let managers = sets
        .iter()
        .find(|found| found["metadata"]["name"] == "own-manager")
        .context("no managers")?;
    let args = &managers["spec"]["template"]["spec"]["containers"][0]["args"];
    Ok(serde_json::from_value(args.clone())?)
}
