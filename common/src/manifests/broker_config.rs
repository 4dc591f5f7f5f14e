//! Configurations of service brokers: which texts are one. What they mean, `expandybird-brokerconfig` knows.

use serde_json::Value;

use crate::yaml::{self, Duplicates, Limits};

const KIND: &str = "ServiceBrokerConfig";
const VERSION: &str = "servicebroker.couchbase.com/v1alpha1";

/// Whether a text has a configuration of a service broker. Objects of Kubernetes may stand beside it.
pub fn is_broker_config(text: &str) -> bool {
    // Reading a long text only to see what it is costs more than looking for the word.
    text.contains(KIND)
        && yaml::read_all(text, &Limits::DEFAULT, Duplicates::Warn).is_ok_and(|documents| {
            let mut documents = documents.iter();
            documents.any(|document| is_broker_config_document(&document.value))
        })
}

/// Whether a document says that it is such a configuration.
pub fn is_broker_config_document(document: &Value) -> bool {
    document["kind"] == KIND && document["apiVersion"] == VERSION
}
