//! The resource names of objects.
//!
//! A resource has the name of its object. If several objects have that name, the kind is added. If that is not enough,
//! the namespace and then the API group are added. Names do not depend on the order of the objects.

use std::collections::HashMap;

use sha2::{Digest as _, Sha256};

use super::{ManifestError, Object};

/// The longest name of a resource, in characters.
const NAME_CHARS: usize = 253;
/// The possible names of an object, from the shortest to the longest: name, kind, namespace, group. The last has all of
/// them with `/` between, which no name contains.
const LONGEST: usize = 5;

/// Each object with a unique name.
///
/// # Errors
/// An object is there twice: same group, kind, namespace and name.
pub fn named(objects: Vec<Object>) -> Result<Vec<(String, Object)>, ManifestError> {
    check_distinct(&objects)?;
    let mut lengths = vec![1; objects.len()];
    for round in 1..=LONGEST {
        let names = names(&objects, &lengths);
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for name in &names {
            *counts.entry(name).or_default() += 1;
        }
        let alike = |name: &String| counts[name.as_str()] > 1;
        for (length, _) in lengths
            .iter_mut()
            .zip(&names)
            .filter(|(_, name)| alike(name))
        {
            // The names of the last round are unique.
            *length = if round == LONGEST {
                LONGEST
            } else {
                (*length + 1).min(LONGEST)
            };
        }
    }
    let names = names(&objects, &lengths);
    Ok(names.into_iter().zip(objects).collect())
}

fn names(objects: &[Object], lengths: &[usize]) -> Vec<String> {
    let pairs = objects.iter().zip(lengths);
    pairs
        .map(|(object, &length)| name(object, length))
        .collect()
}

/// A higher number gives a longer name.
fn name(object: &Object, length: usize) -> String {
    let namespace = object.namespace.as_deref().unwrap_or_default();
    if length == LONGEST {
        let Object {
            name, kind, group, ..
        } = object;
        return fitted(format!("{name}/{kind}/{namespace}/{group}"), object);
    }
    let kind = object.kind.to_ascii_lowercase();
    let parts = [object.name.as_str(), &kind, namespace, &object.group];
    let parts: Vec<_> = parts
        .into_iter()
        .take(length)
        .filter(|part| !part.is_empty())
        .collect();
    fitted(parts.join("-"), object)
}

/// A name that is too long ends with a digest of the object's identity.
fn fitted(name: String, object: &Object) -> String {
    const DIGEST_CHARS: usize = 16;
    if name.chars().count() <= NAME_CHARS {
        return name;
    }
    let digest = Sha256::digest(object.identity().join("/"));
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let kept: String = name.chars().take(NAME_CHARS - 1 - DIGEST_CHARS).collect();
    format!("{kept}-{}", &digest[..DIGEST_CHARS])
}

fn check_distinct(objects: &[Object]) -> Result<(), ManifestError> {
    let mut met: HashMap<[&str; 4], &Object> = HashMap::new();
    for object in objects {
        if let Some(first) = met.insert(object.identity(), object) {
            let namespace = object
                .namespace
                .iter()
                .map(|namespace| format!("{namespace}/"));
            let namespace: String = namespace.collect();
            return Err(ManifestError::SameObject {
                object: format!("{} {namespace}{}", object.kind, object.name),
                first: first.place.clone(),
                second: object.place.clone(),
            });
        }
    }
    Ok(())
}
