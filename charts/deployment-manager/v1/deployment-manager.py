"""Deployment Manager for a cluster: its three services, with the least rights that they can work with.

What must not be in a configuration is in Secrets that `dm install` makes beside it: each service's certificate, and the key
that the manager's store is sealed with.
"""

import access
import etcd
import network
import pods
import settings
import store


def GenerateConfig(context):
    name = context.env['name']
    namespace = context.env['namespace']
    properties = context.properties

    resources = manager(name, namespace, properties)
    resources += expandybird(name, namespace, properties) + resourcifier(name, namespace, properties)
    resources += access.roles(name, namespace, properties)
    resources += network.policies(name, namespace, properties)
    outputs = [{'name': 'service', 'value': 'https://%s.%s.svc' % (name, namespace)}]
    if not store.on_etcd(properties):
        outputs.append({'name': 'store', 'value': name + '-store'})
    return {'resources': resources, 'outputs': outputs}


def manager(name, namespace, properties):
    args = [
        '--expander-url=https://%s-expandybird:8081' % name,
        '--deployer-url=https://%s-resourcifier:8082' % name,
        '--service-ca=/certificate/ca.crt',
        '--service-cert=/certificate/tls.crt',
        '--service-key=/certificate/tls.key',
        '--credential-key=/key/key',
    ] + store.flags(name, namespace, properties)
    args += settings.flags(properties['manager']) + properties['manager']['args']
    volumes = store.volumes(name, properties) + [
        pods.volume('key', '/key', {'secret': {'secretName': name + '-key', 'defaultMode': 0o440}}, read_only=True),
        pods.temporary(),
    ] + settings.volumes(name, properties['manager'])
    service = pods.Service(name, namespace, 'manager', 8080, args, None, volumes)
    return settings.config_map(service, properties['manager']) + [
        pods.account(service),
        # Callers know the system by its name, and HTTPS by its port.
        pods.service(service, name, 443),
    ] + managers(service, properties)


def managers(service, properties):
    if not store.on_etcd(properties):
        return one(service, properties)
    members = etcd.resources(service.deployment, service.namespace, properties) if store.own(properties['etcd']) else []
    if store.moves(properties):
        return members + [headless(service)] + mover(service, properties, members)
    return members + [headless(service)] + several(service, properties)


def one(service, properties):
    """One writer at a time: the store is opened by one process, so the old one ends before the new one starts."""
    scale = {'replicas': 1, 'strategy': {'type': 'Recreate'}}
    manager = properties['manager']
    return [
        pods.claim(service, service.deployment + '-store', manager['storage'], manager['storage_class']),
        pods.workload(service._replace(scale=scale), properties),
    ]


def mover(service, properties, members):
    """The one manager, with its volume, and with etcd for its store. It stops as soon as its pods change, in the middle of
    the update that it may be doing itself, and goes on when etcd has its state. So etcd comes first."""
    claim, workload = one(service, properties)
    pod = workload['properties']['spec']['template']['spec']
    pod.update(hostname=store.MOVER, subdomain=full_name_of_managers(service))
    # Ready says that all of the state is in etcd. A manager that waits for the store is only healthy.
    pod['containers'][0]['readinessProbe']['httpGet'] = dict(
        pod['containers'][0]['readinessProbe']['httpGet'], path='/readyz'
    )
    if members:
        workload['metadata'] = {'dependsOn': [etcd.pods_of(service.deployment)]}
    return [claim, workload]


def several(service, properties):
    """All of them answer. Each has a name, at which the others reach it."""
    scale = {
        'replicas': properties['managers'],
        'serviceName': full_name_of_managers(service),
        'podManagementPolicy': 'Parallel',
    }
    return [
        pods.workload(service._replace(scale=scale), properties, 'StatefulSet'),
        pods.disruption_budget(service),
    ]


def headless(service):
    return pods.headless(service, full_name_of_managers(service))


def full_name_of_managers(service):
    return service.deployment + '-managers'


def expandybird(name, namespace, properties):
    service = pods.Service(name, namespace, 'expandybird', 8081, from_manager(), many(properties), [pods.temporary()])
    return stateless(service, properties)


# A manager keeps its jobs alive, and stops them, in the pod that runs them: all its connections go to one pod.
def resourcifier(name, namespace, properties):
    args = from_manager() + ['--require-identity']
    service = pods.Service(name, namespace, 'resourcifier', 8082, args, many(properties), [pods.temporary()])
    return stateless(service, properties, sticky=True)


def stateless(service, properties, sticky=False):
    return [
        pods.account(service),
        pods.workload(service, properties),
        pods.service(service, service.full_name, service.port, sticky),
        pods.disruption_budget(service),
    ]


def from_manager():
    return ['--client-ca=/certificate/ca.crt', '--allowed-client=manager']


def many(properties):
    return {'replicas': properties['replicas'], 'strategy': {'type': 'RollingUpdate'}}
