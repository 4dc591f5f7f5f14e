"""Allowed connections: callers to the manager, the manager to the two other services, and no others."""

import etcd
import store

from objects import resource

ETCD = 2379


def policies(name, namespace, properties):
    return services(name, namespace, properties) + of_etcd(name, namespace, properties)


def services(name, namespace, properties):
    return [
        policy(name, namespace, 'manager', ingress=[{'ports': [tcp(8080)]}], egress=[
            to(name, 'expandybird', 8081),
            to(name, 'resourcifier', 8082),
            {'ports': [{'port': 53, 'protocol': 'UDP'}, tcp(53)]},
            # Template registries: HTTPS, ssh and git, wherever they are.
            {'ports': [tcp(port) for port in properties['manager']['registry_ports']]},
        ] + to_clusters(properties) + to_store(name, properties)),
        policy(name, namespace, 'expandybird', ingress=[from_manager(name, 8081)], egress=[]),
        policy(name, namespace, 'resourcifier', ingress=[from_manager(name, 8082)], egress=[
            {'ports': [tcp(port) for port in properties['resourcifier']['api_server_ports']]},
        ]),
    ]


def to_clusters(properties):
    """resourcifiers of further clusters, wherever they are. Without ports the rule would allow all of them."""
    ports = properties['manager']['cluster_ports']
    return [{'ports': [tcp(port) for port in ports]}] if ports else []


def to_store(name, properties):
    """Managers pass requests on to each other."""
    if not store.on_etcd(properties):
        return []
    settings = properties['etcd']
    if store.own(settings):
        return [to(name, 'manager', 8080), to(name, 'etcd', ETCD)]
    # The port follows the last colon of a URL.
    ports = sorted({int(url.rsplit(':', 1)[1]) for url in settings['endpoints']})
    return [to(name, 'manager', 8080), {'ports': [tcp(port) for port in ports]}]


def of_etcd(name, namespace, properties):
    """Of the installation's own etcd: managers and the jobs call the members, the members each other."""
    if not store.on_etcd(properties) or not store.own(properties['etcd']):
        return []
    jobs = {'podSelector': {'matchLabels': etcd.client()}}
    members = to(name, 'etcd', 2380)
    ingress = [
        {'from': from_manager(name, ETCD)['from'] + [jobs], 'ports': [tcp(ETCD)]},
        {'from': members['to'], 'ports': members['ports']},
        # The kubelet asks for their health here.
        {'ports': [tcp(2381)]},
    ]
    dns = {'ports': [{'port': 53, 'protocol': 'UDP'}, tcp(53)]}
    return [policy(name, namespace, 'etcd', ingress=ingress, egress=[members, to(name, 'etcd', ETCD), dns])]


def policy(name, namespace, component, ingress, egress):
    metadata = {'name': '%s-%s' % (name, component), 'namespace': namespace, 'labels': selector(name, component)}
    spec = {
        'podSelector': {'matchLabels': selector(name, component)},
        'policyTypes': ['Ingress', 'Egress'],
        'ingress': ingress,
        'egress': egress,
    }
    return resource(metadata['name'] + '-network', 'networking.k8s.io/v1:NetworkPolicy', metadata, spec=spec)


def selector(name, component):
    return {'app.kubernetes.io/instance': name, 'app.kubernetes.io/component': component}


def tcp(port):
    return {'port': port, 'protocol': 'TCP'}


def to(name, component, port):
    return {'to': [{'podSelector': {'matchLabels': selector(name, component)}}], 'ports': [tcp(port)]}


def from_manager(name, port):
    return {'from': [{'podSelector': {'matchLabels': selector(name, 'manager')}}], 'ports': [tcp(port)]}
