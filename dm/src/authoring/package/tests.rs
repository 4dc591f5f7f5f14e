//! What is expected of a version's folder.

use std::path::{Path, PathBuf};

use minisign::KeyPair;
use tempfile::TempDir;

use super::signer::{SignError, Signer};
use super::{CheckError, CheckedVersion, Signature, seal};

const GOOD: &[(&str, &str)] = &[
    ("web.py", "def generate_config(context): return {}"),
    (
        "web.py.schema",
        "imports: [{path: lib/help.py}]\nproperties: {n: {type: integer}}\n",
    ),
    ("lib/help.py", "help = 1"),
    ("example.yaml", "resources: [{name: a, type: 'web:v1.0'}]\n"),
];

fn written(folder: &str, files: &[(&str, &str)]) -> (TempDir, PathBuf) {
    let root = tempfile::tempdir().unwrap();
    let at = root.path().join(folder);
    for (path, content) in files {
        let place = at.join(path);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::write(place, content).unwrap();
    }
    (root, at)
}

fn faults(at: &Path) -> String {
    match CheckedVersion::read(at, Signature::Kept).unwrap_err() {
        CheckError::Faulty { faults, .. } => faults.join("\n"),
        error => panic!("{error}"),
    }
}

#[test]
fn a_version_as_it_must_be_is_a_package() {
    let (_root, at) = written("web/v1.0.1", GOOD);
    let package = CheckedVersion::read(&at, Signature::Kept).unwrap();
    assert_eq!(package.reference(), "web:v1.0.1");
    let paths: Vec<_> = package.files.keys().map(|path| path.as_str()).collect();
    assert_eq!(
        paths,
        ["example.yaml", "lib/help.py", "web.py", "web.py.schema"]
    );
    assert!(!package.is_signed());
}

#[test]
fn every_fault_is_told_and_all_of_them_together() {
    let files = [
        ("web.py", ""),
        (
            "web.py.schema",
            "imports: [{path: gone.py}, {path: ../out.py}, {path: /etc/passwd}]",
        ),
        ("example.yaml", "resources: [{name: a, type: 'web:v2'}]\n"),
        (".hidden", ""),
    ];
    let (_root, at) = written("web/1.0", &files);
    std::os::unix::fs::symlink("web.py", at.join("link.py")).unwrap();
    let faults = faults(&at);
    for expected in [
        "\"1.0\" is not a version",
        "'gone.py' is not in the folder",
        "'..'",
        "relative",
        ".hidden",
        "link.py",
    ] {
        assert!(faults.contains(expected), "{expected} is not in: {faults}");
    }
}

#[test]
fn a_version_has_exactly_one_template_that_is_called_as_its_folder() {
    for (files, expected) in [
        (&[("web.py", ""), ("web.jinja", "")][..], "exactly one"),
        (&[("other.jinja", "")][..], "there is only other.jinja"),
        (&[("example.yaml", "resources: []")][..], "web.py or web."),
    ] {
        let (_root, at) = written("web/v1", files);
        let faults = faults(&at);
        assert!(faults.contains(expected), "{expected} is not in: {faults}");
    }
    let (_root, at) = written("a b/v1", &[("a b.py", "")]);
    assert!(faults(&at).contains("cannot stand in a reference"));
}

#[test]
fn kubernetes_objects_as_they_are_are_a_package_too() {
    const CHART: (&str, &str) = ("Chart.yaml", "name: web\nversion: 1.0.1");
    const OBJECT: (&str, &str) = (
        "manifests/a.yaml",
        "{apiVersion: v1, kind: Secret, metadata: {name: a}}",
    );
    let (_root, at) = written("web/v1.0.1", &[CHART, OBJECT]);
    let package = CheckedVersion::read(&at, Signature::Kept).unwrap();
    assert_eq!(package.reference(), "web:v1.0.1");
    for (files, expected) in [
        (&[CHART][..], "no manifests"),
        (&[("Chart.yaml", "version: 1.0.2"), OBJECT], "v1.0.2"),
        (
            &[CHART, ("manifests/a.yaml", "a: 1")],
            "a.yaml:1 is not a Kubernetes object",
        ),
        (
            &[CHART, OBJECT, ("example.yaml", "resources: []")],
            "no resource of type web",
        ),
    ] {
        let (_root, at) = written("web/v1.0.1", files);
        let faults = faults(&at);
        assert!(faults.contains(expected), "{expected} is not in: {faults}");
    }
}

#[test]
fn a_helm_chart_is_published_with_its_hidden_files() {
    const TEMPLATE: (&str, &str) = ("templates/a.yaml", "kind: {{ .Values.kind }}");
    let files = [
        ("Chart.yaml", "name: web\nversion: 1.0.1"),
        ("values.yaml", "kind: Secret"),
        (".helmignore", "*.md"),
        TEMPLATE,
    ];
    let (_root, at) = written("web/v1.0.1", &files);
    let package = CheckedVersion::read(&at, Signature::Kept).unwrap();
    let paths: Vec<_> = package.files.keys().map(|path| path.as_str()).collect();
    assert_eq!(
        paths,
        [
            ".helmignore",
            "Chart.yaml",
            "templates/a.yaml",
            "values.yaml"
        ]
    );
    for (chart, expected) in [
        ("name: web\nversion: 1.0.2", "its folder is for v1.0.1"),
        ("name: shop\nversion: 1.0.1", "its folder is 'web'"),
        ("name: web", "it has no version"),
    ] {
        let (_root, at) = written("web/v1.0.1", &[("Chart.yaml", chart), TEMPLATE]);
        let faults = faults(&at);
        assert!(faults.contains(expected), "{expected} is not in: {faults}");
    }
}

