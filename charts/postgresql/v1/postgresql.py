"""A PostgreSQL server: a StatefulSet with its volume, a Service, its settings, and its password in a Secret."""

import objects


def GenerateConfig(context):
    name = context.env['name']
    properties = context.properties
    secret = properties['existing_secret'] or name + '-password'

    resources = [
        objects.headless_service(name, port=5432),
        objects.settings(name, properties['settings']),
        stateful_set(name, properties, secret),
    ]
    if not properties['existing_secret']:
        resources.insert(0, objects.secret(secret, name, {'password': properties['password']}))
    outputs = [
        {'name': 'host', 'value': name},
        {'name': 'port', 'value': 5432},
        {'name': 'database', 'value': properties['database']},
        {'name': 'secret', 'value': secret},
    ]
    return {'resources': resources, 'outputs': outputs}


def stateful_set(name, properties, secret):
    server = {
        'name': 'server',
        'image': properties['image'],
        'args': ['-c', 'config_file=/etc/postgresql/postgresql.conf'],
        'ports': [{'name': 'postgresql', 'containerPort': 5432}],
        'env': [
            {'name': 'POSTGRES_DB', 'value': properties['database']},
            {'name': 'POSTGRES_USER', 'value': properties['user']},
            {'name': 'POSTGRES_PASSWORD', 'valueFrom': {'secretKeyRef': {'name': secret, 'key': 'password'}}},
            {'name': 'PGDATA', 'value': '/var/lib/postgresql/data/server'},
        ],
        'readinessProbe': {'exec': {'command': ['pg_isready', '-U', properties['user']]}},
        'volumeMounts': [
            {'name': 'data', 'mountPath': '/var/lib/postgresql/data'},
            {'name': 'settings', 'mountPath': '/etc/postgresql'},
        ],
    }
    return {
        'name': name + '-server',
        'type': 'apps/v1:StatefulSet',
        'properties': {
            'metadata': {'name': name, 'labels': objects.labels(name)},
            'spec': {
                'serviceName': name,
                'replicas': 1,
                'selector': {'matchLabels': objects.labels(name)},
                'template': {
                    'metadata': {'labels': objects.labels(name)},
                    'spec': {
                        'containers': [server],
                        'volumes': [{'name': 'settings', 'configMap': {'name': name + '-settings'}}],
                    },
                },
                'volumeClaimTemplates': [objects.claim('data', properties['storage'])],
                # Without this, every deleted deployment would leave its claim, and with it its data, behind unseen.
                'persistentVolumeClaimRetentionPolicy': {
                    'whenDeleted': 'Retain' if properties['keep_data'] else 'Delete',
                    'whenScaled': 'Retain',
                },
            },
        },
    }
