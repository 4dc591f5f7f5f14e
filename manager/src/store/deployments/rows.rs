//! Deployments as rows of lists.

use common::api::page::PageQuery;
use common::model::{DeploymentName, DeploymentSummary};

use crate::store::{Store, StoreError, keys, read};

/// A page by name, as JSON.
pub async fn list(store: &Store, page: &PageQuery) -> Result<String, StoreError> {
    let deployments = keys::deployments();
    store
        .listed::<DeploymentSummary>(deployments, page, without_outputs)
        .await
}

/// The rows of these, as far as they exist.
pub async fn each(
    store: &Store,
    names: impl IntoIterator<Item = &DeploymentName>,
) -> Result<Vec<DeploymentSummary>, StoreError> {
    let keys: Vec<_> = names.into_iter().map(keys::deployment).collect();
    let found = store.kv.get_each(keys.clone()).await?;
    let found = keys.iter().zip(found);
    let found = found.filter_map(|(key, entry)| Some(read(key, &entry?)));
    found.collect()
}

/// The row in a record that has neither outputs nor notes: the parts of its text around the empty list. It is not parsed. In front
/// of it there are only names, times and strings, in which quotes are escaped. Behind it there is always another field, first the
/// notes.
fn without_outputs(record: &str) -> Option<[&str; 2]> {
    let (before, after) = record.split_once(r#""outputs":[],"#)?;
    (!after.starts_with(r#""notes":"#)).then_some([before, after])
}

#[cfg(test)]
mod tests {
    use common::model::Deployment;
    use serde_json::{Value, json};

    use super::*;

    /// Texts that look like what is looked for.
    const TEXTS: [&str; 5] = [
        "",
        "plain",
        r#""outputs":[],"#,
        r#"","outputs":[],"notes":""#,
        r#"\"outputs\":[],\\"#,
    ];

    fn deployment(random: &mut fastrand::Rng) -> Deployment {
        let mut text = || *random.choice(&TEXTS).unwrap();
        let mut whole = json!({
            "name": "web", "namespace": "shop", "description": text(), "labels": {text(): text(), "outputs": text()},
            "createdAt": "2026-01-01T00:00:00Z", "state": {"status": "Failed", "errors": [text(), text()]},
            "fingerprint": "abc", "outputs": [],
        });
        if random.bool() {
            whole["notes"] = (*random.choice(&TEXTS).unwrap()).into();
        }
        if random.bool() {
            whole["outputs"] = json!([{"name": "url", "value": {"outputs": []}}]);
        }
        serde_json::from_value(whole).unwrap()
    }

    #[test]
    fn a_row_that_is_cut_out_of_a_record_is_the_one_that_is_parsed() {
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let mut cut = 0;
        for _ in 0..500 {
            let deployment = deployment(&mut random);
            let text = serde_json::to_string(&deployment).unwrap();
            let parsed: DeploymentSummary = serde_json::from_str(&text).unwrap();
            let row = without_outputs(&text).map(|parts| parts.concat());
            let is_plain = deployment.outputs.is_empty() && deployment.notes.is_none();
            assert_eq!(row.is_some(), is_plain, "{text}");
            if let Some(row) = row {
                let row: Value = serde_json::from_str(&row).unwrap();
                assert_eq!(row, serde_json::to_value(parsed).unwrap(), "{text}");
                cut += 1;
            }
        }
        assert!(cut > 0);
    }
}
