//! Every request, before and around its handler: the caller, permission, the audit log, and parts that handlers share.

pub(super) mod audited;
pub(super) mod extract;
pub(super) mod guard;
pub(super) mod identify;
pub(super) mod kubernetes;
pub(super) mod repeated;
pub(super) mod stored;
