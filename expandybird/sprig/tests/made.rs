//! Values that are made once.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test ends where it fails"
)]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use expandybird_gotemplate::budget::Limits;
use expandybird_gotemplate::function_table::FunctionTable;
use expandybird_gotemplate::value::Value;
use expandybird_gotemplate::{Options, Session, Set, execute};
use expandybird_sprig::made::{Host, Values};
use jiff::Timestamp;

/// What a deployment keeps.
#[derive(Clone, Default)]
struct Store(Rc<RefCell<BTreeMap<String, String>>>);

/// One run on it.
struct Run {
    store: Store,
    random: fastrand::Rng,
    time: Timestamp,
}

impl Values for Run {
    fn kept(&self, name: &str) -> Option<String> {
        self.store.0.borrow().get(name).cloned()
    }

    fn random(&mut self, _: &str, bytes: &mut [u8]) {
        self.random.fill(bytes);
    }

    fn time(&self) -> Timestamp {
        self.time
    }

    fn used(&mut self, name: &str, value: &str, _: bool) {
        let mut store = self.store.0.borrow_mut();
        store.insert(name.to_owned(), value.to_owned());
    }
}

fn rendered(store: &Store, seed: u64, templates: &[(&str, &str)]) -> Result<String, String> {
    let table = FunctionTable::default().with(&expandybird_sprig::functions());
    let mut set = Set::new("t", Arc::new(table), Options::default());
    for (name, text) in templates {
        set.parse(name, *text).map_err(|error| error.to_string())?;
    }
    let host = Host::new(Box::new(Run {
        store: store.clone(),
        random: fastrand::Rng::with_seed(seed),
        time: Timestamp::from_second(1_700_000_000 + i64::try_from(seed).unwrap()).unwrap(),
    }));
    let mut session = Session::new(Limits::default(), host);
    let name = templates.first().unwrap().0;
    let output = execute(&set, &mut session, name, &Value::default());
    let output = output.map_err(|error| error.to_string())?;
    Ok(String::from_utf8(output).expect("texts are UTF-8"))
}

const ALL: &str = r#"{{ randAlphaNum 16 }} {{ randAlpha 3 }} {{ randNumeric 9 }} {{ randAscii 20 | b64enc }} {{ randBytes 12 }}
{{ randInt -5 100 }} {{ uuidv4 }} {{ shuffle "abcdefgh" }} {{ genPrivateKey "ed25519" }} {{ bcrypt "x" }} {{ now }} {{ ago 0 }}
{{ (genCAWithKey "x" 9 (genPrivateKey "ecdsa")).Cert }} {{ encryptAES "a" "b" }} {{ date "2006-01-02T15:04:05" "now" }}"#;

#[test]
fn a_later_run_gives_the_values_of_the_first() {
    let store = Store::default();
    let first = rendered(&store, 1, &[("t", ALL)]).unwrap();
    assert_eq!(rendered(&store, 2, &[("t", ALL)]).unwrap(), first);
    let other = rendered(&Store::default(), 2, &[("t", ALL)]).unwrap();
    assert_ne!(other, first);
}

#[test]
fn the_same_random_bytes_give_the_same_values() {
    let run = || rendered(&Store::default(), 3, &[("t", ALL)]).unwrap();
    assert_eq!(run(), run());
}

#[test]
fn equal_calls_have_values_of_their_own() {
    let made = rendered(
        &Store::default(),
        1,
        &[("t", "{{ randAlpha 30 }} {{ randAlpha 30 }}")],
    );
    let made = made.unwrap();
    let (one, other) = made.split_once(' ').unwrap();
    assert_ne!(one, other);
}

#[test]
fn a_call_is_found_again_by_its_template_and_its_arguments() {
    let store = Store::default();
    let first = rendered(
        &store,
        1,
        &[
            ("t", r#"{{ template "a" }} {{ randAlpha 8 }}"#),
            ("a", "{{ randAlpha 8 }}"),
        ],
    );
    let first = first.unwrap();
    let (of_a, own) = first.split_once(' ').unwrap();
    let templates = [
        (
            "t",
            r#"{{ randNumeric 8 }} {{ randAlpha 8 }} {{ template "a" }}"#,
        ),
        ("a", "{{ randAlpha 8 }}"),
    ];
    let later = rendered(&store, 2, &templates).unwrap();
    assert!(
        later.ends_with(&format!(" {own} {of_a}")),
        "{later} after {first}"
    );
}

#[test]
fn a_name_has_no_secret_argument() {
    let store = Store::default();
    rendered(
        &store,
        1,
        &[(
            "t",
            r#"{{ bcrypt "a password" }} {{ htpasswd "me" "a password" }}"#,
        )],
    )
    .unwrap();
    let names: Vec<_> = store.0.borrow().keys().cloned().collect();
    assert_eq!(names.len(), 2);
    assert!(
        !names
            .iter()
            .any(|name| name.contains("password\"") || name.contains("a password")),
        "{names:?}"
    );
}

#[test]
fn a_run_makes_few_slow_values() {
    let many = r#"{{ range until 30 }}{{ genPrivateKey "ed25519" }}{{ end }}"#;
    let error = rendered(&Store::default(), 1, &[("t", many)]).unwrap_err();
    assert!(error.contains("more than 20 keys"), "{error}");
}

#[test]
fn a_run_makes_no_more_values_than_a_manifest_holds() {
    let many = "{{ range until 20000 }}{{ randAlpha 1 }}{{ end }}";
    let error = rendered(&Store::default(), 1, &[("t", many)]).unwrap_err();
    assert!(error.contains("more than 10000 random values"), "{error}");
}

#[test]
fn lengths_are_bounded_before_anything_is_made() {
    for call in [
        "randAlphaNum 2000000000",
        "randBytes 2000000000",
        "randAscii 9000000000000",
    ] {
        let error = rendered(&Store::default(), 1, &[("t", &format!("{{{{ {call} }}}}"))]);
        error.unwrap_err();
    }
    assert_eq!(
        rendered(&Store::default(), 1, &[("t", "{{ randAlpha -1 }}")]).unwrap(),
        ""
    );
}

#[test]
fn random_numbers_stay_in_their_range() {
    let many = "{{ range until 200 }}{{ randInt 3 6 }}{{ end }}";
    let made = rendered(&Store::default(), 7, &[("t", many)]).unwrap();
    let mut found: Vec<_> = made.chars().collect();
    found.sort_unstable();
    found.dedup();
    assert_eq!(found, ['3', '4', '5']);
    let error = rendered(&Store::default(), 1, &[("t", "{{ randInt 3 3 }}")]).unwrap_err();
    assert!(
        error.ends_with("error calling randInt: invalid argument to Intn"),
        "{error}"
    );
}
