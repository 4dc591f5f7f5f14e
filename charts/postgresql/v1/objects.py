"""The smaller objects of a stateful server."""

import base64


def labels(name):
    return {'app': name}


def headless_service(name, port):
    return {
        'name': name + '-service',
        'type': 'Service',
        'properties': {
            'metadata': {'name': name, 'labels': labels(name)},
            'spec': {
                'clusterIP': 'None',
                'selector': labels(name),
                'ports': [{'name': 'main', 'port': port}],
            },
        },
    }


def secret(secret_name, name, values):
    data = {key: base64.b64encode(values[key].encode()).decode() for key in sorted(values)}
    return {
        'name': secret_name,
        'type': 'Secret',
        'properties': {'metadata': {'labels': labels(name)}, 'data': data},
    }


def settings(name, values):
    defaults = {'listen_addresses': '*'}
    lines = ["%s = '%s'" % item for item in sorted(dict(defaults, **values).items())]
    return {
        'name': name + '-settings',
        'type': 'ConfigMap',
        'properties': {
            'metadata': {'labels': labels(name)},
            'data': {'postgresql.conf': '\n'.join(lines) + '\n'},
        },
    }


def claim(name, size):
    return {
        'metadata': {'name': name},
        'spec': {
            'accessModes': ['ReadWriteOnce'],
            'resources': {'requests': {'storage': size}},
        },
    }
