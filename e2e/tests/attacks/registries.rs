//! References that lead astray, and registries that mean ill.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Result, ensure};
use serde_json::json;

use crate::services::Services;

/// Listens where the manager stands, and counts who comes.
struct Inside {
    address: SocketAddr,
    visits: Arc<AtomicUsize>,
}

impl Inside {
    /// `answer` is the response to every request.
    fn listen(
        answer: impl Fn(&mut TcpStream) -> std::io::Result<()> + Send + Sync + 'static,
    ) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let (visits, answer) = (Arc::new(AtomicUsize::new(0)), Arc::new(answer));
        let counted = visits.clone();
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                counted.fetch_add(1, Ordering::SeqCst);
                let answer = answer.clone();
                std::thread::spawn(move || {
                    let head = BufReader::new(stream.try_clone()?).lines();
                    head.map_while(Result::ok).find(String::is_empty);
                    answer(&mut stream)
                });
            }
        });
        Ok(Self { address, visits })
    }

    fn visits(&self) -> usize {
        self.visits.load(Ordering::SeqCst)
    }
}

fn of_type(type_name: &str) -> String {
    json!({"resources": [{"name": "x", "type": type_name}]}).to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn references_lead_to_nothing_inside_of_the_managers_network() -> Result<()> {
    let services = Services::start().await?;
    let inside = Inside::listen(|stream| stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nsecret"))?;
    let port = inside.address.port();
    let number = u32::from(std::net::Ipv4Addr::LOCALHOST);
    let attack = async {
        for type_name in [
            format!("http://127.0.0.1:{port}/a.py"),
            format!("http://localhost:{port}/a.py"),
            format!("http://[::ffff:127.0.0.1]:{port}/a.py"),
            format!("http://0177.0.0.1:{port}/a.py"),
            format!("http://{number}:{port}/a.py"),
            format!("http://0x7f.1:{port}/a.py"),
            format!("http://127.0.0.1.:{port}/a.py"),
            format!("http://0:{port}/a.py"),
            format!("http://a@127.0.0.1:{port}/a.py"),
            format!("HTTP://127.0.0.1:{port}/a.jinja"),
            "http://169.254.169.254/latest/meta-data/a.py".to_owned(),
            "http://[::ffff:169.254.169.254]/a.py".to_owned(),
            "http://0251.0376.0251.0376/a.py".to_owned(),
            "http://100.100.100.200/a.py".to_owned(),
            services.resourcifier.url() + "/configurations/Secret/a.py",
            "file:///etc/passwd".to_owned(),
            "file:///etc/passwd.py".to_owned(),
            "/etc/passwd:v1".to_owned(),
            "../../../../etc/passwd:v1".to_owned(),
            "github.com/../../x:v1".to_owned(),
            "github.com/owner/repo/../../x:v1".to_owned(),
        ] {
            let (status, body) = services.expand(&of_type(&type_name)).await?;
            let reported = body.to_string();
            // A text that is not a reference may still be a kind of the cluster. The answer has only its name.
            let is_kind = status == 200 && !type_name.to_lowercase().starts_with("http");
            ensure!(status == 400 || is_kind, "{type_name}: {status} {reported}");
            ensure!(
                !reported.contains("root:") && !reported.contains("secret"),
                "{type_name}: {reported}"
            );
        }
        Ok(())
    };
    services.bear(attack).await?;
    ensure!(inside.visits() == 0, "{} visits", inside.visits());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
#[expect(
    clippy::disallowed_methods,
    reason = "a server that is slow on purpose, on a thread of its own"
)]
async fn a_registry_that_drips_floods_or_leads_elsewhere_holds_nobody_else_up() -> Result<()> {
    let services = Services::start().await?;
    let inside = Inside::listen(|stream| stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nsecret"))?;
    let elsewhere = format!(
        "HTTP/1.1 302 Found\r\nLocation: http://{}/\r\n\r\n",
        inside.address
    );
    let leads = Inside::listen(move |stream| stream.write_all(elsewhere.as_bytes()))?;
    let floods = Inside::listen(|stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")?;
        loop {
            stream.write_all(&[0; 65_536])?;
        }
    })?;
    let drips = Inside::listen(|stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n")?;
        loop {
            stream.write_all(b"a")?;
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    })?;
    let attack = async {
        for (name, registry) in [("leads", &leads), ("floods", &floods), ("drips", &drips)] {
            let definition =
                json!({"type": "http", "url": format!("http://{}/", registry.address)});
            services.register(name, &definition).await?;
            let reference = of_type(&format!("{name}/a:v1"));
            let asked = (0..20).map(|_| services.expand(&reference));
            for outcome in futures::future::join_all(asked).await {
                let (status, body) = outcome?;
                ensure!([400, 503].contains(&status), "{name}: {status} {body}");
            }
            ensure!(registry.visits() > 0, "{name} was not asked");
        }
        Ok(())
    };
    services.bear(attack).await?;
    ensure!(inside.visits() == 0, "{} visits", inside.visits());
    let memory = services.manager.peak_memory()?;
    ensure!(memory < 512 * 1024 * 1024, "{memory} bytes");
    Ok(())
}
