//! What is wrong is said in a sentence that names file, line and resource; and nothing is half-recorded.

use anyhow::{Result, ensure};
use e2e::Stack;
use serde_json::json;

/// A file that cannot be deployed, and what the message must name.
struct Case {
    fault: &'static str,
    config: &'static str,
    code: i32,
    named: &'static [&'static str],
}

const TEMPLATES: &[(&str, &str)] = &[
    (
        "raises.py",
        "def GenerateConfig(context):\n    return 1 / 0\n",
    ),
    (
        "undefined.jinja",
        "resources:\n- name: a\n  type: {{ properties.missing.deeper }}\n",
    ),
    ("strict.jinja", "resources:\n- name: a\n  type: ConfigMap\n"),
    (
        "strict.jinja.schema",
        "required: [size]\nproperties:\n  size: {type: integer, minimum: 1}\n",
    ),
];

const REFUSED: &[Case] = &[
    Case {
        fault: "malformed YAML",
        config: "resources:\n- name: [a\n",
        code: 1,
        named: &["case.yaml", "3"],
    },
    Case {
        fault: "a missing name",
        config: "resources:\n- type: Pod\n",
        code: 1,
        named: &["case.yaml", "Resource does not have a name"],
    },
    Case {
        fault: "a missing type",
        config: "resources:\n- name: a\n",
        code: 1,
        named: &["case.yaml", "a", "Resource does not have type defined"],
    },
    Case {
        fault: "a duplicate name",
        config: "resources:\n- {name: a, type: ConfigMap}\n- {name: a, type: ConfigMap}\n",
        code: 1,
        named: &["case.yaml", "Resource name 'a' is not unique"],
    },
    Case {
        fault: "a refused property",
        config: "imports: [{path: strict.jinja}]\nresources:\n- {name: a, type: strict.jinja, properties: {size: 0}}\n",
        code: 1,
        named: &["a", "strict.jinja", "size"],
    },
    Case {
        fault: "a template that raises",
        config: "imports: [{path: raises.py}]\nresources:\n- {name: a, type: raises.py}\n",
        code: 1,
        named: &["raises.py", "2", "ZeroDivisionError"],
    },
    Case {
        fault: "a Jinja fault",
        config: "imports: [{path: undefined.jinja}]\nresources:\n- {name: a, type: undefined.jinja}\n",
        code: 1,
        named: &["undefined.jinja", "3"],
    },
    Case {
        fault: "an unknown kind",
        config: "resources:\n- {name: good, type: ConfigMap}\n- {name: a, type: ConfigMapp}\n",
        code: 1,
        named: &["case.yaml:3", "resource a", "ConfigMapp"],
    },
    Case {
        fault: "a template that does not exist",
        config: "resources:\n- {name: a, type: 'nosuch:v1'}\n",
        code: 3,
        named: &["nosuch"],
    },
    Case {
        fault: "a version that does not exist",
        config: "resources:\n- {name: a, type: 'replicatedservice:v7'}\n",
        code: 3,
        named: &["v7", "v1.1"],
    },
];

#[tokio::test]
async fn what_cannot_be_expanded_is_explained_and_not_recorded() -> Result<()> {
    let stack = Stack::start().await?;
    for (name, content) in TEMPLATES {
        stack.write(name, content)?;
    }
    for case in REFUSED {
        stack.write("case.yaml", case.config)?;
        let error = stack
            .dm
            .fails(
                case.code,
                &["deploy", "case.yaml", "--namespace", &stack.namespace],
            )
            .await?;
        for named in case.named {
            ensure!(
                error.contains(named),
                "{}: {named:?} is not named:\n{error}",
                case.fault
            );
        }
        let (_, list) = stack.get("/deployments").await?;
        assert_eq!(
            list["items"],
            json!([]),
            "{} left a deployment behind",
            case.fault
        );
        assert_eq!(
            stack.names("configmaps")?,
            ["kube-root-ca.crt"],
            "{} left objects behind",
            case.fault
        );
    }
    Ok(())
}

#[tokio::test]
async fn an_object_that_the_api_server_rejects_is_named_before_anything_is_written() -> Result<()> {
    let stack = Stack::start().await?;
    stack.write("mixed.yaml", "resources:\n- {name: good, type: ConfigMap, properties: {data: {a: b}}}\n- {name: bad, type: Service, properties: {spec: {ports: [{port: 99999}]}}}\n")?;
    let error = stack
        .dm
        .fails(
            1,
            &["deploy", "mixed.yaml", "--namespace", &stack.namespace],
        )
        .await?;
    for named in ["bad", "99999", "mixed.yaml:3"] {
        assert!(error.contains(named), "{named} is not named:\n{error}");
    }

    let deployment = stack.dm.json(&["get", "mixed"]).await?;
    assert_eq!(deployment["state"]["status"], "Failed");
    let errors = deployment["state"]["errors"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(
        errors[0]
            .as_str()
            .is_some_and(|error| error.contains("bad")),
        "{errors:?}"
    );
    assert_eq!(
        stack.names("configmaps")?,
        ["kube-root-ca.crt"],
        "nothing was applied"
    );
    let apply = ["update", "mixed.yaml", "--no-preflight"];
    let error = stack.dm.fails(1, &apply).await?;
    assert!(error.contains("99999"), "{error}");
    assert!(
        stack.names("configmaps")?.contains(&"good".to_owned()),
        "without the dry run, what could be applied was applied"
    );

    stack.write("mixed.yaml", "resources:\n- {name: good, type: ConfigMap, properties: {data: {a: b}}}\n- {name: bad, type: Service, properties: {spec: {ports: [{port: 99}]}}}\n")?;
    stack.dm.ok(&["update", "mixed.yaml"]).await?;
    assert_eq!(
        stack.dm.json(&["get", "mixed"]).await?["state"]["status"],
        "Deployed"
    );
    stack.dm.ok(&["delete", "mixed"]).await?;
    assert_eq!(stack.names("configmaps")?, ["kube-root-ca.crt"]);
    Ok(())
}

#[tokio::test]
async fn a_name_that_is_taken_and_one_that_is_none_are_told_apart() -> Result<()> {
    let stack = Stack::start().await?;
    stack.write(
        "one.yaml",
        "resources:\n- {name: a, type: ConfigMap, properties: {}}\n",
    )?;
    stack.deploy(&["one.yaml"]).await?;
    stack
        .dm
        .fails(4, &["deploy", "one.yaml", "--namespace", &stack.namespace])
        .await?;
    for missing in ["get", "update", "delete", "layout", "manifest"] {
        let args: &[&str] = if missing == "update" {
            &["update", "one.yaml", "--name", "nobody"]
        } else {
            &[missing, "nobody"]
        };
        let error = stack.dm.fails(3, args).await?;
        assert!(error.contains("nobody"), "{error}");
    }
    stack
        .dm
        .fails(2, &["deploy", "one.yaml", "--name", "Not A Name"])
        .await?;
    stack.dm.fails(2, &["frobnicate"]).await?;
    Ok(())
}
