//! Bindings: the credentials of an instance.

pub(super) mod bind;
pub(super) mod credentials;
pub(super) mod unbind;
