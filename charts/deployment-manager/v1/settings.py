"""What an operator sets of the manager: as its flags, and as the files that these name."""

import json

import pods

from objects import resource

# Properties that are flags of the same name.
NUMBERS = [
    'caller_reads', 'caller_writes', 'caller_requests', 'caller_streams', 'max_deployments', 'max_deployment_size',
    'max_connections', 'max_requests', 'operations_at_once', 'operations_waiting', 'keep_manifests',
]
TIMES = ['operation_timeout', 'drift_interval', 'registry_refresh']
OIDC = ['username_claim', 'username_prefix', 'groups_claim', 'groups_prefix']
# Where the files are.
FOLDER = '/settings/'
TOKENS = '/tokens/tokens'


def flags(manager):
    args = [flag(name, manager['limits'][name]) for name in NUMBERS if name in manager['limits']]
    args += [flag(name, manager[name]) for name in TIMES if name in manager]
    args += [flag('trusted-proxy', address) for address in manager['trusted_proxies']]
    if manager['audit']:
        args.append('--audit-log=-')
    if manager['private_registries']:
        args.append('--allow-private-registries')
    if 'accept_loss' in manager:
        args.append(flag('accept_loss', manager['accept_loss']))
    if 'registry_authority' in manager:
        args.append('--registry-ca=' + FOLDER + 'registries.pem')
    return args + identity(manager['identity']) + [rules(manager)]


def identity(allowed):
    """How callers say who they are."""
    args = []
    if allowed['cluster']:
        args.append('--auth-cluster')
        args += [flag('auth-cluster-audience', audience) for audience in allowed['cluster_audiences']]
    if 'tokens_secret' in allowed:
        args.append('--auth-tokens=' + TOKENS)
    if 'client_authority' in allowed:
        args += ['--client-ca=' + FOLDER + 'clients.pem', '--auth-client-certs']
    if 'oidc' in allowed:
        args += oidc(allowed['oidc'])
    if not args:
        raise ValueError('manager.identity leaves no way to say who somebody is: leave cluster true, or name another')
    return args + [flag('auth-allow-system', name) for name in allowed['system_names']]


def oidc(issuer):
    args = [flag('auth-oidc-issuer', issuer['issuer'])]
    args += [flag('auth-oidc-audience', audience) for audience in issuer['audiences']]
    args += [flag('auth-oidc-' + name, issuer[name]) for name in OIDC if name in issuer]
    if 'authority' in issuer:
        args.append('--auth-oidc-ca=' + FOLDER + 'issuer.pem')
    return args


def rules(manager):
    """What they may do."""
    return '--auth-policy=' + FOLDER + 'policy.yaml' if 'policy' in manager else '--auth-rbac'


def flag(name, value):
    return '--%s=%s' % (name.replace('_', '-'), value)


def files(manager):
    """By their names: nothing of it is secret."""
    allowed = manager['identity']
    found = {
        'clients.pem': allowed.get('client_authority'),
        'issuer.pem': allowed.get('oidc', {}).get('authority'),
        'registries.pem': manager.get('registry_authority'),
        'policy.yaml': json.dumps(manager['policy'], indent=2) if 'policy' in manager else None,
    }
    return {name: text for name, text in found.items() if text is not None}


def config_map(service, manager):
    """The object that has the files, if there are any."""
    name = service.deployment + '-settings'
    data = files(manager)
    return [resource(name, 'v1:ConfigMap', pods.metadata(service, name), data=data)] if data else []


def volumes(name, manager):
    found = []
    if files(manager):
        found.append(pods.volume('settings', FOLDER.rstrip('/'), {'configMap': {'name': name + '-settings'}}, read_only=True))
    if 'tokens_secret' in manager['identity']:
        source = {'secret': {'secretName': manager['identity']['tokens_secret'], 'defaultMode': 0o440}}
        found.append(pods.volume('tokens', '/tokens', source, read_only=True))
    return found
