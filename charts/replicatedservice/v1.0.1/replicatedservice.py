"""Pods of one image behind a Service.

Since v1.0.1 pods are selected by their name alone: a Deployment's selector cannot be changed, so with v1 no label could be
added or changed later.
"""


def GenerateConfig(context):
    name = context.env['name']
    properties = context.properties
    labels = dict(properties['labels'], app=name)

    resources = [service(name, properties, labels), deployment(name, properties, labels)]
    if properties['config']:
        resources.append(settings(name, properties, labels))
    outputs = [
        {'name': 'host', 'value': name},
        {'name': 'port', 'value': properties['service_port']},
    ]
    return {'resources': resources, 'outputs': outputs}


def selector(name):
    return {'app': name}


def service(name, properties, labels):
    port = {
        'name': 'main',
        'port': properties['service_port'],
        'targetPort': properties['container_port'],
        'protocol': properties['protocol'],
    }
    return {
        'name': name + '-service',
        'type': 'Service',
        'properties': {
            'metadata': {'name': name, 'labels': labels},
            'spec': {
                'type': 'LoadBalancer' if properties['external_service'] else 'ClusterIP',
                'selector': selector(name),
                'ports': [port],
            },
        },
    }


def deployment(name, properties, labels):
    return {
        'name': name + '-deployment',
        'type': 'Deployment',
        'properties': {
            'metadata': {'name': name, 'labels': labels},
            'spec': {
                'replicas': properties['replicas'],
                'selector': {'matchLabels': selector(name)},
                'template': {
                    'metadata': {'labels': labels},
                    'spec': {'containers': [container(name, properties)]},
                },
            },
        },
    }


def container(name, properties):
    variables = properties['env']
    result = {
        'name': 'main',
        'image': properties['image'],
        'ports': [{'containerPort': properties['container_port'], 'protocol': properties['protocol']}],
        'env': [{'name': key, 'value': text(variables[key])} for key in sorted(variables)],
    }
    if properties['command']:
        result['command'] = properties['command']
    if properties['config']:
        result['envFrom'] = [{'configMapRef': {'name': name + '-config'}}]
    return result


def settings(name, properties, labels):
    config = properties['config']
    return {
        'name': name + '-config',
        'type': 'ConfigMap',
        'properties': {
            'metadata': {'labels': labels},
            'data': {key: text(config[key]) for key in sorted(config)},
        },
    }


def text(value):
    """A value as YAML writes it: `true`, not `True`."""
    return str(value).lower() if isinstance(value, bool) else str(value)
