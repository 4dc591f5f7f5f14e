//! Templates that use all resources that they can get, and names with a special meaning for a program that shows them.

use anyhow::{Result, ensure};
use reqwest::header::CONTENT_TYPE;
use serde_json::json;

use crate::services::Services;

/// A configuration of one template, and the template.
fn of(template: &str, content: &str) -> serde_json::Value {
    let resources = json!({"resources": [{"name": "x", "type": template}]});
    json!({"name": "hostile", "content": resources.to_string(), "imports": [{"name": template, "content": content}]})
}

#[tokio::test(flavor = "multi_thread")]
async fn templates_without_end_or_measure_hold_nobody_else_up() -> Result<()> {
    let services = Services::start().await?;
    let objects = "{'name': 'x%d' % n, 'type': 'ConfigMap', 'properties': {'metadata': {'namespace': 'n%d' % n}}}";
    let python = |body: &str| format!("def GenerateConfig(context):\n    {body}\n");
    let hostile = [
        of("a.py", &python("\n    while True: pass")),
        of("a.py", &python("return 'x' * (1 << 40)")),
        of("a.py", &python("return GenerateConfig(context)")),
        of(
            "a.py",
            &python(&format!(
                "return {{'resources': [{objects} for n in range(100000)]}}"
            )),
        ),
        of("a.py", &python("import os; os.system('kill -9 -1')")),
        of("a.py", &python("open('/etc/passwd').read()")),
        of(
            "a.jinja",
            "{% for a in range(100000) %}{% for b in range(100000) %}x{% endfor %}{% endfor %}",
        ),
        of("a.jinja", "resources: [{name: x, type: a.jinja}]"),
        of(
            "a.jinja",
            "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: &d [*c, *c]\nresources: [*d, *d]",
        ),
    ];
    let attack = async {
        let asked = hostile.iter().map(|body| services.ask("/expand", body));
        for (body, outcome) in hostile.iter().zip(futures::future::join_all(asked).await) {
            let (status, answer) = outcome?;
            ensure!([400, 504].contains(&status), "{body}: {status} {answer}");
            ensure!(!answer.to_string().contains("root:"), "{answer}");
        }
        Ok(())
    };
    services.bear(attack).await
}

#[tokio::test(flavor = "multi_thread")]
async fn names_that_are_markup_or_look_alike_are_only_text() -> Result<()> {
    let services = Services::start().await?;
    let http = common::client::http::builder().no_proxy().build()?;
    let names = [
        "<script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>",
        "{{7*7}}${7*7}",
        "раypal",
        "a\u{202e}gnp.exe",
        "a\u{200b}b",
        "ａ",
        "../../x",
        "a\u{1b}[2J",
        "a\nb",
        "",
    ];
    let attack = async {
        for name in names {
            let deployment = json!({"name": name, "content": "resources: []"});
            let nothing = json!({"name": "x", "content": json!({"resources": [{"name": name, "type": "nothing.py"}]}).to_string()});
            let unknown = json!({"name": "x", "content": json!({"resources": [{"name": "x", "type": name}, {"name": "x", "type": name}]}).to_string()});
            for (path, body) in [
                ("/deployments", &deployment),
                ("/expand", &nothing),
                ("/expand", &unknown),
            ] {
                let request = http.post(services.manager.url() + path).json(body);
                let answer = request.send().await?;
                let (status, headers) = (answer.status(), answer.headers().clone());
                let text = answer.text().await?;
                let is_told = status == 400 || (status == 200 && path == "/expand");
                ensure!(is_told, "{path} {body}: {status} {text}");
                ensure!(headers[CONTENT_TYPE] == "application/json", "{headers:?}");
                ensure!(
                    headers["x-content-type-options"] == "nosniff",
                    "{headers:?}"
                );
                let is_plain = !text.chars().any(|c| c.is_control());
                ensure!(is_plain, "a control character is in {text:?}");
            }
        }
        Ok(())
    };
    services.bear(attack).await
}
