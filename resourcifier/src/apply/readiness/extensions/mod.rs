//! Kinds that extend the API: definitions of kinds, and servers of further groups.

pub(super) mod api_service;
pub(super) mod definition;
