//! A browser without a window, and what every view of the page must hold.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use e2e::program::{checkout, path_of};
use e2e::until;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde_json::{Value, json};
use thirtyfour::prelude::*;

/// How long a view may take until it shows something: several browsers start at the same time on a small machine.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Runs in each document before its own scripts. It survives the change to another document.
const WATCH: &str = "
    const note = (text) => sessionStorage.setItem('faults', (sessionStorage.getItem('faults') ?? '') + text + '\\n');
    addEventListener('securitypolicyviolation', (event) => note(`${event.effectiveDirective} ${event.blockedURI} ${event.sample}`));
    addEventListener('error', (event) => note(`error ${event.message}`), true);
    addEventListener('unhandledrejection', (event) => note(`rejected ${event.reason}`));";

/// Serious findings of axe, each with its elements.
const AXE: &str = "
    const { violations } = await axe.run(document);
    const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
    return serious.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`);";

/// Sizes and themes that a view is looked at in.
const LOOKS: [(&str, u32, &str); 4] = [
    ("wide", 1280, "light"),
    ("dark", 1280, "dark"),
    ("narrow", 360, "dark"),
    ("4k", 3840, "light"),
];

pub struct Browser {
    driver: WebDriver,
    base: String,
    /// The browser is its child. Both end with the test.
    process: Child,
}

impl Browser {
    /// A browser at the start of the page that this manager serves.
    pub async fn open(manager: &str) -> Result<Self> {
        let (process, port) = chromedriver()?;
        // The client that thirtyfour makes takes the cryptography that the first client of the process chose.
        common::client::http::builder().no_proxy().build()?;
        let mut chrome = DesiredCapabilities::chrome();
        for argument in [
            "--headless=new",
            "--no-sandbox",
            "--disable-dev-shm-usage",
            "--no-proxy-server",
        ] {
            chrome.add_arg(argument)?;
        }
        let driver = WebDriver::new(format!("http://127.0.0.1:{port}"), chrome).await?;
        let browser = Self {
            driver,
            base: format!("{manager}/ui/"),
            process,
        };
        browser.before_each_document(WATCH).await?;
        browser.resize(1280, "light").await?;
        browser.visit("").await?;
        Ok(browser)
    }

    /// Opens an address below `/ui/`.
    pub async fn visit(&self, path: &str) -> Result<()> {
        Ok(self.driver.goto(format!("{}{path}", self.base)).await?)
    }

    /// Runs a script in each document from now on, before the document's own.
    pub async fn before_each_document(&self, script: &str) -> Result<()> {
        let source = json!({"source": script});
        self.devtools("Page.addScriptToEvaluateOnNewDocument", source)
            .await
    }

    async fn devtools(&self, command: &str, parameters: Value) -> Result<()> {
        self.driver.cdp().send_raw(command, parameters).await?;
        Ok(())
    }

    async fn resize(&self, width: u32, theme: &str) -> Result<()> {
        let height = if width > 2000 { 2160 } else { 900 };
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.devtools("Emulation.setDeviceMetricsOverride", size)
            .await?;
        let theme = json!({"features": [{"name": "prefers-color-scheme", "value": theme}]});
        self.devtools("Emulation.setEmulatedMedia", theme).await
    }

    /// Opens another tab, and goes on in it.
    pub async fn new_tab(&self) -> Result<()> {
        let tab = self.driver.new_tab().await?;
        Ok(self.driver.switch_to_window(tab).await?)
    }

    /// What a script returns in each tab.
    pub async fn in_each_tab(&self, script: &str) -> Result<Vec<Value>> {
        let mut answers = Vec::new();
        for tab in self.driver.windows().await? {
            self.driver.switch_to_window(tab).await?;
            answers.push(self.run(script).await?);
        }
        Ok(answers)
    }

    /// Runs a script in the page.
    pub async fn run(&self, script: &str) -> Result<Value> {
        let answer = self.driver.execute(script, Vec::new()).await?;
        Ok(answer.json().clone())
    }

    /// The text of the whole page.
    pub async fn text(&self) -> Result<String> {
        Ok(self.driver.find(By::Tag("body")).await?.text().await?)
    }

    /// Waits until the page has this text.
    pub async fn shows(&self, text: &str) -> Result<()> {
        until(&format!("the page to show {text:?}"), PATIENCE, || async {
            let shown = self.text().await?;
            ensure!(shown.contains(text), "{shown}");
            Ok(())
        })
        .await
    }

    /// Waits until the page no longer has this text.
    pub async fn hides(&self, text: &str) -> Result<()> {
        until(&format!("{text:?} to go"), PATIENCE, || async {
            let shown = self.text().await?;
            ensure!(!shown.contains(text), "{shown}");
            Ok(())
        })
        .await
    }

    /// Clicks the first element that the CSS selector finds and whose text contains this, as soon as there is one.
    pub async fn click(&self, selector: &str, text: &str) -> Result<()> {
        until(
            &format!("a click on {selector} {text:?}"),
            PATIENCE,
            || async {
                for element in self.driver.find_all(By::Css(selector)).await? {
                    if element.text().await?.contains(text) {
                        return Ok(element.click().await?);
                    }
                }
                bail!("there is none in: {}", self.text().await?)
            },
        )
        .await
    }

    /// Types into a field.
    pub async fn fill(&self, selector: &str, text: &str) -> Result<()> {
        until(&format!("the field {selector}"), PATIENCE, || async {
            let field = self.driver.find(By::Css(selector)).await?;
            field.clear().await?;
            Ok(field.send_keys(text).await?)
        })
        .await
    }

    /// Presses keys in an element.
    pub async fn press(&self, selector: &str, keys: impl Into<TypingData>) -> Result<()> {
        let element = self.driver.find(By::Css(selector)).await?;
        Ok(element.send_keys(keys).await?)
    }

    /// Types another text into the editor, instead of the one that it has.
    pub async fn rewrite(&self, text: &str) -> Result<()> {
        self.run(
            "document.querySelector('.editor').shadowRoot.querySelector('.cm-content').focus()",
        )
        .await?;
        let all = self.driver.action_chain().key_down(Key::Control);
        let all = all.send_keys("a").key_up(Key::Control);
        Ok(all.send_keys(text).perform().await?)
    }

    /// Looks at a view in each size and theme: no serious finding of axe, nothing wider than the window. Keeps pictures.
    pub async fn examine(&self, view: &str) -> Result<()> {
        let axe = checkout().join("manager/ui/node_modules/axe-core/axe.min.js");
        let axe = std::fs::read_to_string(&axe).context("axe is missing: run `make ui` first")?;
        let pictures = pictures()?;
        let mut faults = String::new();
        for (look, width, theme) in LOOKS {
            self.resize(width, theme).await?;
            let findings = self.run(&format!("{axe}\n{AXE}")).await?;
            let wide = self
                .run("return document.documentElement.scrollWidth - innerWidth")
                .await?;
            self.driver
                .screenshot(&pictures.join(format!("{view}-{look}.png")))
                .await?;
            for finding in findings.as_array().into_iter().flatten() {
                writeln!(faults, "{look}: {finding}")?;
            }
            if wide.as_i64() > Some(0) {
                writeln!(faults, "{look}: {wide} px wider than the window")?;
            }
        }
        self.resize(1280, "light").await?;
        ensure!(faults.is_empty(), "{view}: {faults}");
        Ok(())
    }

    /// Ends the browser. Fails if the page broke its policy or a script of it failed.
    pub async fn close(self) -> Result<()> {
        let faults = self.run("return sessionStorage.getItem('faults')").await?;
        ensure!(faults.is_null(), "faults of the page: {faults}");
        Ok(())
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The processes are killed here. Without this, the driver would wait minutes for the one that it talks to.
        let _ = self.driver.clone().leak();
        if let Ok(id) = i32::try_from(self.process.id()) {
            let _ = killpg(Pid::from_raw(id), Signal::SIGKILL);
        }
        let _ = self.process.wait();
    }
}

/// Where pictures of views are kept.
pub fn pictures() -> Result<PathBuf> {
    let folder = checkout().join("target/pictures");
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// The driver of the browser on a free port. The kernel ends it when the test ends.
fn chromedriver() -> Result<(Child, u16)> {
    let mut child = Command::new(path_of("resourcifier")?)
        .args(["run-with-parent", &std::process::id().to_string()])
        .args(["/usr/bin/chromedriver", "--port=0"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .context("cannot start chromedriver: run `make setup` first")?;
    let said = child.stdout.take().context("chromedriver says nothing")?;
    for line in BufReader::new(said).lines() {
        let line = line?;
        let port = line.strip_prefix("ChromeDriver was started successfully on port ");
        if let Some(port) = port.and_then(|rest| rest.trim_end_matches('.').parse().ok()) {
            return Ok((child, port));
        }
    }
    bail!("chromedriver ended before it listened")
}
