//! Template objects: stored by namespace, and processed without a deployment.
//!
//! A caller may do with Templates of a namespace what they may do with its deployments. Storing one has no side effects.

use std::collections::HashMap;

use common::api::error::{ErrorBody, ErrorCode, Location};
use common::api::manager::TemplateDescription;
use common::api::page::{Page, PageQuery};
use common::manifests;
use common::model::{Namespace, TemplateName, TypeName};
use common::work::{self, Size};
use common::yaml::{Limits, TextLocations};
use expandybird_templateobject::{
    Fault, Faults, Inputs, Processed, Seeded, Template, process, schema,
};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::template_inputs::TemplateInputs;
use super::template_patch::{PatchFault, TemplatePatch};
use crate::auth::authorization::Question;
use crate::auth::{AccessControl, Caller, Resource, Verb};
use crate::error::Error;
use crate::store::operations::answers;
use crate::store::templates::{self, Found};
use crate::store::{Store, StoreError};
use crate::workflow::expansion::random_seed;
use crate::workflow::expansion::stored_types::{StoredTypes, recognises};

/// How often somebody else may write between the reading and the writing of a patch.
const RACES: usize = 5;

/// A Template that was sent.
#[derive(Debug, Default)]
pub struct Document {
    pub value: Value,
    /// What its faults are located in. Empty: its text is unknown.
    pub text: String,
}

pub struct StoredTemplates {
    pub store: Store,
    pub access: AccessControl,
}

impl StoredTemplates {
    /// Stores a Template. Its objects are checked when it is processed.
    pub async fn create(
        &self,
        namespace: Namespace,
        document: Value,
        caller: &Caller,
    ) -> Result<Value, Error> {
        check(&document)?;
        let name = own_name(&document)?;
        self.authorize(caller, &namespace, Some(&name), Verb::Create)
            .await?;
        check_parameters(&name, &document).await?;
        let stored = versioned(document, &namespace, None);
        answers::created(&stored)?;
        match templates::put(&self.store, &namespace, &name, None, &stored).await {
            Ok(()) => Ok(stored),
            Err(error) if error.is_conflict() => {
                let message = format!("template '{name}' exists in namespace '{namespace}'");
                Err(Error::new(ErrorCode::AlreadyExists, message))
            }
            Err(error) => Err(error.into()),
        }
    }

    pub async fn get(
        &self,
        namespace: &Namespace,
        name: &TemplateName,
        caller: &Caller,
    ) -> Result<Value, Error> {
        Ok(self.found(namespace, name, caller).await?.document)
    }

    pub async fn list(
        &self,
        namespace: &Namespace,
        page: &PageQuery,
        caller: &Caller,
    ) -> Result<Page<Value>, Error> {
        self.authorize(caller, namespace, None, Verb::List).await?;
        Ok(templates::list(&self.store, namespace, page).await?)
    }

    /// Replaces a Template. With a `metadata.resourceVersion`, only if it has not changed since.
    pub async fn replace(
        &self,
        namespace: &Namespace,
        name: &TemplateName,
        document: Value,
        caller: &Caller,
    ) -> Result<Value, Error> {
        check(&document)?;
        if own_name(&document)? != *name {
            let message = format!("the body is not template '{name}': its metadata.name differs");
            return Err(Error::new(ErrorCode::InvalidRequest, message));
        }
        let found = self.found(namespace, name, caller).await?;
        self.authorize(caller, namespace, Some(name), Verb::Update)
            .await?;
        check_parameters(name, &document).await?;
        let version = resource_version(&document);
        if version.is_some() && version != resource_version(&found.document) {
            return Err(changed(name));
        }
        let stored = versioned(document, namespace, Some(&found.document));
        answers::done(&stored)?;
        let put = templates::put(&self.store, namespace, name, Some(&found), &stored).await;
        put.map_err(|error| conflict(error, name))?;
        Ok(stored)
    }

    /// Changes fields of a Template. With a `metadata.resourceVersion` in the patch, only if it has not changed since.
    pub async fn patch(
        &self,
        namespace: &Namespace,
        name: &TemplateName,
        patch: TemplatePatch,
        caller: &Caller,
    ) -> Result<Value, Error> {
        let mut lost = None;
        for _ in 0..RACES {
            let found = self.found(namespace, name, caller).await?;
            let (before, patch) = (found.document, patch.clone());
            let size = Size::of([&before]);
            let patched = work::sized(size, move || {
                let patched = patch.apply(before.clone());
                patched.map(|after| (before, after))
            });
            let (before, after) = patched.await.map_err(|fault| unfit(name, &fault))?;
            // Without a version of its own, the patch is for whatever is stored.
            let is_for_this = resource_version(&before) == resource_version(&after);
            match self.replace(namespace, name, after, caller).await {
                Err(Error::Refused(error)) if is_for_this && error.code == ErrorCode::Conflict => {
                    lost = Some(error);
                }
                outcome => return outcome,
            }
        }
        Err(lost.map_or_else(|| changed(name), Error::Refused))
    }

