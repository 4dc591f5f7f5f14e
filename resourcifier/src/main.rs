//! The process: flags and wiring only.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use clap::Parser;
use common::client::http::builder;
use common::server::{CallerPolicy, return_large_blocks, serve};
use common::telemetry;
use resourcifier::flags::Flags;
use resourcifier::http;
use resourcifier::kubectl::{NOT_RUN, Settings, ThroughProxy, become_program};
use resourcifier::service::{AnonymousPolicy, Deployer};

/// The default address to listen on.
const DEFAULT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8082);

/// Starts kubectl, in the mode of [`become_program`].
const ITSELF: &str = "/proc/self/exe";

fn main() -> anyhow::Result<ExitCode> {
    if let Some(reason) = become_program(std::env::args_os()) {
        writeln!(std::io::stderr(), "{reason}")?;
        return Ok(ExitCode::from(NOT_RUN));
    }
    return_large_blocks("resourcifier");
    actix_web::rt::System::new().block_on(run())?;
    Ok(ExitCode::SUCCESS)
}

async fn run() -> anyhow::Result<()> {
    let flags = Flags::parse();
    let traces = flags.listen.traces.open("resourcifier", builder())?;
    telemetry::init(flags.listen.log_format, traces.as_ref());
    let done = serve_until_end(flags).await;
    if let Some(traces) = traces {
        traces.end().await;
    }
    done
}

async fn serve_until_end(flags: Flags) -> anyhow::Result<()> {
    let Flags {
        listen,
        callers,
        kubectl,
        kubeconfig,
        context,
        require_identity,
    } = flags;
    let anonymous = match require_identity {
        true => AnonymousPolicy::Refuse,
        false => AnonymousPolicy::UseServiceIdentity,
    };
    let cluster = ThroughProxy::new(Settings {
        program: kubectl,
        kubeconfig,
        context,
        launcher: Some(ITSELF.into()),
    })?;
    let cluster = Arc::new(cluster);
    let deployer = Arc::new(Deployer::new(cluster.clone(), anonymous));
    tell_what_is_missing(&deployer).await;
    let served = serve(
        &listen,
        DEFAULT,
        CallerPolicy::Services(callers),
        http::routes(deployer),
    )
    .await;
    cluster.stop().await;
    served.context("the service stopped")
}

/// The service starts without kubectl or a cluster and recovers by itself, but it logs that.
async fn tell_what_is_missing(deployer: &Deployer) {
    for check in deployer.checks().await {
        match check.ready {
            true => tracing::info!(check.name, "{}: {}", check.name, check.message),
            false => tracing::warn!(check.name, "{} is not ready: {}", check.name, check.message),
        }
    }
}