#[test]
fn a_schema_that_cannot_be_read_is_told_with_its_place() {
    for (schema, expected) in [
        ("a: [", "web.py.schema:"),
        ("[a]", "a schema must be a map"),
        ("imports: [help.py]", "{path: FILE}"),
        ("a: 1\na: 2", "web.py.schema:"),
    ] {
        let (_root, at) = written(
            "web/v1",
            &[GOOD[0], ("web.py.schema", schema), GOOD[2], GOOD[3]],
        );
        let faults = faults(&at);
        assert!(faults.contains(expected), "{expected} is not in: {faults}");
    }
}

#[test]
fn the_example_is_a_configuration_that_uses_the_very_version() {
    for (example, expected) in [
        (None, "it is missing"),
        (Some("resources: {}"), "not a configuration"),
        (
            Some("resources: [{name: a, type: Service}]"),
            "none of its resources",
        ),
        (
            Some("resources: [{name: a, type: 'web:v1.1'}]"),
            "a different version",
        ),
        (
            Some("imports: [{path: gone.yaml}]\nresources: [{name: a, type: 'web:v1'}]"),
            "gone.yaml",
        ),
    ] {
        let mut files = GOOD[..3].to_vec();
        files.extend(example.map(|example| ("example.yaml", example)));
        let (_root, at) = written("web/v1", &files);
        let faults = faults(&at);
        assert!(faults.contains(expected), "{expected} is not in: {faults}");
    }
    for good in [
        "resources: [{name: a, type: 'github.com/o/r/web:v1.0.7'}]",
        "imports: [{path: web.py}]\nresources: [{name: a, type: web.py}]",
        "imports: [{path: web.py, name: w}]\nresources: [{name: a, type: w}]",
    ] {
        let files = [GOOD[0], GOOD[1], GOOD[2], ("example.yaml", good)];
        let (_root, at) = written("web/v1", &files);
        assert!(CheckedVersion::read(&at, Signature::Kept).is_ok(), "{good}");
    }
}

#[test]
fn what_is_signed_is_every_file_of_the_version_and_a_change_afterwards_is_told() {
    let (root, at) = written("web/v1.0.1", GOOD);
    let pair = KeyPair::generate_unencrypted_keypair().unwrap();
    let key = root.path().join("key");
    std::fs::write(&key, pair.sk.to_box(None).unwrap().to_bytes()).unwrap();
    let signer = Signer::open(&key, false).unwrap();
    let mut package = CheckedVersion::read(&at, Signature::Replaced).unwrap();
    seal(&mut package, &signer).unwrap();
    let file = |name: &str| {
        let mut files = package.files.iter();
        let content = files.find(|(path, _)| path.as_str() == name).unwrap().1;
        String::from_utf8(content.clone()).unwrap()
    };
    let (list, signature) = (file("SHA256SUMS"), file("SHA256SUMS.minisig"));
    assert!(list.contains("  web/v1.0.1/lib/help.py\n"), "{list}");
    assert_eq!(list.lines().count(), GOOD.len());
    let signature = minisign::SignatureBox::from_string(&signature).unwrap();
    let reader = std::io::Cursor::new(list.as_bytes());
    minisign::verify(&pair.pk, &signature, reader, true, false, false).unwrap();

    std::fs::write(at.join("SHA256SUMS.minisig"), "").unwrap();
    assert!(faults(&at).contains("SHA256SUMS that it signs is missing"));
    std::fs::write(at.join("SHA256SUMS"), &list).unwrap();
    assert!(
        CheckedVersion::read(&at, Signature::Kept)
            .unwrap()
            .is_signed()
    );
    std::fs::write(at.join("web.py"), "changed").unwrap();
    assert!(faults(&at).contains("'web/v1.0.1/web.py' was changed"));
    std::fs::write(at.join("more.py"), "").unwrap();
    assert!(CheckedVersion::read(&at, Signature::Replaced).is_ok());
}

/// As `minisign -G -W` of 0.11 makes them, with the public key below.
const BARE: &str = "untrusted comment: minisign encrypted secret key
RWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAtBv8+etHbWQe8PwzssYtZin51UCySqNDRZAKtZbEGiTcZ+3hDpguqhFp4ngtOS2cGDeoLQeC1jwECCfdE2lzJDFdQmBbTDKgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=
";
const BARE_PUBLIC: &str = "RWS0G/z560dtZBFp4ngtOS2cGDeoLQeC1jwECCfdE2lzJDFdQmBbTDKg";

#[test]
fn a_key_that_minisign_made_without_a_password_signs_and_one_that_is_damaged_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key");
    std::fs::write(&key, BARE).unwrap();
    let signature = Signer::open(&key, false)
        .unwrap()
        .sign(b"list", "web:v1")
        .unwrap();
    let signature = minisign::SignatureBox::from_string(&signature).unwrap();
    let public = minisign::PublicKey::from_base64(BARE_PUBLIC).unwrap();
    let list = std::io::Cursor::new(b"list");
    minisign::verify(&public, &signature, list, true, false, false).unwrap();

    for (whole, damaged) in [("/ngtOS2c", "/ngtOS2d"), ("8PwzssYt", "8PwzssYu")] {
        let text = BARE.replace(&whole[1..], &damaged[1..]);
        assert_ne!(text, BARE);
        std::fs::write(&key, text).unwrap();
        let opened = Signer::open(&key, false);
        assert!(matches!(opened, Err(SignError::Damaged(_))));
    }
}

#[test]
fn what_is_no_secret_key_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key");
    std::fs::write(&key, "untrusted comment: k\nRWQf6LRC\n").unwrap();
    let opened = Signer::open(&key, false);
    assert!(matches!(opened, Err(SignError::NoKey(_))));
    let gone = Signer::open(&folder.path().join("gone"), false);
    assert!(matches!(gone, Err(SignError::Unreadable { .. })));
}
