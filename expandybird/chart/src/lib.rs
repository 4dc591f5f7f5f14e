//! Helm charts, rendered as Helm 4 renders them.
//!
//! Responsible for what a chart is and what it becomes: reading it, merging its values, its dependencies, the objects
//! that templates see, rendering, and the split of the output into manifests and hooks. A chart is a set of named
//! bytes: nothing here reads files, the network, the environment or the clock, and nothing here knows deployments.
//!
//! ```text
//! archive, folder ──► Chart ──► dependencies, values, schemas ──► templates ──► manifests, hooks, notes
//! ```
//!
//! ```
//! use expandybird_chart::{Capabilities, Chart, File, Release, render};
//!
//! let file = |name: &str, text: &str| File::new(name, text.as_bytes());
//! let chart = Chart::from_files(vec![
//!     file("Chart.yaml", "{apiVersion: v2, name: web, version: 1.0.0}"),
//!     file("values.yaml", "greeting: Hello"),
//!     file("templates/a.yaml", "kind: ConfigMap\ndata: {a: {{ .Values.greeting }} }\n"),
//! ])?;
//! let values = serde_json::json!({"greeting": "Bye"});
//! let release = Release::install("demo", "default");
//! let rendered = render(&chart, &values, &release, &Capabilities::default(), Default::default(), Default::default())?;
//! assert!(rendered.manifests[0].text.contains("{a: Bye }"));
//! # Ok::<(), expandybird_chart::ChartError>(())
//! ```
//!
//! Not a published crate: none was found.

mod capabilities;
mod chart;
mod coalesce;
mod context;
mod definitions;
mod dependencies;
mod error;
mod files;
mod functions;
mod glob;
mod hook;
mod ignore;
mod imports;
mod lookup;
mod manifest;
mod message;
mod metadata;
mod node;
mod parsed;
mod pattern;
mod release;
mod render;
mod schema;
mod sort;
mod values;
pub mod yaml;

pub use capabilities::Capabilities;
pub use chart::Chart;
pub use common_chart::{ArchiveError, File};
pub use error::ChartError;
pub use hook::{Event, Hook};
pub use ignore::IgnoreError;
pub use lookup::{Found, Lookups, Wanted};
pub use manifest::Manifest;
pub use metadata::{Dependency, Maintainer, Metadata};
pub use release::Release;
pub use render::{Hosts, Rendered, render};
pub use sort::kind_rank;
