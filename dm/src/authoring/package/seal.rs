//! `SHA256SUMS`: the list of a version's files. The signature signs this list.
//!
//! Names begin with template and version, like `redis/v1.0.1/redis.py`, so a signature is valid for one version of one
//! template only.

use std::collections::BTreeMap;

use common::registry::sums::{self, FILE, MINISIG};
use common::registry::{FilePath, PathError, VERSION_FILES};

use super::signer::{SignError, Signer};
use super::{CheckedVersion, VersionFiles, is_of_signature};

/// Adds the list and its signature to a version.
pub fn seal(package: &mut CheckedVersion, signer: &Signer) -> Result<(), SignError> {
    let list = sums::write(
        listed(&package.template, &package.version, &package.files)?
            .iter()
            .map(|(path, content)| (path, *content)),
    );
    let signature = signer.sign(list.as_bytes(), &package.reference())?;
    let place = FilePath::parse(FILE)?;
    let beside = place.with_ending(MINISIG);
    package.files.insert(beside, signature.into_bytes());
    package.files.insert(place, list.into_bytes());
    Ok(())
}

/// Checks that a list names exactly these files with these contents.
pub fn fits(template: &str, version: &str, files: &VersionFiles, list: &str) -> Result<(), String> {
    let expected = listed(template, version, files).map_err(|error| error.to_string())?;
    let signed: BTreeMap<_, _> = sums::parse(list, VERSION_FILES)?.into_iter().collect();
    for (path, content) in &expected {
        match signed.get(path) {
            None => return Err(format!("it does not name '{path}'")),
            Some(digest) if *digest != sums::hex(content) => {
                return Err(format!("'{path}' was changed after it was listed"));
            }
            Some(_) => {}
        }
    }
    match signed.keys().find(|path| !expected.contains_key(path)) {
        Some(gone) => Err(format!("it names '{gone}', which does not exist")),
        None => Ok(()),
    }
}

fn listed<'a>(
    template: &str,
    version: &str,
    files: &'a VersionFiles,
) -> Result<BTreeMap<FilePath, &'a [u8]>, PathError> {
    let folder = FilePath::parse(&format!("{template}/{version}"))?;
    let own = files
        .iter()
        .filter(|(path, _)| !is_of_signature(path.as_str()));
    Ok(own
        .map(|(path, content)| (folder.join(path), &content[..]))
        .collect())
}