    pub async fn delete(
        &self,
        namespace: &Namespace,
        name: &TemplateName,
        caller: &Caller,
    ) -> Result<Value, Error> {
        let found = self.found(namespace, name, caller).await?;
        self.authorize(caller, namespace, Some(name), Verb::Delete)
            .await?;
        answers::done(&found.document)?;
        let deleted = templates::delete(&self.store, namespace, name, &found).await;
        deleted.map_err(|error| conflict(error, name))?;
        Ok(found.document)
    }

    /// A stored Template with these values in the places of its references.
    pub async fn processed(
        &self,
        namespace: &Namespace,
        name: &TemplateName,
        inputs: TemplateInputs,
        caller: &Caller,
    ) -> Result<Processed, Error> {
        let found = self.found(namespace, name, caller).await?;
        let document = Document {
            value: found.document,
            text: String::new(),
        };
        processed(document, inputs).await
    }

    /// The Template as a type, with the schema of its parameters.
    pub async fn describe(
        &self,
        type_name: &TypeName,
        caller: &Caller,
    ) -> Result<TemplateDescription, Error> {
        let types = StoredTypes {
            store: self.store.clone(),
            access: self.access.clone(),
        };
        let found = types.resolve(type_name, caller.identity.as_ref()).await;
        let found = found.map_err(Error::Refused)?;
        let text = found.imports.into_iter().next().map(|file| file.content);
        let text = text.unwrap_or_default();
        let read = move || {
            let document = manifests::read_template_object(&text).ok()?;
            Some(schema(&Template::read(document).ok()?))
        };
        // A Template that is not valid can be stored. Its instances say what is wrong.
        let schema = work::large(read).await;
        let about = |key: &str| {
            let text = schema.as_ref()?.get("info")?.get(key)?.as_str()?;
            Some(text.to_owned())
        };
        Ok(TemplateDescription {
            resolved: found.resolved,
            title: about("title"),
            description: about("description"),
            example: None,
            schema,
        })
    }

    /// One that the caller may see. To others it does not exist.
    async fn found(
        &self,
        namespace: &Namespace,
        name: &TemplateName,
        caller: &Caller,
    ) -> Result<Found, Error> {
        let question = question(Verb::Get, namespace, Some(name));
        let identity = caller.identity.as_ref();
        let found = match self.access.allows(identity, &question).await? {
            true => templates::find(&self.store, namespace, name).await?,
            false => None,
        };
        let message = || format!("there is no template '{name}' in namespace '{namespace}'");
        found.ok_or_else(|| Error::new(ErrorCode::NotFound, message()))
    }

    async fn authorize(
        &self,
        caller: &Caller,
        namespace: &Namespace,
        name: Option<&TemplateName>,
        verb: Verb,
    ) -> Result<(), Error> {
        let question = question(verb, namespace, name);
        let identity = caller.identity.as_ref();
        Ok(self.access.require(identity, &question).await?)
    }
}

/// Whether a type is a stored Template.
pub fn is_type(type_name: &TypeName) -> bool {
    recognises(type_name.as_str())
}

/// The same as about a deployment of that name.
fn question(verb: Verb, namespace: &Namespace, name: Option<&TemplateName>) -> Question {
    Question {
        verb,
        resource: Resource::Deployments,
        namespace: Some(namespace.clone()),
        name: name.map(ToString::to_string),
    }
}

/// A Template with these values in the places of its references. Nothing is stored.
pub async fn processed(document: Document, inputs: TemplateInputs) -> Result<Processed, Error> {
    let Document { value, text } = document;
    check(&value)?;
    let seed = random_seed()?;
    let size = Size::of([&value]);
    let run = move || {
        let name = name_of(&value).unwrap_or_default().to_owned();
        let mut values = Seeded::new(seed.as_bytes(), "", HashMap::new());
        let inputs = Inputs {
            parameters: inputs.parameters,
            labels: &inputs.labels,
            ignore_unknown: inputs.ignore_unknown,
        };
        let processed =
            Template::read(value).and_then(|template| process(template, &inputs, &mut values));
        processed.map_err(|faults| invalid(&name, &faults, &text))
    };
    work::sized(size, run).await
}

