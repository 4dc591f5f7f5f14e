//! Tokens of an OpenID Connect issuer, which is a small one on loopback: from `dm` to the API server.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Result, ensure};
use e2e::signer::{Signer, encoded, unsigned};
use e2e::{Loopback, Stack, until};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::configurations::{maps, pods};

/// New keys are looked for every ten seconds at most.
const SOON: Duration = Duration::from_secs(40);
pub const AUDIENCE: &str = "deployment-manager";

/// Answers with its discovery document, or its keys.
struct Idp {
    server: Loopback,
    keys: Arc<Mutex<Vec<Value>>>,
    /// How often its keys were asked for.
    asked: Arc<AtomicUsize>,
}

impl Idp {
    async fn start(first: &Signer) -> Result<Self> {
        let keys = Arc::new(Mutex::new(vec![first.jwk()]));
        let asked = Arc::new(AtomicUsize::new(0));
        let (held, counted) = (keys.clone(), asked.clone());
        let server = Loopback::serve(move |stream| {
            let keys = held.lock().unwrap_or_else(PoisonError::into_inner).clone();
            answer(stream, keys, counted.clone())
        })
        .await?;
        Ok(Self {
            server,
            keys,
            asked,
        })
    }

    fn url(&self) -> String {
        format!("http://{}", self.server.address())
    }

    fn claims(&self, changes: Value) -> Value {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let end = now.unwrap_or_default().as_secs() + 600;
        let mut claims = json!({"iss": self.url(), "aud": AUDIENCE, "sub": "dora", "groups": ["makers"], "exp": end});
        for (name, value) in changes.as_object().into_iter().flatten() {
            claims[name] = value.clone();
        }
        claims
    }
}

async fn answer(mut stream: TcpStream, keys: Vec<Value>, asked: Arc<AtomicUsize>) -> Result<()> {
    let own = stream.local_addr()?;
    let mut head = vec![0; 4096];
    let read = stream.read(&mut head).await?;
    let is_discovery = String::from_utf8_lossy(&head[..read]).contains("/.well-known/");
    let body = match is_discovery {
        true => {
            json!({"issuer": format!("http://{own}"), "jwks_uri": format!("http://{own}/keys")})
        }
        false => {
            asked.fetch_add(1, Ordering::Relaxed);
            json!({"keys": keys})
        }
    };
    let body = body.to_string();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).await?;
    Ok(())
}

/// Dora's group may make config maps in the namespace, and use Deployment Manager.
fn grant(stack: &Stack) -> Result<()> {
    let api = "rbac.authorization.k8s.io";
    let metadata = json!({"name": "makers", "namespace": stack.namespace});
    let verbs = ["get", "list", "create", "update", "patch", "delete"];
    let rule =
        |group, resource| json!({"apiGroups": [group], "resources": [resource], "verbs": verbs});
    let objects = json!({"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": format!("{api}/v1"), "kind": "Role", "metadata": metadata,
            "rules": [rule("", "configmaps"), rule("deploymentmanager", "deployments")]},
        {"apiVersion": format!("{api}/v1"), "kind": "RoleBinding", "metadata": metadata,
            "roleRef": {"apiGroup": api, "kind": "Role", "name": "makers"},
            "subjects": [{"apiGroup": api, "kind": "Group", "name": format!("{}:makers", stack.namespace)}]},
    ]});
    stack.cluster.apply(&objects.to_string())
}

fn flags(stack: &Stack, idp: &Idp) -> Vec<String> {
    let prefix = format!("{}:", stack.namespace);
    let flags = [
        ("--auth-oidc-issuer", idp.url()),
        ("--auth-oidc-audience", AUDIENCE.to_owned()),
        ("--auth-oidc-username-prefix", prefix.clone()),
        ("--auth-oidc-groups-claim", "groups".to_owned()),
        ("--auth-oidc-groups-prefix", prefix),
    ];
    let flags = flags
        .into_iter()
        .map(|(flag, value)| format!("{flag}={value}"));
    flags.chain(["--auth-rbac".to_owned()]).collect()
}

