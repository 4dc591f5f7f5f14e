//! Which GitHub a definition means, and which definitions are refused.

use super::*;

fn definition(text: &str) -> RegistryDefinition {
    serde_json::from_str(text).unwrap()
}

fn github_location(text: &str) -> (String, String, String) {
    let definition = definition(text);
    match CheckedDefinition::new(&definition, &Options::default())
        .unwrap()
        .location
    {
        RegistryLocation::Github {
            api,
            owner,
            repository,
        } => (api, owner, repository),
        _ => panic!("not GitHub"),
    }
}

#[test]
fn github_is_the_public_one_or_an_enterprises_own() {
    for (text, api) in [
        (
            r#"{"type":"github","url":"https://github.com/o/r"}"#,
            "https://api.github.com",
        ),
        (
            r#"{"type":"github","url":"github.com/o/r"}"#,
            "https://api.github.com",
        ),
        (
            r#"{"type":"github","url":"https://ghe.corp/o/r.git"}"#,
            "https://ghe.corp/api/v3",
        ),
        (
            r#"{"type":"github","url":"https://ghe.corp/o/r","apiUrl":"https://api.ghe.corp/"}"#,
            "https://api.ghe.corp/",
        ),
    ] {
        let expected = (api.to_owned(), "o".to_owned(), "r".to_owned());
        assert_eq!(github_location(text), expected, "{text}");
    }
}

#[test]
fn what_cannot_be_a_registry_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("inside");
    std::fs::create_dir(&inside).unwrap();
    std::os::unix::fs::symlink("/etc", inside.join("link")).unwrap();
    let options = Options {
        registry_folder: Some(inside.clone()),
        ..Options::default()
    };
    for (text, reason) in [
        (r#"{"type":"directory","url":"/etc"}"#, "not below"),
        (r#"{"type":"directory","url":"link"}"#, "not below"),
        (r#"{"type":"directory","url":".."}"#, "not below"),
        (r#"{"type":"directory","url":"none"}"#, "cannot be opened"),
        (
            r#"{"type":"directory","url":".","credential":"c"}"#,
            "no credential",
        ),
        (r#"{"type":"directory","url":".","ref":"main"}"#, "ref"),
        (
            r#"{"type":"directory","url":".","collection":"a/b"}"#,
            "collection",
        ),
        (
            r#"{"type":"github","url":"https://github.com/o"}"#,
            "<owner>",
        ),
        (
            r#"{"type":"github","url":"https://t:x@github.com/o/r"}"#,
            "credentials",
        ),
        (
            r#"{"type":"github","url":"https://github.com/o/r?a"}"#,
            "'?'",
        ),
        (
            r#"{"type":"github","url":"ftp://github.com/o/r"}"#,
            "https://",
        ),
        (
            r#"{"type":"github","url":"github.com/o/r","ref":"--upload-pack=x"}"#,
            "branch",
        ),
        (
            r#"{"type":"github","url":"github.com/o/r","ref":"a..b"}"#,
            "branch",
        ),
        (
            r#"{"type":"github","url":"github.com/o/r","apiUrl":"x"}"#,
            "apiUrl",
        ),
    ] {
        let definition = definition(text);
        let error = CheckedDefinition::new(&definition, &options)
            .unwrap_err()
            .to_string();
        assert!(error.contains(reason), "{text}: {error}");
    }
    for bad in [
        "file:///etc",
        "ext::sh -c id",
        "/etc",
        "https://u:p@host/r",
        "ssh://-oProxyCommand=id/r",
        "-oProxyCommand=id@host:r",
        "https://host/r#x",
        "ssh://git@a$(id)/r",
        "ssh://a'b@host/r",
        "git://a;b/r",
    ] {
        assert!(git_url(bad).is_err(), "{bad}");
    }
    assert_eq!(
        git_url("git@host:o/r.git").unwrap().as_str(),
        "ssh://git@host/o/r.git"
    );
    let own = definition(r#"{"type":"directory","url":"."}"#);
    assert!(CheckedDefinition::new(&own, &options).is_ok());
    let error = CheckedDefinition::new(&own, &Options::default()).unwrap_err();
    assert!(error.to_string().contains("--registry-folder"), "{error}");
}
