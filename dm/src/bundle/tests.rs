use std::path::Path;
use std::rc::Rc;

use super::*;

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (path, content) in files {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
}

fn bundle(files: &[(&str, &str)]) -> Result<Bundle, String> {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), files);
    let place = Rc::new(Files::Folder(folder.path().to_owned()));
    let content = place.read("web.yaml").unwrap();
    Bundler::new(content, "web.yaml", "web.yaml", &place)
        .and_then(Bundler::finish)
        .map_err(|error| {
            error
                .to_string()
                .replace(&format!("{}/", folder.path().display()), "")
        })
}

fn names_and_paths(bundle: &Bundle) -> Vec<(&str, &str)> {
    bundle
        .imports
        .iter()
        .map(|import| (import.name.as_str(), import.path()))
        .collect()
}

#[test]
fn a_bundle_has_all_that_is_imported_directly_or_by_a_schema() {
    let bundle = bundle(&[
        (
            "web.yaml",
            "imports: [{path: t/a.py, name: a}, {path: t/a.py}, {path: b.jinja}]",
        ),
        ("t/a.py", "1"),
        (
            "t/a.py.schema",
            "imports: [{path: helper.py}, {path: ../b.jinja}, {path: 'https://host/x.py'}]",
        ),
        ("t/helper.py", "2"),
        ("b.jinja", "3"),
        ("unused.py", "4"),
    ])
    .unwrap();
    let mut names: Vec<_> = bundle
        .imports
        .iter()
        .map(|import| import.name.as_str())
        .collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "../b.jinja",
            "a",
            "a.schema",
            "b.jinja",
            "helper.py",
            "t/a.py",
            "t/a.py.schema"
        ]
    );
}

#[test]
fn names_are_as_declared_and_paths_relative_to_the_configuration() {
    let bundle = bundle(&[
        ("web.yaml", "imports: [{path: t/a.py, name: a}]"),
        ("t/a.py", "1"),
        ("t/a.py.schema", "imports: [{path: lib/helper.py}]"),
        ("t/lib/helper.py", "2"),
    ])
    .unwrap();
    let expected = [
        ("a", "t/a.py"),
        ("a.schema", "t/a.py.schema"),
        ("lib/helper.py", "t/lib/helper.py"),
    ];
    assert_eq!(names_and_paths(&bundle), expected);
}

#[test]
fn files_that_import_each_other_are_read_once() {
    let bundle = bundle(&[
        ("web.yaml", "imports: [{path: a.py}]"),
        ("a.py", ""),
        ("a.py.schema", "imports: [{path: b.py}]"),
        ("b.py", ""),
        ("b.py.schema", "imports: [{path: a.py}]"),
    ])
    .unwrap();
    assert_eq!(bundle.imports.len(), 4);
}

#[test]
fn an_error_says_which_file_and_who_asked_for_it() {
    let table: Vec<String> = [
        &[("web.yaml", "imports: [{path: gone.py}]")][..],
        &[
            ("web.yaml", "imports: [{path: a.py}]"),
            ("a.py", ""),
            ("a.py.schema", "imports: [{path: gone.py}]"),
        ],
        &[
            ("web.yaml", "imports: [{path: a.py}]"),
            ("a.py", ""),
            ("a.py.schema", "imports: [\n"),
        ],
        &[("web.yaml", "resources:\n- name: [a\n")],
        &[("web.yaml", "imports: a.py")],
        &[("web.yaml", "imports:\n- path: a.py\n- a.py\n")],
        &[("web.yaml", "imports: [{path: 'https://host/a.py'}]")],
        &[
            (
                "web.yaml",
                "imports: [{path: a.py, name: x}, {path: b.py, name: x}]",
            ),
            ("a.py", ""),
            ("b.py", ""),
        ],
    ]
    .into_iter()
    .map(|files| bundle(files).unwrap_err())
    .collect();
    insta::assert_snapshot!(table.join("\n---\n"));
}

#[test]
fn a_pattern_imports_every_file_that_it_matches_with_its_schema() {
    let files = [
        ("web.yaml", "imports: [{path: '*.jinja'}, {path: 't/*.py'}]"),
        ("a.jinja", "1"),
        ("a.jinja.schema", "info: {}"),
        ("b.jinja", "2"),
        ("c.txt", "3"),
        ("t/d.py", "4"),
        ("t/e.jinja", "5"),
    ];
    let names = |bundle: &Bundle| {
        let mut names: Vec<String> = bundle.imports.iter().map(|one| one.name.clone()).collect();
        names.sort_unstable();
        names
    };
    let expected = ["a.jinja", "a.jinja.schema", "b.jinja", "t/d.py"];
    assert_eq!(names(&bundle(&files).unwrap()), expected);
    let archived = files[1..].iter();
    let archived = archived.map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
    let archive = Rc::new(Files::Archive(archived.collect()));
    let bundler = Bundler::new(files[0].1.to_owned(), "web.yaml", "web.yaml", &archive);
    assert_eq!(names(&bundler.unwrap().finish().unwrap()), expected);
    let error = bundle(&[("web.yaml", "imports: [{path: '*.py'}]")]).unwrap_err();
    assert!(error.contains("no file matches"), "{error}");
}
