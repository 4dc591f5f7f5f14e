//! What stands behind the manager: one server for both services, which expands to what it is given and says that all of
//! it is ready.

use anyhow::{Context, Result};
use common::api::deployer::{ApplyRequest, CheckResponse, Event, Report, ResourceReport};
use common::api::expander::ExpandResponse;
use common::model::{Configuration, Resource};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// Starts it; gives its address.
pub async fn start() -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                // The manager closes when it stops.
                let _ = serve(stream).await;
            });
        }
    });
    Ok(format!("http://{address}"))
}

/// Requests one after the other, each with the length of its body in its head.
async fn serve(stream: TcpStream) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut stream = BufReader::new(stream);
    loop {
        let mut first = String::new();
        if stream.read_line(&mut first).await? == 0 {
            return Ok(());
        }
        let mut length = 0;
        loop {
            let mut header = String::new();
            stream.read_line(&mut header).await?;
            let header = header.trim().to_ascii_lowercase();
            if header.is_empty() {
                break;
            }
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse()?;
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await?;
        let path = first.split(' ').nth(1).context("no path")?;
        let answer = answer(path, &body)?;
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            answer.len()
        );
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(answer.as_bytes()).await?;
    }
}

fn answer(path: &str, body: &[u8]) -> Result<String> {
    Ok(match path {
        "/expand" => expanded(body)?,
        "/configurations/check" => {
            let request: ApplyRequest = serde_json::from_slice(body)?;
            let objects = request
                .resources
                .iter()
                .map(object)
                .collect::<Result<_>>()?;
            serde_json::to_string(&CheckResponse {
                objects,
                edges: Vec::new(),
            })?
        }
        "/configurations" => applied(body)?,
        _ => json!({"ready": true, "checks": []}).to_string(),
    })
}

fn expanded(body: &[u8]) -> Result<String> {
    let request: Value = serde_json::from_slice(body)?;
    let content = request["content"].as_str().unwrap_or_default();
    let config: Configuration = serde_json::from_str(content)?;
    let unresolved = config
        .resources
        .iter()
        .map(|resource| resource.type_name.to_string());
    let response = ExpandResponse {
        unresolved: unresolved.collect(),
        layout: serde_json::from_str(content)?,
        config,
        ..ExpandResponse::default()
    };
    Ok(serde_json::to_string(&response)?)
}

fn object(resource: &Resource) -> Result<common::model::ObjectRef> {
    let object = json!({"apiVersion": "v1", "kind": resource.type_name, "namespace": "default", "name": resource.name});
    Ok(serde_json::from_value(object)?)
}

fn applied(body: &[u8]) -> Result<String> {
    let request: ApplyRequest = serde_json::from_slice(body)?;
    let report = |resource: &Resource| -> Result<ResourceReport> {
        let report = json!({
            "name": resource.name, "type": resource.type_name, "object": object(resource)?,
            "uid": "1", "action": "CREATED", "state": "READY",
        });
        Ok(serde_json::from_value(report)?)
    };
    let record = |resource: &Resource| -> Result<_> {
        let mut record = serde_json::to_value(object(resource)?)?;
        record["resource"] = json!(resource.name);
        record["uid"] = json!("1");
        Ok(serde_json::from_value(record)?)
    };
    let report = Report {
        resources: request
            .resources
            .iter()
            .map(report)
            .collect::<Result<_>>()?,
        objects: request
            .resources
            .iter()
            .map(record)
            .collect::<Result<_>>()?,
        outputs: Vec::new(),
        output_errors: Vec::new(),
        stopped: false,
    };
    Ok(serde_json::to_string(&Event::Report(report))? + "\n")
}
