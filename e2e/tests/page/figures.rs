//! What the page costs with much in it. The figures are kept beside the pictures, because tests assert no times: what is asserted
//! is what makes them small.

use std::fmt::Write as _;

use anyhow::{Context as _, Result, ensure};
use e2e::{Stack, until};
use futures::StreamExt as _;
use reqwest::Client;
use serde_json::{Value, json};

use crate::browser::{Browser, PATIENCE, pictures};

/// Notes work that keeps the page from answering, from the start of each document.
const TASKS: &str = "
    window.longTasks = [];
    new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration }) => duration)))
        .observe({ type: 'longtask', buffered: true });";

/// Scrolls through a box, a part in each frame, and returns the longest task in ms.
const SCROLL: &str = "
    const box = document.querySelector(arguments[0]);
    longTasks.length = 0;
    const frames = 120;
    for (let frame = 0; frame <= frames; frame += 1) {
        box.scrollTop = (box.scrollHeight - box.clientHeight) * frame / frames;
        await new Promise(requestAnimationFrame);
    }
    await new Promise((resolve) => setTimeout(resolve));
    return Math.max(0, ...longTasks);";

/// Writes a figure down.
fn note(name: &str, value: &Value) -> Result<()> {
    let path = pictures()?.join("figures.txt");
    let mut kept = std::fs::read_to_string(&path).unwrap_or_default();
    writeln!(kept, "{name}: {value}")?;
    Ok(std::fs::write(path, kept)?)
}

/// Templates of a hundred resources each.
fn large(templates: usize) -> Value {
    let group = |group: usize| json!({"name": format!("group-{group}"), "type": "group.jinja", "properties": {"count": 99}});
    json!({"resources": (0..templates).map(group).collect::<Vec<_>>()})
}

const GROUP: &str = "resources:
{% for number in range(properties.count) %}
- name: {{ env.name }}-{{ number }}
  type: ConfigMap
{% endfor %}
";

#[tokio::test]
async fn a_layout_of_five_thousand_resources_has_few_rows_in_the_document() -> Result<()> {
    let stack = Stack::start().await?;
    let body = json!({
        "name": "large", "namespace": stack.namespace, "content": large(50).to_string(),
        "imports": [{"name": "group.jinja", "content": GROUP}],
    });
    let created = reqwest::Method::POST;
    let (status, answer) = stack
        .request(created, "/deployments?preview=true", Some(&body))
        .await?;
    ensure!(status == 201, "{status} {answer}");
    let browser = Browser::open(&stack.manager.url()).await?;
    browser.before_each_document(TASKS).await?;
    browser.visit("deployments/large").await?;
    browser.shows("50 of 5000 shown").await?;
    let since = "return performance.now() - performance.getEntriesByType('resource').findLast(({ name }) => name.includes('/layout')).responseEnd";
    note(
        "layout of 5,000: ms after its answer, at most",
        &browser.run(since).await?,
    )?;
    note(
        "layout of 5,000: longest task until shown, ms",
        &browser.run("return Math.max(0, ...longTasks)").await?,
    )?;
    browser.click("button", "Open all").await?;
    browser.shows("5000 of 5000 shown").await?;
    let script = SCROLL.replace("arguments[0]", "'.tree'");
    note(
        "layout of 5,000: longest task while scrolling, ms",
        &browser.run(&script).await?,
    )?;
    let rows = browser
        .run("return document.querySelectorAll('[role=treeitem]').length")
        .await?;
    ensure!(
        rows.as_u64().is_some_and(|rows| (10..100).contains(&rows)),
        "{rows}"
    );
    browser.examine("large").await?;
    browser.close().await
}

