//! The errors for names that no registry has: they name those that there are.

use super::{DEFAULT, OpenRegistries};
use crate::RegistryError;

/// From 0, nothing in common, to 1, equal.
const NEAR: f64 = 0.6;
/// Of a name in an error.
const CHARS: usize = 80;

impl OpenRegistries {
    /// No registry has this name.
    pub async fn unknown(&self, name: &str) -> RegistryError {
        let known = self.names().await;
        RegistryError::UnknownRegistry {
            name: name.chars().take(CHARS).collect(),
            similar: similar(name, &known),
            known,
        }
    }

    /// The first part of a reference is neither a registry nor a collection of the default one.
    pub async fn neither(&self, name: String, collections: Vec<String>) -> RegistryError {
        let registries = self.names().await;
        let known: Vec<String> = registries.iter().chain(&collections).cloned().collect();
        RegistryError::NeitherRegistryNorCollection {
            similar: similar(&name, &known),
            name,
            registries,
            collections,
        }
    }

    /// The names that references can begin with. Those that cannot be read are not worth another error.
    async fn names(&self) -> Vec<String> {
        let registered = self.registrations.definitions().await.unwrap_or_default();
        let registered = registered.into_iter().map(|(name, _)| name.into());
        std::iter::once(DEFAULT.to_owned())
            .chain(registered)
            .collect()
    }
}

/// The most similar name, if it is similar enough for a typing error.
fn similar(name: &str, known: &[String]) -> Option<String> {
    let rated = known
        .iter()
        .map(|known| (strsim::normalized_damerau_levenshtein(name, known), known));
    let near = rated.filter(|(nearness, _)| *nearness >= NEAR);
    let nearest = near.max_by(|(a, _), (b, _)| a.total_cmp(b));
    nearest.map(|(_, known)| known.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_typing_error_is_taken_for_another_name() {
        let known = ["default", "shop", "own"].map(str::to_owned);
        for (name, expected) in [
            ("shpo", Some("shop")),
            ("onw", Some("own")),
            ("defualt", Some("default")),
            ("redis", None),
            ("", None),
        ] {
            assert_eq!(similar(name, &known).as_deref(), expected, "{name}");
        }
    }
}
