//! Following an operation: what is shown, and what happens when the connection or the user breaks it off.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use dm::ExitCode;
use nix::pty::{Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::stand_in::{End, Manager, deployment, event, operation};

/// Where a terminal's screen is cleared.
const CLEARED: &str = "\u{1b}[2J";
/// On a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

fn resource(name: &str, state: &str, more: Value) -> Value {
    let mut report = json!({"name": name, "type": "Deployment", "state": state,
        "object": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "default", "name": name}});
    report
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    report
}

fn waiting() -> Value {
    resource("web", "APPLIED", json!({"reason": "0 of 3 pods are ready"}))
}

fn ready() -> Value {
    resource("web", "READY", json!({"action": "CREATED"}))
}

/// Its operation runs; its deployment is there.
fn manager() -> Manager {
    Manager::start(&[
        ("GET /operations/op-1", 200, operation("CREATE", "RUNNING")),
        ("GET /deployments/web", 200, deployment("Deployed", &[])),
    ])
}

#[actix_web::test]
async fn each_change_of_a_resource_is_a_line() {
    let manager = manager();
    let events = [
        event(1, "operation", &operation("CREATE", "RUNNING")),
        event(2, "resource", &waiting()),
        event(3, "resource", &waiting()),
        event(4, "unheard-of", &json!({})),
        event(5, "resource", &ready()),
        event(6, "operation", &operation("CREATE", "DONE")),
    ];
    manager.will_stream(events.concat(), End::Whole);
    let said = manager.dm(&["wait", "op-1"]).await;
    assert_eq!(said.code, ExitCode::Done, "{said:?}");
    insta::assert_snapshot!(said.stderr, @r"
    create web: applying
    create web: Deployment web: waiting: 0 of 3 pods are ready
    create web: Deployment web: ready (created)
    create web: 1 created
    ");
}

#[actix_web::test]
async fn a_connection_that_breaks_is_taken_up_after_the_last_event() {
    let manager = manager();
    manager.will_stream(event(2, "resource", &waiting()), End::Whole);
    manager.will_stream(String::new(), End::Cut);
    let rest = [
        event(2, "resource", &waiting()),
        event(3, "resource", &ready()),
        event(4, "operation", &operation("CREATE", "DONE")),
    ];
    manager.will_stream(rest.concat(), End::Whole);
    let said = manager.dm(&["wait", "op-1"]).await;
    assert_eq!(said.code, ExitCode::Done, "{said:?}");
    assert_eq!(said.stderr.matches("0 of 3 pods").count(), 1, "{said:?}");
    let last: Vec<_> = manager
        .asked()
        .into_iter()
        .filter(|request| request.asked.ends_with("/events"))
        .map(|request| request.last_event_id)
        .collect();
    assert_eq!(
        last,
        [None, Some("run-2".to_owned()), Some("run-2".to_owned())]
    );
}

#[actix_web::test]
async fn an_end_that_no_event_told_of_is_seen_all_the_same() {
    let manager = manager();
    manager.now_answers("GET /operations/op-1", operation("CREATE", "DONE"));
    manager.will_stream(String::new(), End::Cut);
    manager.will_stream(String::new(), End::Cut);
    let said = manager.dm(&["wait", "op-1"]).await;
    assert_eq!(said.code, ExitCode::Done, "{said:?}");
}

/// `dm` as a process; all that it writes goes to a terminal.
struct OnTerminal {
    process: Child,
    screen: File,
}

impl OnTerminal {
    fn start(manager: &Manager, args: &[&str]) -> Self {
        Self::of_width(100, manager, args)
    }

    fn of_width(columns: u16, manager: &Manager, args: &[&str]) -> Self {
        let size = Winsize {
            ws_row: 24,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        let pty = openpty(Some(&size), None).unwrap();
        let slave: OwnedFd = pty.slave;
        let process = Command::new(env!("CARGO_BIN_EXE_dm"))
            .args(args)
            .args(["--service", &manager.url])
            .env("TERM", "xterm")
            .env_remove("NO_COLOR")
            .stdin(Stdio::null())
            .stdout(slave.try_clone().unwrap())
            .stderr(slave)
            .spawn()
            .unwrap();
        let screen = File::from(pty.master);
        Self { process, screen }
    }

    /// Reads on until the screen has shown this.
    async fn shows(&mut self, expected: &str) -> String {
        let mut screen = self.screen.try_clone().unwrap();
        let expected = expected.to_owned();
        let read = actix_web::rt::task::spawn_blocking(move || {
            let (mut shown, mut byte) = (Vec::new(), [0]);
            while !String::from_utf8_lossy(&shown).contains(&expected) {
                match screen.read(&mut byte) {
                    Ok(1) => shown.push(byte[0]),
                    // The last writer is gone.
                    _ => break,
                }
            }
            String::from_utf8_lossy(&shown).into_owned()
        });
        let read = tokio::time::timeout(PATIENCE, read).await;
        read.unwrap().unwrap()
    }

    fn interrupt(&self) {
        let pid = Pid::from_raw(self.process.id().try_into().unwrap());
        kill(pid, Signal::SIGINT).unwrap();
    }

    fn ends(mut self) -> Option<i32> {
        self.process.wait().unwrap().code()
    }
}

impl Drop for OnTerminal {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[actix_web::test]
async fn an_interrupt_stops_following_and_says_how_to_go_on() {
    let manager = manager();
    let mut dm = OnTerminal::start(&manager, &["wait", "op-1"]);
    dm.shows("applying").await;
    dm.interrupt();
    let shown = dm.shows("dm stop web").await;
    for part in ["operation op-1 goes on", "dm wait op-1", "dm stop web"] {
        assert!(shown.contains(part), "{part} is not in\n{shown}");
    }
    assert_eq!(dm.ends(), Some(130));
}

#[actix_web::test]
async fn on_a_terminal_a_bar_says_how_far_it_is_and_what_it_waits_for() {
    let manager = manager();
    let events = [
        event(1, "operation", &operation("CREATE", "RUNNING")),
        event(
            2,
            "resource",
            &resource("db", "READY", json!({"action": "CONFIGURED"})),
        ),
        event(3, "resource", &waiting()),
    ];
    manager.will_stream(events.concat(), End::Silence);
    let mut dm = OnTerminal::start(&manager, &["wait", "op-1"]);
    let shown = dm.shows("Deployment web: ").await;
    for part in ["✓", "Deployment db: ready (updated)", "1/2"] {
        assert!(shown.contains(part), "{part} is not in\n{shown}");
    }
    dm.interrupt();
    assert_eq!(dm.ends(), Some(130));
}

#[actix_web::test]
async fn on_a_narrow_terminal_a_cause_is_shown_once_and_broken_between_words() {
    let manager = manager();
    let message = "resource web (Deployment default/web): the pod cannot pull its image from the registry of the team";
    let cause = json!({"code": "RESOURCES_FAILED", "message": message});
    let failed = resource("web", "FAILED", json!({"error": cause}));
    let mut ended = operation("CREATE", "DONE");
    ended["error"] = json!({"code": "RESOURCES_FAILED", "message": "1 of 1 resources failed: web", "causes": [cause]});
    let events = [
        event(1, "operation", &operation("CREATE", "RUNNING")),
        event(2, "resource", &failed),
        event(3, "operation", &ended),
    ];
    manager.will_stream(events.concat(), End::Whole);
    let mut dm = OnTerminal::of_width(40, &manager, &["wait", "op-1"]);
    let shown = dm.shows("dm delete web").await;
    assert_eq!(dm.ends(), Some(1));
    let expected = "\
  - resource web (Deployment
    default/web): the pod cannot pull
    its image from the registry of the
    team
";
    let shown = shown.replace('\r', "");
    assert!(shown.contains(expected), "{shown}");
    assert!(
        shown.contains("\u{1b}[31m✗\u{1b}[0m Deployment web: failed"),
        "{shown}"
    );
    assert_eq!(shown.matches("registry of the").count(), 1, "{shown}");
}

/// A page of live resources, with what a program gets to know of them.
fn live(names: &[&str], state: &str, next: Option<&str>) -> Value {
    let item = |name: &&str| {
        json!({"resource": name, "apiVersion": "v1", "kind": "Pod", "namespace": "default", "name": name,
            "uid": format!("uid-{name}"), "state": state})
    };
    json!({"items": names.iter().map(item).collect::<Vec<_>>(), "nextPageToken": next})
}

#[actix_web::test]
async fn a_watched_status_is_shown_anew_until_it_is_interrupted() {
    let page = "GET /deployments/web/resources?limit=5000";
    let manager = Manager::start(&[(page, 200, live(&["db"], "NOT_READY", None))]);
    let mut dm = OnTerminal::start(&manager, &["status", "web", "--watch"]);
    let first = dm.shows("not ready").await;
    assert!(first.contains(CLEARED) && first.contains("db"), "{first}");
    manager.now_answers(page, live(&["db"], "MISSING", None));
    let second = dm.shows("missing").await;
    assert!(second.contains(CLEARED), "{second}");
    dm.interrupt();
    assert_eq!(dm.ends(), None);
}

#[actix_web::test]
async fn a_watch_of_what_is_gone_ends_with_why() {
    let manager = Manager::start(&[]);
    let said = manager.dm(&["status", "web", "--watch"]).await;
    assert_eq!(said.code, ExitCode::NotFound, "{said:?}");
}

#[actix_web::test]
async fn a_status_has_all_pages() {
    let manager = Manager::start(&[
        (
            "GET /deployments/web/resources?limit=5000&drift=false",
            200,
            live(&["a"], "READY", Some("1")),
        ),
        (
            "GET /deployments/web/resources?limit=5000&pageToken=1&drift=false",
            200,
            live(&["b"], "READY", None),
        ),
    ]);
    let said = manager.dm(&["status", "web", "--no-drift"]).await;
    assert_eq!(said.code, ExitCode::Done, "{said:?}");
    assert_eq!(said.stdout.lines().count(), 3, "{said:?}");
}