/// What is not a token of the issuer for this manager, however it looks.
fn bad(idp: &Idp, signer: &Signer) -> Result<Vec<(&'static str, String)>> {
    let good = idp.claims(json!({}));
    let stranger = Signer::new("first")?;
    let hs256 = json!({"alg": "HS256", "kid": signer.kid});
    let signed = unsigned(&hs256, &good);
    let public = signer.public();
    let by_public = ring::hmac::sign(
        &ring::hmac::Key::new(ring::hmac::HMAC_SHA256, public),
        signed.as_bytes(),
    );
    let none = json!({"alg": "none", "kid": signer.kid});
    Ok(vec![
        (
            "another audience",
            signer.token(&idp.claims(json!({"aud": "elsewhere"})))?,
        ),
        (
            "another issuer",
            signer.token(&idp.claims(json!({"iss": "https://elsewhere.example.com"})))?,
        ),
        (
            "over",
            signer.token(&idp.claims(json!({"exp": 1_000_000})))?,
        ),
        (
            "without an end",
            signer.token(&idp.claims(json!({"exp": null})))?,
        ),
        (
            "nobody's name",
            signer.token(&idp.claims(json!({"sub": ""})))?,
        ),
        ("alg none", format!("{}.", unsigned(&none, &good))),
        ("alg none with a signature", signer.token_of(&none, &good)?),
        (
            "HS256 by the public key",
            format!("{signed}.{}", encoded(by_public.as_ref())),
        ),
        ("another's key of the same name", stranger.token(&good)?),
        ("an unknown key", Signer::new("unknown")?.token(&good)?),
    ])
}

#[tokio::test]
async fn an_issuers_token_is_somebody_up_to_the_api_server_and_nothing_else_is() -> Result<()> {
    let stack = Stack::guarded().await?;
    grant(&stack)?;
    let first = Signer::new("first")?;
    let idp = Idp::start(&first).await?;
    let manager = stack.another_manager("oidc", &flags(&stack, &idp)).await?;
    let dm = stack.dm.at(manager.url());
    let dora = dm.with_token(first.token(&idp.claims(json!({})))?);
    let name = format!("{}:dora", stack.namespace);
    let known = dora.ok(&["whoami"]).await?;
    assert!(known.starts_with(&name), "{known}");
    let within = ["--namespace", &stack.namespace];
    stack.write("own.yaml", &maps(&["own"], "first"))?;
    let create = [&["deploy", "own.yaml"][..], &within].concat();
    until("the cluster to know what dora may", SOON, || async {
        dora.ok(&create).await
    })
    .await?;
    stack.write("app.yaml", &pods("app", "well", 1))?;
    let error = dora
        .fails(1, &[&["deploy", "app.yaml"][..], &within].concat())
        .await?;
    assert!(
        error.contains("deployments.apps") && error.contains(&name),
        "{error}"
    );

    for (what, token) in bad(&idp, &first)? {
        let error = dm.with_token(token.clone()).fails(1, &["whoami"]).await?;
        assert!(
            error.contains("not valid here") && !error.contains(&token),
            "{what}: {error}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn an_issuers_new_key_is_found_without_asking_for_every_name_and_its_absence_is_said()
-> Result<()> {
    let stack = Stack::guarded().await?;
    let (first, second) = (Signer::new("first")?, Signer::new("second")?);
    let idp = Idp::start(&first).await?;
    let manager = stack.another_manager("oidc", &flags(&stack, &idp)).await?;
    let dm = stack.dm.at(manager.url());
    let claims = idp.claims(json!({}));
    let by_first = dm.with_token(first.token(&claims)?);
    by_first.ok(&["whoami"]).await?;

    // Made-up names make nobody busy; a new key is found all the same.
    let before = idp.asked.load(Ordering::Relaxed);
    let made_up = dm.with_token(Signer::new("made-up")?.token(&claims)?);
    let begun = std::time::Instant::now();
    for _ in 0..20 {
        made_up.fails(1, &["whoami"]).await?;
    }
    let further = idp.asked.load(Ordering::Relaxed) - before;
    let allowed = usize::try_from(begun.elapsed().as_secs() / 10)? + 1;
    assert!(further <= allowed, "{further} in {:?}", begun.elapsed());
    idp.keys
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(second.jwk());
    let by_second = dm.with_token(second.token(&claims)?);
    until("the new key to be found", SOON, || async {
        by_second.ok(&["whoami"]).await
    })
    .await?;

    // Its keys go on counting while it is away; who never had them says that they cannot be had.
    let (address, of_idp) = (idp.server.address(), flags(&stack, &idp));
    drop(idp);
    by_first.ok(&["whoami"]).await?;
    until("the issuer to be away", SOON, || async {
        ensure!(
            TcpStream::connect(address).await.is_err(),
            "it still listens"
        );
        Ok(())
    })
    .await?;
    let late = stack.another_manager("late", &of_idp).await?;
    let error = by_first.at(late.url()).fails(5, &["whoami"]).await?;
    assert!(error.contains("cannot be checked now"), "{error}");
    let log = std::fs::read_to_string(late.log_path())?;
    assert!(log.contains("cannot be fetched"), "{log}");
    Ok(())
}
