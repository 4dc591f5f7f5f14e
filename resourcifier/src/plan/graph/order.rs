//! The implicit order of kinds within one call of kubectl: objects that others need come first.

use common::model::ObjectRef;

/// Lower numbers first. Kinds that nothing waits for, including custom ones, come with the workloads.
pub fn rank(object: &ObjectRef) -> usize {
    match object.kind.as_str() {
        "Namespace" => 0,
        "PriorityClass" | "StorageClass" | "RuntimeClass" | "IngressClass" => 1,
        "CustomResourceDefinition" => 2,
        "NetworkPolicy" | "ResourceQuota" | "LimitRange" | "PodDisruptionBudget" => 3,
        "ServiceAccount" => 4,
        "ClusterRole" | "Role" => 5,
        "ClusterRoleBinding" | "RoleBinding" => 6,
        "Secret" | "ConfigMap" => 7,
        "PersistentVolume" => 8,
        "PersistentVolumeClaim" => 9,
        "Service" => 10,
        "HorizontalPodAutoscaler" | "Ingress" => 12,
        "APIService" => 13,
        "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => 14,
        _ => 11,
    }
}
