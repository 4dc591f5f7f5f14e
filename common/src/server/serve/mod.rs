//! Listens and serves until the process receives SIGTERM or SIGINT.

pub(super) mod files;
pub(super) mod tls;

use std::net::{SocketAddr, TcpListener};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::ServerHandle;
use actix_web::http::Method;
use actix_web::middleware::from_fn;
use actix_web::web::{self, Data, PathConfig, ServiceConfig};
use actix_web::{App, HttpServer};
use rustls::ServerConfig;
use tokio::net::TcpSocket;
use tokio::task::JoinHandle;

use self::tls::Tls;
use super::answer::compress::compress;
use super::answer::error::{ApiError, no_such_route};
use super::callers::access::{CallerPolicy, Door, Unguarded};
use super::callers::peer;
use super::callers::peer::Relays;
use super::limits::{LimitFlags, Limits};
use super::observe::{health, observe};
use super::request::bodiless::bodiless;
use super::request::front;
use super::route::at;
use crate::api::error::ErrorCode;
use crate::reload::Unusable;
use crate::telemetry::LogFormat;
use crate::telemetry::traces::TraceFlags;

/// The flags that every service has.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Listen {
    /// Address and port to listen on; port 0 means any free port [default: the service's own port on 127.0.0.1].
    #[arg(long, env = "DM_LISTEN", value_name = "ADDR:PORT")]
    pub listen: Option<SocketAddr>,
    /// File to write the port to, when the service accepts connections.
    #[arg(long, env = "DM_PORT_FILE", value_name = "PATH")]
    pub port_file: Option<PathBuf>,
    /// Format of log lines on standard error.
    #[arg(long, env = "DM_LOG_FORMAT", value_enum, default_value_t)]
    pub log_format: LogFormat,
    #[command(flatten)]
    pub traces: TraceFlags,
    #[command(flatten)]
    pub tls: Tls,
    #[command(flatten)]
    pub limits: LimitFlags,
    /// Decided by the service, without a flag.
    #[arg(skip)]
    pub hang_up: HangUp,
    /// If several processes of the service pass requests on to each other.
    #[arg(skip)]
    pub relays: Option<Arc<dyn Relays>>,
}

/// What happens to a request whose client disconnects before the answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HangUp {
    /// It continues: its writes must be finished.
    #[default]
    GoesOn,
    /// It is cancelled: it has no effects, and no client waits for the answer.
    Ends,
}

/// Running requests have this long to finish after SIGTERM.
const DRAIN: Duration = Duration::from_secs(30);
/// How long a client may take to send a request's head. Some clients open connections in advance, so it is not shorter.
const HEAD: Duration = Duration::from_secs(30);
/// How long an idle connection stays open. Longer than clients keep theirs (90 s in Go and Rust), so the service never closes a
/// connection while a request is on its way.
const IDLE: Duration = Duration::from_secs(120);
/// Connections that wait to be accepted, when many clients connect at the same time.
const BACKLOG: u32 = 4096;

