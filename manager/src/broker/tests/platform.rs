//! A platform that repeats, races and abandons requests, and a manager that dies in between, at random.
//!
//! proptest shrinks what fails, and prints it with its seed: `PROPTEST_RNG_SEED` runs it again, `PROPTEST_CASES` runs more.

use std::collections::{BTreeMap, VecDeque};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use super::*;
use crate::testing::DyingKv;

const INSTANCES: u8 = 3;
const BINDINGS: u8 = 2;
/// What a platform may be answered. 503: the manager dies.
const KNOWN: [u16; 10] = [200, 201, 202, 400, 404, 409, 410, 422, 500, 503];

#[derive(Debug, Clone, Copy)]
enum Request {
    Provision(u8, &'static str),
    Update(u8, u8),
    Deprovision(u8, &'static str),
    Bind(u8, u8, &'static str),
    Unbind(u8, u8, &'static str),
    Poll(u8),
}

#[derive(Debug, Clone, Copy)]
enum Move {
    Send(Request),
    /// Both at once.
    Race(Request, Request),
    /// The platform does not wait for the answer.
    Abandon(Request),
}

fn request() -> impl Strategy<Value = Request> {
    let plan = || prop::sample::select(vec!["p", "later", "broken", "refused"]);
    let bindable = || prop::sample::select(vec!["p", "later"]);
    let (instance, binding) = (0..INSTANCES, 0..BINDINGS);
    prop_oneof![
        3 => (instance.clone(), plan()).prop_map(|(i, plan)| Request::Provision(i, plan)),
        1 => (instance.clone(), 0u8..4).prop_map(|(i, size)| Request::Update(i, size)),
        1 => (instance.clone(), bindable()).prop_map(|(i, plan)| Request::Deprovision(i, plan)),
        2 => (instance.clone(), binding.clone(), bindable())
            .prop_map(|(i, b, plan)| Request::Bind(i, b, plan)),
        1 => (instance.clone(), binding, bindable())
            .prop_map(|(i, b, plan)| Request::Unbind(i, b, plan)),
        1 => instance.prop_map(Request::Poll),
    ]
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        3 => request().prop_map(Move::Send),
        1 => (request(), request()).prop_map(|(one, other)| Move::Race(one, other)),
        1 => request().prop_map(Move::Abandon),
    ];
    vec(one, 1..20)
}

/// What the platform may rely on until it asks for something else.
#[derive(Default)]
struct Certain {
    instances: BTreeMap<u8, &'static str>,
    bindings: BTreeMap<(u8, u8), &'static str>,
}

impl Certain {
    /// Before the answer is known, nothing is certain that the request could change.
    fn ask(&mut self, request: Request) {
        match request {
            Request::Deprovision(i, _) => {
                self.instances.remove(&i);
                self.bindings.retain(|(of, _), _| *of != i);
            }
            Request::Unbind(i, b, _) => drop(self.bindings.remove(&(i, b))),
            _ => {}
        }
    }

    fn hear(&mut self, request: Request, status: u16) {
        match request {
            Request::Provision(i, plan) if matches!(status, 200 | 201) => {
                self.instances.insert(i, plan);
            }
            Request::Bind(i, b, plan) if matches!(status, 200 | 201) => {
                self.bindings.insert((i, b), plan);
            }
            _ => {}
        }
    }
}

/// A manager that is killed after some commits, and its successors.
struct World {
    bed: TestBed,
    /// The commits of each life but the last.
    lives: VecDeque<usize>,
    dying: Arc<DyingKv>,
    served: Served,
}

impl World {
    async fn new(lives: Vec<usize>) -> Self {
        let bed = bed();
        let mut lives = VecDeque::from(lives);
        let (dying, served) = next(&bed, &mut lives).await;
        Self {
            bed,
            lives,
            dying,
            served,
        }
    }

    /// The status of the answer. None: the manager died before.
    async fn send(&mut self, request: Request) -> Option<u16> {
        let status = tokio::select! {
            biased;
            () = self.dying.death() => None,
            status = sent(&self.served.broker, request) => Some(status),
        };
        self.survive(status).await
    }

    async fn race(&mut self, one: Request, other: Request) -> Option<(u16, u16)> {
        let broker = &self.served.broker;
        let both = async { tokio::join!(sent(broker, one), sent(broker, other)) };
        let statuses = tokio::select! {
            biased;
            () = self.dying.death() => None,
            statuses = both => Some(statuses),
        };
        self.survive(statuses).await
    }

    async fn abandon(&mut self, request: Request) {
        let broker = self.served.broker.clone();
        let alive = tokio::select! {
            biased;
            () = self.dying.death() => None,
            () = async {
                tokio::select! {
                    biased;
                    _ = sent(&broker, request) => {}
                    () = tokio::task::yield_now() => {}
                }
            } => Some(()),
        };
        self.survive(alive).await;
    }

    async fn survive<T>(&mut self, answered: Option<T>) -> Option<T> {
        if answered.is_none() {
            self.served.app.engine.suspend().await;
            (self.dying, self.served) = next(&self.bed, &mut self.lives).await;
        }
        answered
    }

    /// A manager that does not die, when nothing runs any more.
    async fn settle(&mut self) {
        self.served.app.engine.suspend().await;
        self.lives.clear();
        (self.dying, self.served) = next(&self.bed, &mut self.lives).await;
        for instance in 0..INSTANCES {
            self.idle(instance).await;
        }
    }

    /// Waits for the operation of an instance, and of its bindings.
    async fn idle(&self, instance: u8) {
        let (broker, id) = (&self.served.broker, format!("i{instance}"));
        let poll = Poll::default();
        while matches!(broker.poll_instance(&id, &poll).await, Ok(answer) if answer.is_unfinished) {
            tokio::task::yield_now().await;
        }
        for binding in 0..BINDINGS {
            let binding = format!("b{binding}");
            while matches!(broker.poll_binding(&id, &binding, &poll).await, Ok(answer) if answer.is_unfinished)
            {
                tokio::task::yield_now().await;
            }
        }
    }
}

/// The next life. A manager may die while it starts.
async fn next(bed: &TestBed, lives: &mut VecDeque<usize>) -> (Arc<DyingKv>, Served) {
    loop {
        let commits = lives.pop_front().unwrap_or(usize::MAX);
        let dying = DyingKv::after(commits, bed.kv.clone());
        if bed.try_manager_on(dying.clone()).await.is_err() {
            continue;
        }
        let served = Served::new(bed, dying.clone()).await;
        let recovering = async {
            let engine = served.app.engine.recover().await;
            engine.is_ok() && served.broker.recover().await.is_ok()
        };
        let is_up = tokio::select! {
            biased;
            () = dying.death() => false,
            is_up = recovering => is_up,
        };
        match is_up {
            true => return (dying, served),
            false => served.app.engine.suspend().await,
        }
    }
}

async fn sent(broker: &Broker, request: Request) -> u16 {
    let context = Context {
        accepts_incomplete: true,
        ..context()
    };
    let answered = match request {
        Request::Provision(i, plan) => {
            let body = body(plan, json!({"size": 2}));
            broker.provision(&format!("i{i}"), &context, &body).await
        }
        Request::Update(i, size) => {
            let body = map(json!({"service_id": "s", "parameters": {"size": size}}));
            broker.update(&format!("i{i}"), &context, &body).await
        }
        Request::Deprovision(i, plan) => {
            broker
                .deprovision(&format!("i{i}"), &context, &ids(plan))
                .await
        }
        Request::Bind(i, b, plan) => {
            let (i, b) = (format!("i{i}"), format!("b{b}"));
            broker.bind(&i, &b, &context, &body(plan, json!({}))).await
        }
        Request::Unbind(i, b, plan) => {
            let (i, b) = (format!("i{i}"), format!("b{b}"));
            broker.unbind(&i, &b, &context, &ids(plan)).await
        }
        Request::Poll(i) => {
            broker
                .poll_instance(&format!("i{i}"), &Poll::default())
                .await
        }
    };
    status(&answered)
}

async fn run(moves: &[Move], lives: Vec<usize>) -> Result<(), String> {
    let (mut world, mut certain) = (World::new(lives).await, Certain::default());
    for one in moves {
        let heard = match *one {
            Move::Send(request) => {
                certain.ask(request);
                let status = world.send(request).await;
                if let Some(status) = status {
                    certain.hear(request, status);
                }
                status.into_iter().collect()
            }
            Move::Race(first, second) => {
                certain.ask(first);
                certain.ask(second);
                let statuses = world.race(first, second).await;
                statuses.map_or(Vec::new(), |(one, other)| vec![one, other])
            }
            Move::Abandon(request) => {
                certain.ask(request);
                world.abandon(request).await;
                Vec::new()
            }
        };
        if let Some(status) = heard.iter().find(|status| !KNOWN.contains(status)) {
            return Err(format!("{one:?} was answered {status}"));
        }
    }
    world.settle().await;
    holds(&world, &certain).await?;
    ends(&world).await
}

/// What the platform may rely on is so.
async fn holds(world: &World, certain: &Certain) -> Result<(), String> {
    let broker = &world.served.broker;
    for (instance, plan) in &certain.instances {
        let fetched = broker.fetch_instance(&format!("i{instance}")).await;
        let fetched = fetched.map_err(|error| format!("instance {instance} is lost: {error}"))?;
        if fetched.body["plan_id"] != *plan {
            return Err(format!("instance {instance}: {}", fetched.body));
        }
    }
    for (instance, binding) in certain.bindings.keys() {
        let (i, b) = (format!("i{instance}"), format!("b{binding}"));
        let fetched = broker.fetch_binding(&i, &b).await;
        let fetched = fetched.map_err(|error| format!("binding {i} {b} is lost: {error}"))?;
        if fetched.body["credentials"]["password"] != "correct horse" {
            return Err(format!("binding {i} {b}: {}", fetched.body));
        }
    }
    Ok(())
}

/// Everything can be deleted, and then there is nothing.
async fn ends(world: &World) -> Result<(), String> {
    let served = &world.served;
    for instance in 0..INSTANCES {
        for plan in ["p", "later", "broken", "refused"] {
            sent(&served.broker, Request::Deprovision(instance, plan)).await;
            world.idle(instance).await;
        }
        let last = sent(&served.broker, Request::Deprovision(instance, "p")).await;
        if last != 410 {
            return Err(format!("instance {instance} cannot be deleted: {last}"));
        }
    }
    let (left, objects) = (served.deployments().await, world.bed.deployer.objects());
    if !left.is_empty() || !objects.is_empty() {
        return Err(format!("left over: {left:?} {objects:?}"));
    }
    let report = verify(&served.app.services.writes.store).await;
    let report = report.map_err(|error| error.to_string())?;
    match report.ok {
        true => Ok(()),
        false => Err(format!("{:?}", report.problems)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(12) })]

    #[test]
    fn whatever_a_platform_does_and_whenever_the_manager_dies_nothing_is_lost_and_nothing_left(
        moves in moves(),
        lives in vec(0usize..60, 0..5),
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime.unwrap();
        let outcome = runtime.block_on(run(&moves, lives));
        runtime.shutdown_background();
        outcome.map_err(TestCaseError::fail)?;
    }
}
