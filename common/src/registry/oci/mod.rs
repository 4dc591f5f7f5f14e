//! Templates in OCI registries: artifacts that any OCI tool can push and pull.
//!
//! ```text
//! oci://host[:port]/prefix                          the registry
//! <prefix>/[<collection>/]<template>:<version>      a version: an artifact, a layer a file, named by its title
//! <prefix>:<collection>..<template>                 the index: a tag for each template, all of one empty artifact
//! <prefix>:_root                                    the files at the registry's root, such as registry.yaml
//! ```
//!
//! A version's files are layers with the annotation `org.opencontainers.image.title`, as `oras push` makes them. The index
//! is there because a registry need not list its repositories (`/v2/_catalog`), and most that are shared do not.
//! It is made of tags because one can be added without reading the others: of two who publish at once, neither is lost. A
//! registry without an index is listed by its catalog. [`layout`] says what lies where, [`client`] speaks the distribution
//! protocol, [`place`] reads addresses.

mod challenge;
pub mod client;
pub mod direct;
pub mod layout;
pub mod manifest;
pub mod place;

pub use client::{Answer, Client, OciError, Transport};
pub use direct::Direct;
pub use manifest::{Descriptor, Manifest};
pub use place::Place;
