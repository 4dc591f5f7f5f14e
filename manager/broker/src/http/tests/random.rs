//! A platform that repeats, races and abandons requests, at random.

use std::collections::BTreeSet;

use super::*;

const ROUNDS: usize = 60;

/// One request of a platform that cares for nothing.
async fn anything(platform: &Platform, random: &mut fastrand::Rng) -> Reply {
    let plans = [
        "sync",
        "async",
        "broken",
        "broken-async",
        "dirty",
        "fixed",
        "text",
        "unbound",
    ];
    let plan = plans[random.usize(..plans.len())];
    let instance = format!("/v2/service_instances/{}", random.u8(..3));
    let binding = format!("{instance}/service_bindings/{}", random.u8(..2));
    let maybe = |random: &mut fastrand::Rng, path: &str| match random.u8(..4) {
        0 => path.to_owned(),
        _ => incomplete(path),
    };
    match random.u8(..9) {
        0 | 1 => {
            platform
                .put(&maybe(random, &instance), provision(plan))
                .await
        }
        2 => {
            let body = json!({"service_id": "s", "plan_id": plan, "parameters": {"size": random.u8(..12)}});
            platform.patch(&maybe(random, &instance), body).await
        }
        3 => {
            platform
                .delete(&maybe(random, &with_ids(&instance, plan)))
                .await
        }
        4 | 5 => platform.put(&maybe(random, &binding), bind(plan)).await,
        6 => {
            platform
                .delete(&maybe(random, &with_ids(&binding, plan)))
                .await
        }
        7 => platform.get(&format!("{instance}/last_operation")).await,
        _ => platform.get(&binding).await,
    }
}

/// Several requests at once, some of which the platform abandons.
async fn round(platform: &Platform, random: &mut fastrand::Rng) -> Vec<u16> {
    let mut statuses = Vec::new();
    let mut seeds = [random.fork(), random.fork(), random.fork()];
    let abandons = random.bool();
    let [first, second, third] = &mut seeds;
    let third = async {
        tokio::select! {
            biased;
            () = tokio::task::yield_now(), if abandons => None,
            reply = anything(platform, third) => Some(reply),
        }
    };
    let (first, second, third) =
        tokio::join!(anything(platform, first), anything(platform, second), third);
    statuses.extend([first.status, second.status]);
    statuses.extend(third.map(|reply| reply.status));
    statuses
}

#[actix_web::test]
async fn whatever_a_platform_does_every_deployment_belongs_to_a_record_and_can_be_deleted() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let known = BTreeSet::from([200, 201, 202, 400, 404, 409, 410, 422, 500]);
    for _ in 0..8 {
        let platform = Platform::new();
        for _ in 0..ROUNDS {
            for status in round(&platform, &mut random).await {
                assert!(known.contains(&status), "seed {seed}: {status}");
            }
        }
        let broker = platform.broker.clone();
        broker.recover().await.unwrap();
        for id in 0..3 {
            let path = format!("/v2/service_instances/{id}");
            let poll = format!("{path}/last_operation");
            platform.ended(&poll).await;
            let Some(stored) = platform.backend.stored_instance(&id.to_string()) else {
                continue;
            };
            let (plan, path) = (&stored.current.plan_id, incomplete(&path));
            let reply = platform
                .delete(&format!("{path}&service_id=s&plan_id={plan}"))
                .await;
            assert!(
                [200, 202, 410].contains(&reply.status),
                "seed {seed}: {reply:?}"
            );
            assert_eq!(platform.ended(&poll).await.status, 410, "seed {seed}");
        }
        let left = platform.backend.deployments();
        assert!(left.is_empty(), "seed {seed}: {left:?}");
    }
}
