//! What happens around a deployment's objects.

use common::api::activity::{ClusterEvents, EventsQuery, LogItem, LogLine, LogNotice, LogsQuery};

use super::*;

pub fn events(of: &mut SchemaGenerator) -> Description {
    Description::new("List the cluster's events about a deployment's objects, the newest last")
        .query::<EventsQuery>(of)
        .answers::<ClusterEvents>(
            200,
            "Events about the objects, and about the pods and other objects that the cluster made of them.",
            of,
        )
        .fails(READS)
}

pub fn logs(of: &mut SchemaGenerator) -> Description {
    let kinds = json!({
        LogItem::LINE: of.subschema_for::<LogLine>(),
        LogItem::NOTICE: of.subschema_for::<LogNotice>(),
        LogItem::ERROR: of.subschema_for::<common::api::error::ErrorBody>(),
    });
    Description::new("Read the logs of a deployment's containers, and follow them")
        .query::<LogsQuery>(of)
        .events("Server-sent events: `line` with a LogLine, `notice` with a LogNotice, `error` with the reason why the stream ends early.", kinds)
        .fails(READS)
}

const READS: &[ErrorCode] = &[
    NotFound,
    Forbidden,
    TooManyRequests,
    DeployerUnavailable,
    ClusterUnavailable,
    Timeout,
];
