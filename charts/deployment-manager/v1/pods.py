"""What runs: a service's pods, and what belongs to them."""

import collections

from objects import resource

# service: which of the three; scale: what of a Deployment's spec is its own; volumes: pairs of a volume and its mount.
Service = collections.namedtuple('Service', 'deployment namespace service port args scale volumes')
# What a container may do: nothing that a program without privileges does not need.
CONFINED = {
    'allowPrivilegeEscalation': False,
    'readOnlyRootFilesystem': True,
    'capabilities': {'drop': ['ALL']},
}
Service.full_name = property(lambda self: '%s-%s' % (self.deployment, self.service))


def metadata(service, name=None):
    return {'name': name or service.full_name, 'namespace': service.namespace, 'labels': labels(service)}


def labels(service):
    return {
        'app.kubernetes.io/name': 'deployment-manager',
        'app.kubernetes.io/instance': service.deployment,
        'app.kubernetes.io/component': service.service,
    }


def volume(name, path, source, read_only=False):
    return dict(source, name=name), {'name': name, 'mountPath': path, 'readOnly': read_only}


def temporary():
    return volume('temporary', '/tmp', {'emptyDir': {'sizeLimit': '1Gi'}})


def certificate(service):
    source = {'secret': {'secretName': service.full_name + '-certificate', 'defaultMode': 0o440}}
    return volume('certificate', '/certificate', source, read_only=True)


def account(service):
    name = service.full_name + '-account'
    return resource(name, 'v1:ServiceAccount', metadata(service), automountServiceAccountToken=False)


def claim(service, name, storage, storage_class):
    spec = claim_spec(storage, storage_class)
    result = resource(name, 'v1:PersistentVolumeClaim', metadata(service, name), spec=spec)
    # What is deployed is known from here only: it outlives the system.
    result['metadata'] = {'deletePolicy': 'ABANDON'}
    return result


def claim_spec(storage, storage_class):
    spec = {'accessModes': ['ReadWriteOnce'], 'resources': {'requests': {'storage': storage}}}
    return dict(spec, storageClassName=storage_class) if storage_class else spec


def pod_name():
    return {'name': 'POD_NAME', 'valueFrom': {'fieldRef': {'fieldPath': 'metadata.name'}}}


def container(service, properties, mounts):
    probe = {'path': '/healthz', 'port': 'https', 'scheme': 'HTTPS'}
    return {
        'name': service.service,
        'image': properties['image'],
        'imagePullPolicy': properties['pull_policy'],
        'command': [service.service],
        'args': [
            '--listen=0.0.0.0:%d' % service.port,
            '--log-format=json',
            '--tls-cert=/certificate/tls.crt',
            '--tls-key=/certificate/tls.key',
        ] + service.args,
        'ports': [{'name': 'https', 'containerPort': service.port}],
        'livenessProbe': {'httpGet': probe, 'periodSeconds': 10, 'failureThreshold': 6},
        # A large store is read before the port opens.
        'startupProbe': {'httpGet': probe, 'periodSeconds': 2, 'failureThreshold': 150},
        'readinessProbe': {'httpGet': probe, 'periodSeconds': 5},
        'resources': properties[service.service]['resources'],
        'env': [pod_name()],
        'securityContext': CONFINED,
        'volumeMounts': mounts,
    }


def pod(service, properties):
    volumes, mounts = zip(certificate(service), *service.volumes)
    return dict(
        restricted(service), containers=[container(service, properties, list(mounts))], volumes=list(volumes)
    )


def restricted(service):
    """What every pod has: no rights on its node, and none in the cluster but resourcifier's."""
    return {
        'serviceAccountName': service.full_name,
        # resourcifier alone speaks to the cluster.
        'automountServiceAccountToken': service.service == 'resourcifier',
        'enableServiceLinks': False,
        'securityContext': {
            'runAsNonRoot': True,
            'runAsUser': 65532,
            'runAsGroup': 65532,
            'fsGroup': 65532,
            'seccompProfile': {'type': 'RuntimeDefault'},
        },
        # As long as a service takes at most to finish or park what runs.
        'terminationGracePeriodSeconds': 60,
    }


def workload(service, properties, kind='Deployment'):
    template = {'metadata': {'labels': labels(service)}, 'spec': pod(service, properties)}
    spec = dict(service.scale, selector={'matchLabels': labels(service)}, template=template)
    return resource(service.full_name + '-pods', 'apps/v1:' + kind, metadata(service), spec=spec)


def service(service, name, port, sticky=False):
    ports = [{'name': 'https', 'port': port, 'targetPort': 'https', 'protocol': 'TCP'}]
    spec = {'selector': labels(service), 'ports': ports}
    if sticky:
        spec['sessionAffinity'] = 'ClientIP'
    return resource(service.full_name + '-service', 'v1:Service', metadata(service, name), spec=spec)


def headless(service, name):
    """A name for each pod, by which the others of its kind reach it before it is ready."""
    ports = [{'name': 'https', 'port': service.port, 'targetPort': 'https', 'protocol': 'TCP'}]
    spec = {'clusterIP': 'None', 'publishNotReadyAddresses': True, 'selector': labels(service), 'ports': ports}
    return resource(name + '-service', 'v1:Service', metadata(service, name), spec=spec)


def disruption_budget(service):
    spec = {'maxUnavailable': 1, 'selector': {'matchLabels': labels(service)}}
    return resource(service.full_name + '-budget', 'policy/v1:PodDisruptionBudget', metadata(service), spec=spec)