fn check(document: &Value) -> Result<(), Error> {
    match manifests::is_template(document) {
        true => Ok(()),
        false => Err(Error::new(
            ErrorCode::InvalidRequest,
            "the body is not a Template: it has 'kind: Template' and 'apiVersion: v1' or 'template.openshift.io/v1'",
        )),
    }
}

/// Checks the parameters of a Template that is to be stored. Its objects are checked when it is processed.
async fn check_parameters(name: &TemplateName, document: &Value) -> Result<(), Error> {
    let parameters = document.get("parameters").cloned().unwrap_or_default();
    let (name, size) = (name.to_string(), Size::of([&parameters]));
    let read = move || {
        let alone = json!({"apiVersion": "v1", "kind": "Template", "parameters": parameters, "objects": []});
        let faults = Template::read(alone)
            .err()
            .map_or(Vec::new(), |faults| faults.0);
        let of_parameters = |fault: &Fault| fault.field.as_str().starts_with("parameters");
        let faults = faults.into_iter().filter(of_parameters).collect();
        Faults::check(faults).map_err(|faults| invalid(&name, &faults, ""))
    };
    work::sized(size, read).await
}

/// All faults, each as a cause with its field, and its place in the text.
fn invalid(name: &str, faults: &Faults, text: &str) -> Error {
    let places = TextLocations::new(text, &Limits::DEFAULT);
    let number = |value: usize| u32::try_from(value).ok();
    let causes = faults.0.iter().map(|fault| {
        let known = places.at(fault.field.pointer());
        let place = known.filter(|_| !text.is_empty());
        ErrorBody::new(ErrorCode::InvalidTemplate, fault.to_string()).at(Location {
            path: Some(fault.field.to_string()),
            line: place.and_then(|place| number(place.line)),
            column: place.and_then(|place| number(place.column)),
            ..Location::default()
        })
    });
    let message = format!("Template.template.openshift.io {name:?} is invalid: {faults}");
    let body = ErrorBody::new(ErrorCode::InvalidTemplate, message);
    Error::Refused(Box::new(body.caused_by(causes)))
}

/// In the words of a fault of the Template, as Kubernetes answers it.
fn unfit(name: &TemplateName, fault: &PatchFault) -> Error {
    let message = format!("template '{name}' cannot be changed: {fault}");
    Error::new(ErrorCode::InvalidTemplate, message)
}

fn name_of(document: &Value) -> Option<&str> {
    document.get("metadata")?.get("name")?.as_str()
}

fn own_name(document: &Value) -> Result<TemplateName, Error> {
    let name = name_of(document).unwrap_or_default();
    TemplateName::parse(name).map_err(|error| {
        let cause = ErrorBody::new(
            ErrorCode::InvalidTemplate,
            format!("metadata.name: Invalid value: {name:?}: {error}"),
        );
        let cause = cause.at(Location {
            path: Some("metadata.name".to_owned()),
            ..Location::default()
        });
        let message = format!(
            "Template.template.openshift.io {name:?} is invalid: {}",
            cause.message
        );
        let body = ErrorBody::new(ErrorCode::InvalidTemplate, message);
        Error::Refused(Box::new(body.caused_by([cause])))
    })
}

fn resource_version(document: &Value) -> Option<&str> {
    let version = document.get("metadata")?.get("resourceVersion")?.as_str()?;
    Some(version).filter(|version| !version.is_empty())
}

/// The document with what the manager itself knows of it.
fn versioned(mut document: Value, namespace: &Namespace, before: Option<&Value>) -> Value {
    let known = |key: &str| before?.get("metadata")?.get(key).cloned();
    let version =
        known("resourceVersion").and_then(|version| version.as_str()?.parse::<u64>().ok());
    let version = version.unwrap_or_default().saturating_add(1);
    let fresh = || json!(uuid::Uuid::new_v4().to_string());
    let entries = [
        ("namespace", json!(namespace)),
        ("uid", known("uid").unwrap_or_else(fresh)),
        ("resourceVersion", json!(version.to_string())),
        (
            "creationTimestamp",
            known("creationTimestamp").unwrap_or_else(|| json!(now())),
        ),
    ];
    if !document["metadata"].is_object() {
        document["metadata"] = Value::Object(Map::new());
    }
    for (key, value) in entries {
        document["metadata"][key] = value;
    }
    document
}

/// As Kubernetes writes it: without fractions of a second.
fn now() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_second(now.as_second()).unwrap_or(now)
}

fn conflict(error: StoreError, name: &TemplateName) -> Error {
    match error.is_conflict() {
        true => changed(name),
        false => error.into(),
    }
}

fn changed(name: &TemplateName) -> Error {
    let message = format!(
        "template '{name}' has changed since it was read; read it again, then repeat the change"
    );
    Error::new(ErrorCode::Conflict, message)
}
