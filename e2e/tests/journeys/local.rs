//! `dm expand --local` gives the same result as the service.

use anyhow::Result;
use e2e::Stack;

const CONFIG: &str = "\
imports: [{path: t.py}, {path: note.txt}]
resources:
- {name: a, type: t.py, properties: {n: 3}}
- {name: m, type: ConfigMap, properties: {data: {x: $(ref.a.name)}}}
outputs: [{name: first, value: $(ref.a.name)}]
";

const TEMPLATE: &str = "\
import random
def GenerateConfig(context):
    names = [context.env['name'] + str(n) for n in range(context.properties['n'])]
    data = {'note': context.imports['note.txt'], 'random': str(random.random()), 'for': context.env['deployment'],
            'in': context.env['project'], 'by': context.env['username'], 'size': str(context.properties['size'])}
    return {'resources': [{'name': n, 'type': 'ConfigMap', 'properties': {'data': data}} for n in names],
            'outputs': [{'name': 'name', 'value': names[0]}]}
";

#[tokio::test]
async fn a_configuration_expands_to_the_same_with_and_without_a_manager() -> Result<()> {
    let stack = Stack::start().await?;
    for (file, text) in [
        ("web.yaml", CONFIG),
        ("t.py", TEMPLATE),
        ("t.py.schema", "properties: {size: {default: 10}}"),
        ("note.txt", "hello\n"),
    ] {
        stack.write(file, text)?;
    }
    for flags in [
        &["-o", "json"][..],
        &["-o", "yaml"],
        &["--layout"],
        &["--namespace", "shop"],
    ] {
        let asked = [&["expand", "web.yaml"], flags].concat();
        let with = stack.dm.ok(&asked).await?;
        let without = stack.dm.ok(&[&asked[..], &["--local"]].concat()).await?;
        assert_eq!(with, without, "{flags:?}");
        assert!(with.contains("a0"), "{with}");
    }
    let broken = CONFIG.replace("name: m, ", "");
    stack.write("broken.yaml", &broken)?;
    let with = stack.dm.fails(1, &["expand", "broken.yaml"]).await?;
    let without = stack
        .dm
        .fails(1, &["expand", "broken.yaml", "--local"])
        .await?;
    let shown = |text: &str| {
        let lines = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("request "));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(shown(&with), shown(&without));
    Ok(())
}