#[tokio::test]
async fn a_graph_draws_three_hundred_nodes_at_once_and_says_how_many_there_are() -> Result<()> {
    let stack = Stack::start().await?;
    // Each waits for one of the row before: six columns.
    let map = |number: usize| {
        let before = number.checked_sub(51).map(|before| format!("map-{before}"));
        let waits: Vec<_> = before.into_iter().collect();
        json!({"name": format!("map-{number}"), "type": "ConfigMap", "metadata": {"dependsOn": waits}})
    };
    let content = json!({"resources": (0..301).map(map).collect::<Vec<_>>()});
    stack.write("wide.json", &content.to_string())?;
    stack.deploy(&["wide.json", "--name", "wide"]).await?;
    let browser = Browser::open(&stack.manager.url()).await?;
    browser.before_each_document(TASKS).await?;
    browser.visit("deployments/wide/graph").await?;
    browser
        .shows("300 of 301 resources are drawn, the worst first")
        .await?;
    until("the whole graph", PATIENCE, || async {
        let busy = "return document.querySelector('.graph').getAttribute('aria-busy')";
        let busy = browser.run(busy).await?;
        ensure!(busy == "false", "{busy}");
        Ok(())
    })
    .await?;
    let layout =
        "return performance.getEntriesByName('graph-layout').map(({ duration }) => duration)";
    let layout = browser.run(layout).await?;
    let first = layout.get(0).context("the layout was not measured")?;
    note("layout of a graph of 300, ms", first)?;
    note(
        "graph of 300: longest task until drawn, ms",
        &browser.run("return Math.max(0, ...longTasks)").await?,
    )?;
    let drawn = browser
        .run("return document.querySelectorAll('svg .node').length")
        .await?;
    assert_eq!(drawn, 300);
    browser.examine("graph-large").await?;
    browser.close().await
}

/// A resource that waits for a field that nobody writes.
const WAITING: &str = "
resources:
- {name: source, type: ConfigMap, properties: {data: {a: b}}}
- {name: copy, type: ConfigMap, properties: {data: {late: $(ref.source.data.late)}}}
";

/// Begins an operation that runs until it is stopped.
async fn waiting(stack: &Stack) -> Result<String> {
    stack.write("waiting.yaml", WAITING)?;
    stack
        .deploy(&["waiting.yaml", "--name", "late", "--async"])
        .await?;
    let (_, late) = stack.get("/operations?deployment=late").await?;
    let operation = late["items"][0]["id"].as_str();
    Ok(operation.context("no operation")?.to_owned())
}

/// Counts the streams of events that a document has open.
const STREAMS: &str = "
    window.streams = 0;
    const ask = window.fetch;
    window.fetch = (address, options) => {
        if (!String(address).startsWith('/events')) return ask(address, options);
        window.streams += 1;
        options.signal.addEventListener('abort', () => (window.streams -= 1));
        return ask(address, options);
    };";

#[tokio::test]
async fn eight_tabs_share_one_stream_of_events() -> Result<()> {
    let stack = Stack::start().await?;
    let operation = waiting(&stack).await?;
    let address = format!("deployments/late/operations/{operation}");
    let browser = Browser::open(&stack.manager.url()).await?;
    for tab in 0..8 {
        if tab > 0 {
            browser.new_tab().await?;
        }
        browser.before_each_document(STREAMS).await?;
        browser.visit(&address).await?;
        browser.shows("● live").await?;
    }
    until("one stream of all tabs", PATIENCE, || async {
        let streams = browser.in_each_tab("return window.streams").await?;
        let open: u64 = streams.iter().filter_map(Value::as_u64).sum();
        ensure!(streams.len() == 8 && open == 1, "{streams:?}");
        Ok(())
    })
    .await?;
    stack.dm.ok(&["stop", "late"]).await?;
    for text in browser
        .in_each_tab("return document.body.innerText")
        .await?
    {
        ensure!(
            text.as_str().is_some_and(|text| text.contains("late")),
            "{text}"
        );
    }
    browser.shows("✖ failed").await
}

const MIB: usize = 1024 * 1024;

#[tokio::test]
async fn two_hundred_watchers_of_an_operation_cost_the_manager_little_memory() -> Result<()> {
    let stack = Stack::start().await?;
    let operation = waiting(&stack).await?;
    let events = format!("{}/events?operations={operation}", stack.manager.url());
    let before = stack.manager.memory()?;
    let client = common::client::http::builder().no_proxy().build()?;
    let mut streams = Vec::new();
    for _ in 0..200 {
        streams.push(first(&client, &events).await?);
    }
    let grown = stack.manager.memory()?.saturating_sub(before);
    note(
        "200 watchers: the manager's memory grows by, MiB",
        &json!(grown / MIB),
    )?;
    ensure!(grown < 100 * MIB, "{} MiB", grown / MIB);
    drop(streams);
    stack.dm.ok(&["stop", "late"]).await?;
    Ok(())
}

/// An open stream whose first event has arrived.
async fn first(client: &Client, events: &str) -> Result<impl Sized> {
    let answer = client.get(events).send().await?.error_for_status()?;
    let mut stream = answer.bytes_stream().boxed();
    stream.next().await.context("no event")??;
    Ok(stream)
}
