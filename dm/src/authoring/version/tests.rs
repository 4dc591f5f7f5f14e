//! What a release's example comes to.

use super::*;
use crate::bundle::Bundle;

const CHART_TEXT: &str = "name: redis\nversion: 0.1.0\n";
const SERVICE: &str = "apiVersion: v1\nkind: Service\nmetadata: {name: redis}\n";

fn release(
    template: &str,
    version: &str,
    files: &[(&str, &str)],
) -> Result<TemplateVersion, VersionError> {
    let content =
        |(path, text): &(&str, &str)| (FilePath::parse(path).unwrap(), text.as_bytes().to_vec());
    let contents: VersionFiles = files.iter().map(content).collect();
    let folder = format!("{template}/{version}");
    TemplateVersion::from_contents(template, version.parse().unwrap(), &folder, &contents)
}

/// Names and contents of what goes with the configuration.
fn imported(bundle: &Bundle) -> Vec<(&str, &str)> {
    let imports = bundle.imports.iter();
    imports
        .map(|import| (import.name.as_str(), import.content.as_str()))
        .collect()
}

#[test]
fn an_example_means_the_own_version_by_template_major_and_minor() {
    let files = [("redis.jinja", ""), ("example.yaml", "")];
    let release = release("redis", "v1.1.2", &files).unwrap();
    for (type_name, expected) in [
        ("redis:v1.1", true),
        ("own/redis:v1.1.0", true),
        ("redis.jinja", true),
        ("redis:v1", false),
        ("other:v1.1", false),
        ("Service", false),
    ] {
        assert_eq!(release.means(type_name), expected, "{type_name}");
    }
}

#[test]
fn an_earlier_example_goes_with_the_later_template_and_its_own_files() {
    let example = "imports: [{path: values.txt}]\nresources: [{name: a, type: 'web:v1'}]\n";
    let before = release(
        "web",
        "v1",
        &[
            ("web.jinja", "old"),
            ("web.jinja.schema", "properties: {n: {default: 1}}"),
            ("example.yaml", example),
            ("values.txt", "values"),
        ],
    )
    .unwrap();
    let now = [
        ("web.py", "new"),
        ("example.yaml", "resources: [{name: b, type: 'web:v1.1'}]"),
    ];
    let now = release("web", "v1.1", &now).unwrap();
    let own = before.bundle().unwrap();
    let expected = [
        ("values.txt", "values"),
        ("web:v1", "old"),
        ("web:v1.schema", "properties: {n: {default: 1}}"),
    ];
    assert_eq!(imported(&own), expected);
    let by = before.bundle_by(&now).unwrap();
    assert_eq!(by.content, example);
    let expected = [("values.txt", "values"), ("web:v1", "new")];
    assert_eq!(
        imported(&by),
        expected,
        "the older schema is not the newer's"
    );
}

#[test]
fn a_template_that_the_example_imports_is_the_later_one_too() {
    let example = "imports: [{path: web.py, name: w}]\nresources: [{name: a, type: w}]\n";
    let with = |template| [("web.py", template), ("example.yaml", example)];
    let before = release("web", "v1", &with("old")).unwrap();
    let now = release("web", "v1.1", &with("new")).unwrap();
    assert_eq!(imported(&before.bundle().unwrap()), [("w", "old")]);
    assert_eq!(imported(&before.bundle_by(&now).unwrap()), [("w", "new")]);
    let published = now.bundle_of("shop/web:v1.1").unwrap();
    assert!(published.content.contains("type: shop/web:v1.1"));
}

#[test]
fn a_template_object_takes_its_parameters() {
    let template =
        "{apiVersion: v1, kind: Template, objects: [], parameters: [{name: SLOT, required: true}]}";
    let taken = |files: &[(&str, &str)]| release("web", "v1", files).unwrap().schema;
    let schema = taken(&[("web.template.yaml", template)]).unwrap();
    assert_eq!(schema["required"], serde_json::json!(["SLOT"]));
    let own = [
        ("web.template.yaml", template),
        ("web.template.yaml.schema", "required: [OTHER]"),
    ];
    let schema = taken(&own).unwrap();
    assert_eq!(schema["required"], serde_json::json!(["OTHER"]));
    assert_eq!(taken(&[("web.template.yaml", "[")]), None);
}

#[test]
fn a_package_is_a_release_without_properties() {
    let files = [("Chart.yaml", CHART_TEXT), ("manifests/a.yaml", SERVICE)];
    let package = release("redis", "v0.1.0", &files).unwrap();
    assert_eq!(
        package.schema.as_ref().unwrap()["additionalProperties"],
        false
    );
    let bundle = package.bundle().unwrap();
    assert!(
        bundle.content.contains("type: Chart.yaml"),
        "{}",
        bundle.content
    );
    let files: Vec<_> = imported(&bundle).iter().map(|(name, _)| *name).collect();
    assert_eq!(
        files,
        ["Chart.yaml", "manifests/a.yaml", "Chart.yaml.schema"]
    );
}

#[test]
fn what_is_no_release_is_told_with_its_folder() {
    for (version, files, expected) in [
        (
            "v1",
            &[("other.py", "")][..],
            "redis/v1 contains no template",
        ),
        (
            "v1",
            &[("redis.py", ""), ("redis.jinja", "")],
            "two templates",
        ),
        (
            "v1",
            &[("redis.py", ""), ("redis.py.schema", "a: [")],
            "redis.py.schema:",
        ),
        ("v1", &[("Chart.yaml", CHART_TEXT)], "has version v0.1.0"),
        ("v0.1.0", &[("Chart.yaml", CHART_TEXT)], "no manifests"),
        ("v0.1.0", &[("Chart.yaml", "a: [")], "does not describe"),
    ] {
        let error = release("redis", version, files).err().unwrap().to_string();
        assert!(error.contains(expected), "{expected} is not in: {error}");
    }
    let files = [("redis.py", "")];
    let error = release("redis", "v1", &files).unwrap().bundle();
    assert!(matches!(error, Err(VersionError::NoExample(_))));
    let files = [("redis.py", ""), ("example.yaml", "resources: []")];
    let error = release("redis", "v1", &files).unwrap().bundle();
    assert!(matches!(error, Err(VersionError::NoInstance(_))));
}
