//! For tests: packed charts, and the indexes of repositories of them.

use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use common::registry::sums::hex;
use common_chart::archive::{Room, pack, read};
use common_chart::{File, index};
use manager_registry::ResolvedTemplate;

pub const SCHEMA: &str = r#"{"required": ["image"], "properties": {"image": {"type": "string"}}}"#;
pub const VALUES: &str = "image: nginx\nservice: {port: 80}\n";

/// The files of a chart.
pub fn files(name: &str, version: &str) -> Vec<(String, String)> {
    let chart = format!("apiVersion: v2\nname: {name}\nversion: {version}\ndescription: Serves.\n");
    [
        ("Chart.yaml", chart.as_str()),
        ("templates/a.yaml", "kind: ConfigMap\n"),
        ("values.schema.json", SCHEMA),
        ("values.yaml", VALUES),
    ]
    .map(|(name, text)| (name.to_owned(), text.to_owned()))
    .to_vec()
}

pub fn packed(name: &str, version: &str) -> Vec<u8> {
    let files = files(name, version).into_iter();
    let files: Vec<_> = files.map(|(name, text)| File::new(name, text)).collect();
    pack(name, &files).unwrap()
}

/// Writes the archives of some versions of `web` into a folder, with an index of them.
pub fn repository(folder: &Path, versions: &[&str]) {
    let mut list = "apiVersion: v1\nentries:\n  web:\n".to_owned();
    for version in versions {
        let (file, archive) = (format!("web-{version}.tgz"), packed("web", version));
        list.push_str(&entry(version, &file, Some(&hex(&archive))));
        std::fs::write(folder.join(file), archive).unwrap();
    }
    std::fs::write(folder.join("index.yaml"), list).unwrap();
}

pub fn entry(version: &str, url: &str, digest: Option<&str>) -> String {
    let digest = digest.map_or(String::new(), |digest| format!("    digest: {digest}\n"));
    format!("  - version: {version}\n    urls: ['{url}']\n{digest}")
}

/// An index with one version of `web`, at this URL.
pub fn index_of(folder: &Path, url: &str, digest: Option<&str>) {
    let list = format!(
        "apiVersion: v1\nentries:\n  web:\n{}",
        entry("1.0.0", url, digest)
    );
    index::Index::read(list.as_bytes()).unwrap();
    std::fs::write(folder.join("index.yaml"), list).unwrap();
}

/// The names of the files in the only import, which is a packed chart.
pub fn contents(resolved: &ResolvedTemplate) -> Vec<String> {
    let [chart] = &resolved.imports[..] else {
        panic!("{:?}", resolved.imports);
    };
    assert_eq!(chart.name, resolved.resolved.type_name.as_str());
    assert!(chart.path().ends_with(".tgz"), "{}", chart.path());
    let archive = BASE64_STANDARD.decode(&chart.content).unwrap();
    let mut files = read(&archive, &mut Room::default()).unwrap();
    files.sort_by(|a, b| a.name.cmp(&b.name));
    files.into_iter().map(|file| file.name).collect()
}

/// A provenance file for an archive, as Helm makes it. Nobody here can make its signature.
pub fn provenance(file: &str, archive: &[u8]) -> String {
    format!(
        "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\napiVersion: v2\nname: web\n\n...\nfiles:\n  {file}: sha256:{}\n-----BEGIN PGP SIGNATURE-----\n\nwsBcBAEBCgAQBQ==\n-----END PGP SIGNATURE-----\n",
        hex(archive)
    )
}
