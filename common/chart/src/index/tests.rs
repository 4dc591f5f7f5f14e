//! Indexes as repositories write them, and as they should not.

use super::*;

const INDEX: &str = "\
apiVersion: v1
entries:
  web:
  - apiVersion: v2
    created: 2024-01-01T00:00:00Z
    dependencies:
    - {name: db, repository: 'https://h/c', version: 1.x}
    description: |
      version: 9.9.9
    digest: 0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef
    name: web
    urls:
    - https://files.example.com/web-1.2.0.tgz
    - https://mirror.example.com/web-1.2.0.tgz
    version: 1.2.0
  - urls: [web-1.1.0.tgz]
    version: \"1.1.0\"
  - {version: not a version, urls: [x.tgz]}
  - {version: 1.0.0, urls: []}
  -
  db: []
  old:
generated: 2024-01-01T00:00:00Z
";

fn read(text: &str) -> Result<Index, IndexError> {
    Index::read(text.as_bytes())
}

fn versions(index: &Index, chart: &str) -> Vec<(String, String)> {
    let versions = index.versions(chart).iter();
    versions
        .map(|one| (one.version.clone(), one.url.clone()))
        .collect()
}

#[test]
fn what_leads_to_an_archive_is_kept_and_unusable_entries_are_skipped() {
    let index = read(INDEX).unwrap();
    assert_eq!(index.charts().collect::<Vec<_>>(), ["web"]);
    assert_eq!(
        versions(&index, "web"),
        [
            (
                "1.2.0".to_owned(),
                "https://files.example.com/web-1.2.0.tgz".to_owned()
            ),
            ("1.1.0".to_owned(), "web-1.1.0.tgz".to_owned()),
        ]
    );
    let digest = index.versions("web")[0].digest.as_deref();
    assert_eq!(
        digest,
        Some("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef")
    );
    assert_eq!(index.versions("other"), []);
}

#[test]
fn an_index_in_json_is_the_same_one() {
    let text = r#"{"apiVersion": "v1", "generated": "x", "entries": {"old": null, "web": [null,
        {"name": "web", "version": "1.2.0", "urls": ["a.tgz"], "keywords": [["deep"]]}]}}"#;
    let index = read(text).unwrap();
    assert_eq!(
        versions(&index, "web"),
        [("1.2.0".to_owned(), "a.tgz".to_owned())]
    );
}

#[test]
fn what_is_no_index_is_refused_with_the_reason() {
    let deep = format!("apiVersion: v1\nx: {}", "[".repeat(101));
    for (text, reason) in [
        ("", "empty"),
        ("# nothing\n", "empty"),
        ("- a", "a map"),
        ("<html><body>404</body></html>", "a map"),
        ("entries: {}", "no API version"),
        ("apiVersion: ''\nentries: {}", "no API version"),
        ("apiVersion: v1\nentries: [1]", "a map"),
        ("apiVersion: v1\nentries: {a: [", "line"),
        ("apiVersion: v1\n? [a]\n: b", "a map"),
        ("{\"apiVersion\": \"v1\", \"entries\": 7}", "line 1"),
        (&deep, "levels"),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains(reason), "{text:.60}: {error}");
    }
    assert_eq!(Index::read(b"\xff"), Err(IndexError::NotText));
}

#[test]
fn an_index_of_many_megabytes_keeps_little() {
    let noise = "x".repeat(2_000);
    let mut text = "apiVersion: v1\nentries:\n".to_owned();
    for chart in 0..100 {
        text.push_str(&format!("  chart-{chart}:\n"));
        for version in 0..50 {
            text.push_str(&format!(
                "  - version: 1.{version}.0\n    description: {noise}\n    urls: [a-{chart}-{version}.tgz]\n"
            ));
        }
    }
    assert!(text.len() > 10_000_000);
    let index = read(&text).unwrap();
    assert_eq!(index.charts().count(), 100);
    let kept = index.charts.values().flatten();
    let bytes: usize = kept.map(|one| one.version.len() + one.url.len()).sum();
    assert!(bytes < 200_000, "{bytes}");
    let too_large = " ".repeat(INDEX_BYTES + 1);
    assert!(matches!(
        read(&too_large),
        Err(IndexError::TooLarge { what: "bytes", .. })
    ));
}
