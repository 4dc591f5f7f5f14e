"""Pods of one image, and the service in front of them."""


def generate_config(context):
    name = context.env["name"]
    labels = {"app": name}
    return {
        "resources": [
            pods(name + "-pods", labels, context.properties),
            {
                "name": name + "-service",
                "type": "Service",
                "properties": {
                    "spec": {
                        "selector": labels,
                        "ports": [{"port": context.properties["port"]}],
                    }
                },
            },
        ],
        "outputs": [{"name": "service", "value": name + "-service"}],
    }


def pods(name, labels, properties):
    container = {
        "name": "main",
        "image": properties["image"],
        "ports": [{"containerPort": properties["port"]}],
    }
    return {
        "name": name,
        "type": "Deployment",
        "properties": {
            "spec": {
                "replicas": properties["replicas"],
                "selector": {"matchLabels": labels},
                "template": {
                    "metadata": {"labels": labels},
                    "spec": {"containers": [container]},
                },
            }
        },
    }
