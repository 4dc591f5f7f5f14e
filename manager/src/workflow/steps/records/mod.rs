//! Steps that change what the store holds of a deployment.

pub(super) mod adopt;
pub(super) mod empty;
pub(super) mod forget;
pub(super) mod keep;
pub(super) mod publish;
pub(super) mod store;
