//! The provenance file that Helm makes beside a packed chart: `Chart.yaml` and the archive's digest, signed with PGP.
//!
//! The digest is compared with the archive's. The signature is not verified: that needs PGP, and the keys of publishers.
//! Registries with public keys have signatures of another kind ([`super::signed`]).

use common::registry::{PACKED, PROVENANCE};

use crate::RegistryError;
use crate::adapter::Files;
use crate::catalog::fetch::{Role, TemplateFile};
use crate::catalog::signed::SignatureError;

/// The first line. A server may answer with something else for a file that does not exist.
const BEGIN: &str = "-----BEGIN PGP SIGNED MESSAGE-----";
/// The line before the digests.
const FILES: &str = "files:";

/// The provenance file of a packed chart. A registry that cannot say if there is one has none.
///
/// # Errors
/// It is for another archive, or it is not the one that is signed.
pub async fn of(
    files: &dyn Files,
    chart: &TemplateFile,
) -> Result<Option<TemplateFile>, RegistryError> {
    if !chart.path.as_str().ends_with(PACKED) {
        return Ok(None);
    }
    let path = chart.path.with_ending(PROVENANCE);
    let bytes = match files.read(&path).await {
        Err(RegistryError::Signature(error)) => return Err(error.into()),
        read => read.ok().flatten(),
    };
    let Some(text) = bytes.and_then(|bytes| String::from_utf8(bytes).ok()) else {
        return Ok(None);
    };
    if !text.trim_start().starts_with(BEGIN) {
        return Ok(None);
    }
    if !digests(&text).any(|digest| digest == chart.sha256) {
        let file = files.path_of(&path);
        return Err(SignatureError::Provenance { file }.into());
    }
    Ok(Some(TemplateFile::new(path, text, Role::Provenance)))
}

/// The digests below `files:`.
fn digests(text: &str) -> impl Iterator<Item = &str> {
    let below = text.lines().skip_while(|line| line.trim_end() != FILES);
    let below = below.skip(1).take_while(|line| line.starts_with(' '));
    below.filter_map(|line| Some(line.split_once(": ")?.1.trim()))
}
