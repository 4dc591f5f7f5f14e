"""Allowed connections: callers to the manager, the manager to the two other services, and no others."""

from objects import resource


def policies(name, namespace, properties):
    return [
        policy(name, namespace, 'manager', ingress=[{'ports': [tcp(8080)]}], egress=[
            to(name, 'expandybird', 8081),
            to(name, 'resourcifier', 8082),
            {'ports': [{'port': 53, 'protocol': 'UDP'}, tcp(53)]},
            # Template registries: HTTPS, ssh and git, wherever they are.
            {'ports': [tcp(port) for port in properties['manager']['registry_ports']]},
        ]),
        policy(name, namespace, 'expandybird', ingress=[from_manager(name, 8081)], egress=[]),
        policy(name, namespace, 'resourcifier', ingress=[from_manager(name, 8082)], egress=[
            {'ports': [tcp(port) for port in properties['resourcifier']['api_server_ports']]},
        ]),
    ]


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
