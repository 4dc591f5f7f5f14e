//! Guards against an update that deletes most or all of a deployment. This usually is the wrong file, or an empty loop in
//! a template.

use std::collections::HashSet;

use common::model::{AppliedObject, ObjectRef};

/// This many objects may be deleted without permission, whatever share of the deployment they are, if others are
/// desired. A renamed object counts as one.
const HANDFUL: usize = 2;

/// The objects that would be pruned, if they are too many without permission.
pub fn too_many<'a>(
    recorded: &'a [AppliedObject],
    desired: &[ObjectRef],
) -> Option<Vec<&'a AppliedObject>> {
    let kept: HashSet<_> = desired.iter().map(identity).collect();
    let pruned: Vec<_> = recorded
        .iter()
        .filter(|old| !kept.contains(&identity(&old.object)))
        .collect();
    let leaves_nothing = desired.is_empty() && !pruned.is_empty();
    let is_most = pruned.len() > HANDFUL && pruned.len() * 2 > recorded.len();
    (leaves_nothing || is_most).then_some(pruned)
}

fn identity(object: &ObjectRef) -> (&str, &str, Option<&str>, &str) {
    let namespace = object.namespace.as_deref();
    (object.group(), &object.kind, namespace, &object.name)
}

#[cfg(test)]
mod tests {
    use common::model::ResourceName;

    use super::*;

    fn object(number: usize, api_version: &str) -> ObjectRef {
        ObjectRef {
            api_version: api_version.to_owned(),
            kind: "Deployment".to_owned(),
            namespace: Some("default".to_owned()),
            name: format!("web-{number}"),
        }
    }

    fn pruned(recorded: usize, kept: usize) -> Option<usize> {
        let applied = |number| AppliedObject {
            resource: ResourceName::parse(format!("web-{number}")).unwrap(),
            object: object(number, "apps/v1beta1"),
            uid: number.to_string(),
        };
        let recorded: Vec<_> = (0..recorded).map(applied).collect();
        let desired: Vec<_> = (0..kept).map(|number| object(number, "apps/v1")).collect();
        too_many(&recorded, &desired).map(|objects| objects.len())
    }

    #[test]
    fn everything_or_more_than_half_and_more_than_a_handful_is_too_many() {
        let cases = [
            (0, 0, None),
            (1, 0, Some(1)),
            (2, 0, Some(2)),
            (2, 1, None),
            (3, 1, None),
            (3, 0, Some(3)),
            (4, 1, Some(3)),
            (6, 3, None),
            (12, 6, None),
            (12, 5, Some(7)),
            (100, 49, Some(51)),
            (100, 100, None),
        ];
        for (recorded, kept, expected) in cases {
            assert_eq!(
                pruned(recorded, kept),
                expected,
                "{kept} of {recorded} kept"
            );
        }
    }

    #[test]
    fn a_single_object_may_get_another_name() {
        let applied = AppliedObject {
            resource: ResourceName::parse("web-1").unwrap(),
            object: object(1, "apps/v1"),
            uid: "1".to_owned(),
        };
        assert_eq!(too_many(&[applied], &[object(2, "apps/v1")]), None);
    }
}
