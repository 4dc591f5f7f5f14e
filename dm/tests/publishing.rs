//! `dm publish` into folders and git repositories on disk: what is there afterwards, and what is refused.
#![expect(clippy::unwrap_used, reason = "a test ends where it fails")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// A folder with a template's version in it, and git's configuration for it alone.
struct Author(TempDir);

impl Author {
    fn new() -> Self {
        let author = Self(tempfile::tempdir().unwrap());
        author.write(
            "home/.gitconfig",
            "[user]\nname = Ada\nemail = ada@example.com\n[core]\nautocrlf = input\n",
        );
        author.version("v1.0.1", "one\r\n");
        author
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn write(&self, path: &str, content: &str) {
        let place = self.at(path);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::write(place, content).unwrap();
    }

    fn version(&self, version: &str, template: &str) {
        self.write(&format!("web/{version}/web.jinja"), template);
        let example = "resources: [{name: a, type: 'web:v1'}]\n";
        self.write(&format!("web/{version}/example.yaml"), example);
    }

    fn run(&self, program: &str, args: &[&str]) -> Output {
        Command::new(program)
            .args(args)
            .current_dir(self.0.path())
            .env("HOME", self.at("home"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap()
    }

    fn git(&self, args: &[&str]) -> String {
        let output = self.run("git", args);
        assert!(output.status.success(), "git {args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The exit code, and what was said.
    fn publish(&self, version: &str, more: &[&str]) -> (i32, String) {
        let folder = format!("web/{version}");
        let args = [&["publish", &folder], more].concat();
        let output = self.run(env!("CARGO_BIN_EXE_dm"), &args);
        let said = [output.stdout, output.stderr].concat();
        (
            output.status.code().unwrap(),
            String::from_utf8(said).unwrap(),
        )
    }

    fn bare(&self) -> String {
        self.git(&["init", "--quiet", "--bare", "-b", "main", "r.git"]);
        self.at("r.git").display().to_string()
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = folder.read_dir().unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_folder_gets_the_version_whole_and_once() {
    let author = Author::new();
    author.write("registry/README.md", "");
    let (code, said) = author.publish("v1.0.1", &["registry"]);
    assert_eq!((code, said.as_str()), (0, "web:v1.0.1 is published\n"));
    let there = author.at("registry/web/v1.0.1");
    assert_eq!(names(&there), ["example.yaml", "web.jinja"]);
    assert_eq!(names(&author.at("registry/web")), ["v1.0.1"]);
    let (code, said) = author.publish("v1.0.1", &["registry"]);
    assert_eq!(code, 0);
    assert!(said.contains("is already published"), "{said}");
    author.version("v1.0.1", "two");
    let (code, said) = author.publish("v1.0.1", &["registry"]);
    assert_eq!(code, 4, "{said}");
    assert!(said.contains("different content (web.jinja)"), "{said}");
    assert_eq!(
        std::fs::read_to_string(there.join("web.jinja")).unwrap(),
        "one\r\n"
    );
}

#[test]
fn a_helm_chart_is_published_and_not_compared() {
    let author = Author::new();
    author.write("registry/README.md", "");
    for version in ["1.1.0", "1.2.0"] {
        let chart = format!("name: web\nversion: {version}\n");
        author.write(&format!("web/v{version}/Chart.yaml"), &chart);
        author.write(&format!("web/v{version}/.helmignore"), "*.md\n");
        author.write(&format!("web/v{version}/templates/a.yaml"), "a: {{ 1 }}\n");
    }
    let (code, said) = author.publish("v1.1.0", &["registry"]);
    assert_eq!((code, said.as_str()), (0, "web:v1.1.0 is published\n"));
    let there = author.at("registry/web/v1.1.0");
    assert_eq!(names(&there), [".helmignore", "Chart.yaml", "templates"]);
    let (code, said) = author.publish("v1.2.0", &["registry"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("dm does not compare Helm charts"), "{said}");
}

#[test]
fn a_version_that_is_there_by_another_name_is_refused() {
    let author = Author::new();
    author.write("registry/web/v1/web.jinja", "");
    author.version("v1.0.0", "");
    let (code, said) = author.publish("v1.0.0", &["registry"]);
    assert_eq!(code, 4, "{said}");
    assert!(said.contains("already published as v1"), "{said}");
}

#[test]
fn a_collection_is_where_the_registrys_metadata_file_says() {
    let author = Author::new();
    author.write("registry/registry.yaml", "collections: {db: deep/er}");
    for (collection, folder) in [("db", "deep/er"), ("other", "other")] {
        let (code, said) = author.publish("v1.0.1", &["registry", "--collection", collection]);
        assert_eq!(code, 0, "{said}");
        let place = author
            .at("registry")
            .join(folder)
            .join("web/v1.0.1/web.jinja");
        assert!(place.is_file(), "{}", place.display());
    }
    let (code, said) = author.publish("v1.0.1", &["registry", "--collection", "a/b"]);
    assert_eq!(code, 2, "{said}");
}

#[test]
fn what_is_no_registry_is_not_made_one_and_what_is_no_version_is_not_published() {
    let author = Author::new();
    let (code, said) = author.publish("v1.0.1", &["gone"]);
    assert_eq!(code, 1, "{said}");
    assert!(!author.at("gone").exists());
    author.write("registry/README.md", "");
    author.write("web/v1.0.1/web.py", "");
    let (code, said) = author.publish("v1.0.1", &["registry"]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("exactly one template"), "{said}");
    assert_eq!(names(&author.at("registry")), ["README.md"]);
    let (code, said) = author.publish("v1.0.1", &["registry", "--ref", "main"]);
    assert_eq!(code, 1, "{said}");
}

#[test]
fn a_git_repository_gets_a_commit_with_the_files_as_they_are() {
    let author = Author::new();
    let bare = author.bare();
    let (code, said) = author.publish("v1.0.1", &[&bare]);
    assert_eq!(code, 0, "{said}");
    // An ignored file is published too, and line ends stay.
    author.git(&["clone", "--quiet", &bare, "work"]);
    author.write("work/.gitignore", "*.jinja\n");
    author.git(&["-C", "work", "add", "-A"]);
    author.git(&["-C", "work", "commit", "--quiet", "-m", "Ignore"]);
    author.git(&["-C", "work", "push", "--quiet"]);
    author.version("v1.0.2", "two\r\n");
    let (code, said) = author.publish("v1.0.2", &[&bare]);
    assert_eq!(code, 0, "{said}");
    let show = |file: &str| author.git(&["-C", &bare, "show", &format!("main:{file}")]);
    assert_eq!(show("web/v1.0.1/web.jinja"), "one\r\n");
    assert_eq!(show("web/v1.0.2/web.jinja"), "two\r\n");
    assert_eq!(show(".gitignore"), "*.jinja\n");
    let log = author.git(&["-C", &bare, "log", "-1", "--format=%an %s", "main"]);
    assert_eq!(log, "Ada Publish web:v1.0.2\n");
    let (code, said) = author.publish("v1.0.2", &[&bare]);
    assert!(code == 0 && said.contains("is already published"), "{said}");
    author.version("v1.0.2", "three");
    let (code, said) = author.publish("v1.0.2", &[&bare]);
    assert_eq!(code, 4, "{said}");
}

#[test]
fn of_a_git_repository_a_branch_can_be_chosen_and_what_is_none_is_named() {
    let author = Author::new();
    let bare = author.bare();
    author.publish("v1.0.1", &[&bare]);
    author.git(&["-C", &bare, "branch", "next", "main"]);
    author.git(&["-C", &bare, "tag", "released", "main"]);
    author.version("v1.0.2", "two");
    let (code, said) = author.publish("v1.0.2", &[&bare, "--ref", "next"]);
    assert_eq!(code, 0, "{said}");
    let files = |branch: &str| author.git(&["-C", &bare, "ls-tree", "--name-only", branch, "web/"]);
    assert_eq!(files("next"), "web/v1.0.1\nweb/v1.0.2\n");
    assert_eq!(files("main"), "web/v1.0.1\n");
    for (branch, reason) in [("released", "not a branch"), ("gone", "gone")] {
        let (code, said) = author.publish("v1.0.2", &[&bare, "--ref", branch]);
        assert_eq!(code, 1, "{said}");
        assert!(said.contains(reason), "{said}");
    }
}

/// A version with a schema; its example is of its own MINOR.
fn with_schema(author: &Author, version: &str, schema: &str) {
    author.version(version, "resources: []\n");
    author.write(&format!("web/{version}/web.jinja.schema"), schema);
    let minor: Vec<_> = version.split('.').take(2).collect();
    let example = format!(
        "resources: [{{name: a, type: 'web:{}'}}]\n",
        minor.join(".")
    );
    author.write(&format!("web/{version}/example.yaml"), &example);
}

#[test]
fn a_version_that_breaks_what_the_one_before_promised_is_refused_with_each_property() {
    let author = Author::new();
    author.write("registry/README.md", "");
    let bare = author.bare();
    for target in ["registry", &bare] {
        with_schema(
            &author,
            "v1.0.1",
            "properties: {size: {type: integer}, zone: {pattern: ^a}}",
        );
        let (code, said) = author.publish("v1.0.1", &[target]);
        assert_eq!(code, 0, "{said}");
        with_schema(
            &author,
            "v1.0.2",
            "properties: {size: {type: number}, zone: {pattern: ^a}, colour: {}}",
        );
        let (code, said) = author.publish("v1.0.2", &[target]);
        assert_eq!(code, 1, "{said}");
        for reported in [
            "web:v1.0.2 is not published, because it breaks what web:v1.0.1 promised",
            "property size had the type \"integer\" and has the type \"number\"",
            "property colour is new",
            "publish it as web/v1.1.0",
        ] {
            assert!(said.contains(reported), "{reported} is not in: {said}");
        }
        with_schema(
            &author,
            "v1.1.0",
            "properties: {size: {type: string}, zone: {pattern: ^b}}",
        );
        let (code, said) = author.publish("v1.1.0", &[target]);
        assert_eq!(code, 1, "{said}");
        for reported in [
            "had the pattern \"^a\" and has the pattern \"^b\"",
            "publish it as web/v2.0.0",
        ] {
            assert!(said.contains(reported), "{reported} is not in: {said}");
        }
        let (code, said) = author.publish("v1.1.0", &[target, "--no-compare"]);
        assert_eq!(code, 0, "{said}");
        assert!(
            said.contains("warning: web:v1.1.0 was not compared"),
            "{said}"
        );
        with_schema(&author, "v2.0.0", "properties: {}");
        let (code, said) = author.publish("v2.0.0", &[target]);
        assert_eq!((code, said.as_str()), (0, "web:v2.0.0 is published\n"));
    }
    assert_eq!(
        names(&author.at("registry/web")),
        ["v1.0.1", "v1.1.0", "v2.0.0"]
    );
}

#[test]
fn a_version_before_that_nobody_can_use_is_told_and_holds_nothing_up() {
    let author = Author::new();
    author.write("registry/web/v1.0.0/README.md", "");
    let (code, said) = author.publish("v1.0.1", &["registry"]);
    assert_eq!(code, 0, "{said}");
    assert!(
        said.contains("warning: of v1.0.0, nothing is compared"),
        "{said}"
    );
}

#[test]
fn passwords_are_no_arguments() {
    let author = Author::new();
    for args in [
        &["https://u:s3cret@host/r"][..],
        &["oci://localhost:1/t", "--username", "u"],
        &["oci://localhost:1/t", "--password", "s3cret"],
    ] {
        let (code, said) = author.publish("v1.0.1", args);
        assert_eq!(code, 2, "{said}");
        assert!(!said.contains("//u:s3cret"), "{said}");
    }
}
