//! `dm export`: prints live objects as a list or as a Template object.

use clap::Args;
use common::api::export::{Export as Request, Selected, USUAL_KINDS};
use common::manifests;
use common::model::{ClusterName, Namespace, TemplateName, TypeName};
use expandybird_templateobject::export::{Portable, Style, cleaned, template};
use serde_json::{Value, json};

use crate::client::process::source;
use crate::client::session::Session;
use crate::error::Failure;
use crate::terminal::text;

/// Print live objects of a namespace, to deploy them elsewhere: as a list, or as a Template object.
///
/// What the cluster has written is left out, such as status, uid and namespace. The manager reads the objects with your rights.
/// Values of Secrets are never printed: in a Template they are required parameters.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm export Deployment/web Service/web
  dm export -l app=web --as-template web
  dm export -l app=web --as-template web --parameterize > web.template.yaml
  dm export -f k8s/web.yaml --as-template web
  dm export ConfigMap -n shop --exact -o json")]
pub struct Export {
    /// All objects of a kind, or one object, like Deployment or apps/v1/Deployment/web [default with --selector: the usual kinds].
    #[arg(id = "objects", value_name = "KIND[/NAME]")]
    pub objects: Vec<String>,
    /// Objects of a file or URL instead of live ones; - reads standard input. May be repeated.
    #[arg(short = 'f', long = "filename", value_name = "FILE", conflicts_with_all = ["objects", "selector", "namespace", "cluster"])]
    pub files: Vec<String>,
    /// Only objects with these labels, like app=web,tier!=db; for kinds without a name.
    #[arg(long, short = 'l', value_name = "SELECTOR")]
    pub selector: Option<String>,
    /// Namespace of the objects [default: that of the context, or default].
    #[arg(long, short)]
    pub namespace: Option<Namespace>,
    /// Cluster of the objects [default: that of the manager's own resourcifier].
    #[arg(long, value_name = "CLUSTER")]
    pub cluster: Option<ClusterName>,
    /// Print a Template object of this name.
    #[arg(long, value_name = "NAME")]
    pub as_template: Option<TemplateName>,
    /// Make images, replicas and hosts parameters of the Template, with their values as defaults.
    #[arg(long, requires = "as_template")]
    pub parameterize: bool,
    /// Keep namespaces, cluster addresses and node ports.
    #[arg(long, conflicts_with = "raw")]
    pub exact: bool,
    /// Keep everything that the cluster has written, except values of Secrets.
    #[arg(long, conflicts_with = "as_template")]
    pub raw: bool,
}

impl Export {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let found = match self.files.is_empty() {
            true => self.live(session).await?,
            false => self.in_files(session).await?,
        };
        let objects = match self.raw {
            true => found,
            false => self.cleaned(found),
        };
        if objects.is_empty() {
            return Err(Failure::not_found("no resources found - nothing to export"));
        }
        let document = self.document(objects, session);
        session.show_document(&document)
    }

    /// Whether the command needs a manager.
    pub fn asks_the_manager(&self) -> bool {
        self.files.is_empty()
    }

    async fn live(&self, session: &Session<'_, '_>) -> Result<Vec<Value>, Failure> {
        let request = Request {
            namespace: self.namespace.clone().or_else(|| session.namespace.clone()),
            cluster: self.cluster.clone(),
            objects: self.selected()?,
            label_selector: self.selector.clone(),
        };
        Ok(session.client.export(&request).await?.items)
    }

    /// The objects of the files, in their order. Those of a `List` are like others.
    async fn in_files(&self, session: &mut Session<'_, '_>) -> Result<Vec<Value>, Failure> {
        let mut found = Vec::new();
        for file in &self.files {
            let text = source::text(file, session).await?;
            let objects =
                manifests::read(file, &text).map_err(|error| Failure::failed(error.to_string()))?;
            found.extend(objects.into_iter().map(|object| object.value));
        }
        Ok(found)
    }

    fn selected(&self) -> Result<Vec<Selected>, Failure> {
        if !self.objects.is_empty() {
            return self.objects.iter().map(|text| selected(text)).collect();
        }
        if self.selector.is_none() {
            let reason = "name what to export: a kind, an object such as Deployment/web, or labels with --selector";
            return Err(Failure::usage(reason));
        }
        USUAL_KINDS.iter().map(|kind| selected(kind)).collect()
    }

    fn cleaned(&self, objects: Vec<Value>) -> Vec<Value> {
        let portable = match self.exact {
            true => Portable::Exact,
            false => Portable::Anywhere,
        };
        let cleaned = objects.into_iter().map(|object| cleaned(object, portable));
        cleaned.flatten().collect()
    }

    fn document(&self, objects: Vec<Value>, session: &mut Session<'_, '_>) -> Value {
        if let Some(name) = &self.as_template {
            let style = Style {
                name: name.as_str(),
                parameterize: self.parameterize,
            };
            return template(objects, style);
        }
        let live = self.files.is_empty();
        for secret in objects
            .iter()
            .filter(|object| live && object["kind"] == "Secret")
        {
            let name = secret["metadata"]["name"].as_str().unwrap_or_default();
            session.terminal.note(&format!(
                "warning: the values of Secret {} are masked; write them before you apply it",
                text::line(name)
            ));
        }
        json!({"apiVersion": "v1", "kind": "List", "metadata": {}, "items": objects})
    }
}

/// A kind, or a kind and a name behind it. What follows a version is a kind: `apps/v1/Deployment`.
fn selected(text: &str) -> Result<Selected, Failure> {
    let parts = text.rsplit_once('/');
    let (type_name, name) = match parts.filter(|(before, _)| !ends_in_a_version(before)) {
        Some((type_name, name)) => (type_name, Some(name.to_owned())),
        None => (text, None),
    };
    Ok(Selected {
        type_name: TypeName::parse(type_name)?,
        name,
    })
}

fn ends_in_a_version(text: &str) -> bool {
    let last = text.rsplit('/').next().unwrap_or_default();
    let number = last.strip_prefix('v').and_then(|rest| rest.bytes().next());
    number.is_some_and(|first| first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_behind_a_kind() {
        for (text, type_name, name) in [
            ("Deployment", "Deployment", None),
            ("Deployment/web", "Deployment", Some("web")),
            ("apps/v1/Deployment", "apps/v1/Deployment", None),
            ("apps/v1/Deployment/web", "apps/v1/Deployment", Some("web")),
            ("v1/Service", "v1/Service", None),
            ("volumes/web", "volumes", Some("web")),
        ] {
            let found = selected(text).unwrap();
            let found = (found.type_name.to_string(), found.name);
            assert_eq!(
                found,
                (type_name.to_owned(), name.map(str::to_owned)),
                "{text}"
            );
        }
        assert!(selected("/web").is_err());
    }
}