/// Why a service does not listen.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error(transparent)]
    Unguarded(#[from] Unguarded),
    #[error(transparent)]
    File(#[from] Unusable),
    #[error(transparent)]
    Tls(#[from] self::tls::Error),
    #[error("cannot listen on {address}: {source}")]
    Listen {
        address: SocketAddr,
        source: std::io::Error,
    },
    #[error("cannot write the port file {}: {source}", path.display())]
    PortFile {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("serving failed: {0}")]
    Serve(#[from] std::io::Error),
}

/// Serves the routes until SIGTERM or SIGINT. Then stops accepting, lets running requests finish, and returns.
pub async fn serve<F>(
    listen: &Listen,
    default: SocketAddr,
    access: CallerPolicy,
    routes: F,
) -> Result<(), ServeError>
where
    F: Fn(&mut ServiceConfig) + Clone + Send + 'static,
{
    let listening = Listening::bind(listen, default, access)?;
    listening.start(routes)?.ended().await
}

/// An address that is bound. Several servers may serve it one after the other, and no connection is refused between them.
#[derive(Debug)]
pub struct Listening {
    listener: TcpListener,
    address: SocketAddr,
    listen: Listen,
    tls: Option<ServerConfig>,
    door: Arc<Door>,
    hears_signals: bool,
}

impl Listening {
    /// # Errors
    /// If the service may not listen there without authentication, or cannot.
    pub fn bind(
        listen: &Listen,
        default: SocketAddr,
        access: CallerPolicy,
    ) -> Result<Self, ServeError> {
        let tls = listen.tls.config()?;
        let door = Arc::new(Door::open(access, &listen.tls)?);
        let address = listen.listen.unwrap_or(default);
        door.may_listen(address, tls.is_some())?;
        let failed = |source| ServeError::Listen { address, source };
        let listener = bind(address).map_err(failed)?;
        Ok(Self {
            address: listener.local_addr()?,
            listener,
            listen: listen.clone(),
            tls,
            door,
            hears_signals: true,
        })
    }

    /// Its server does not stop by itself at SIGTERM or SIGINT: a [`Stopper`] stops it, when the service is ready for it.
    #[must_use]
    pub fn deaf_to_signals(self) -> Self {
        Self {
            hears_signals: false,
            ..self
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `https` if callers connect over TLS.
    pub fn scheme(&self) -> &'static str {
        match self.tls {
            Some(_) => "https",
            None => "http",
        }
    }

    /// The same address for a further server.
    ///
    /// # Errors
    /// If the process has no room for another descriptor.
    pub fn again(&self) -> Result<Self, ServeError> {
        Ok(Self {
            listener: self.listener.try_clone()?,
            address: self.address,
            listen: self.listen.clone(),
            tls: self.tls.clone(),
            door: self.door.clone(),
            hears_signals: self.hears_signals,
        })
    }

    /// Starts a server with the routes, and writes the port file.
    ///
    /// # Errors
    /// If the server cannot start, or the port file cannot be written.
    pub fn start<F>(self, routes: F) -> Result<Serving, ServeError>
    where
        F: Fn(&mut ServiceConfig) + Clone + Send + 'static,
    {
        let (scheme, listen) = (self.scheme(), &self.listen);
        let connections = files::make_room(listen.limits.max_connections.get() as usize);
        let limits = Data::new(Limits::new(&listen.limits, self.door.is_guarded()));
        let workers = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let (door, relays) = (self.door, listen.relays.clone());
        let server = HttpServer::new(move || {
            let (routes, door, limits) = (routes.clone(), door.clone(), limits.clone());
            let relays = relays.clone();
            App::new()
                    .app_data(
                        PathConfig::default().error_handler(|error, _| unreadable_path(&error)),
                    )
                    .app_data(limits.clone())
                    .wrap(from_fn(move |request, next| {
                        let (door, limits, relays) = (door.clone(), limits.clone(), relays.clone());
                        async move {
                            front::pass(&door, &limits, relays.as_deref(), request, next).await
                        }
                    }))
                    .wrap(from_fn(bodiless))
                    .wrap(from_fn(compress))
                    .wrap(from_fn(observe))
                    .service(at("/healthz", [(Method::GET, web::to(health::healthz))]))
                    .configure(routes)
                    .default_service(web::to(no_such_route))
        })
        .on_connect(peer::note)
        .h1_allow_half_closed(listen.hang_up == HangUp::GoesOn)
        .workers(workers)
        .max_connections((connections / workers).max(1))
        .client_request_timeout(HEAD)
        .keep_alive(IDLE)
        .shutdown_timeout(DRAIN.as_secs());
        let server = match self.hears_signals {
            true => server,
            false => server.disable_signals(),
        };
        let server = match self.tls {
            Some(config) => server.listen_rustls_0_23(self.listener, config)?,
            None => server.listen(self.listener)?,
        }
        .run();
        let handle = StopAtTheEnd(server.handle());
        let running = tokio::spawn(server);
        if let Some(path) = &listen.port_file {
            let failed = |source| ServeError::PortFile {
                path: path.clone(),
                source,
            };
            write_port(path, self.address.port()).map_err(failed)?;
        }
        tracing::info!(address = %self.address, "listening on {scheme}://{}", self.address);
        Ok(Serving { handle, running })
    }
}

/// A server that runs, until this is dropped.
pub struct Serving {
    handle: StopAtTheEnd,
    running: JoinHandle<std::io::Result<()>>,
}

impl Serving {
    /// Waits for SIGTERM or SIGINT, and for the end of the running requests.
    ///
    /// # Errors
    /// If serving failed.
    pub async fn ended(&mut self) -> Result<(), ServeError> {
        Ok((&mut self.running).await.map_err(std::io::Error::from)??)
    }

    /// Stops it later, as SIGTERM does.
    pub fn stopper(&self) -> Stopper {
        Stopper(self.handle.0.clone())
    }

    /// Accepts no further connection, and serves those that are open until they end.
    pub async fn stop_accepting(&self) {
        self.handle.0.pause().await;
    }
}

/// Stops a server that received no signal itself: the signal came before the server, or the server hears none.
pub struct Stopper(ServerHandle);

impl Stopper {
    /// Running requests finish. A server that stops already is left alone.
    pub fn stop(&self) {
        // The stop command is sent. Its completion is not awaited.
        drop(self.0.stop(true));
    }
}

/// Stops the server when it is dropped: its threads would otherwise continue.
struct StopAtTheEnd(ServerHandle);

impl Drop for StopAtTheEnd {
    fn drop(&mut self) {
        // The stop command is sent. Its completion is not awaited.
        drop(self.0.stop(false));
    }
}

fn bind(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)?.into_std()
}

fn unreadable_path(error: &dyn std::fmt::Display) -> actix_web::Error {
    let message = format!("the path cannot be read: {error}");
    ApiError::new(ErrorCode::InvalidRequest, message).into()
}

/// Writes the whole file at once: a reader never sees half a number.
fn write_port(path: &Path, port: u16) -> std::io::Result<()> {
    let draft = path.with_extension("tmp");
    std::fs::write(&draft, format!("{port}\n"))?;
    std::fs::rename(&draft, path)
}
