//! Templates in OCI registries: artifacts that any OCI tool can push and pull.
//!
//! ```text
//! oci://host[:port]/prefix                          the registry
//! <prefix>/[<collection>/]<template>:<version>      a version: an artifact, a layer a file, named by its title
//! <prefix>:<collection>..<template>                 the index: a tag for each template, all of one empty artifact
//! <prefix>:_root                                    the files at the registry's root, such as registry.yaml
//! ```
//!
//! The files of a version are layers with the annotation `org.opencontainers.image.title`, as `oras push` makes them.
//! The index exists because a registry need not list its repositories (`/v2/_catalog`), and most shared ones do not. It
//! consists of tags, because a tag can be added without reading the others: if two authors publish at the same time,
//! both entries stay. A registry without an index is listed by its catalog. [`layout`] maps paths to repositories and
//! tags, [`client`] speaks the distribution protocol, [`place`] parses addresses.

mod challenge;
pub mod client;
pub mod direct;
pub mod layout;
pub mod manifest;
pub mod place;

pub use client::{Answer, Client, OciError, Transport};
pub use direct::Direct;
pub use manifest::{Descriptor, Manifest};
pub use place::OciLocation;
