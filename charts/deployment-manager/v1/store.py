"""Where the manager keeps its state: a volume for one manager, or etcd for several."""

import etcd
import pods

# The folder with the certificate for etcd: its authority, the manager's certificate and key.
CERTIFICATE = '/etcd/'
# The store on the volume of one manager.
FOLDER = 'sled:/data/store'
# The host name of the manager that moves the state.
MOVER = 'mover'


def on_etcd(properties):
    return properties['managers'] > 1 or properties['etcd']['enabled'] or not own(properties['etcd'])


def moves(properties):
    """Whether the state of the one manager's volume is being moved into etcd."""
    return on_etcd(properties) and properties['etcd']['move_from_volume']


def flags(name, namespace, properties):
    if not on_etcd(properties):
        return ['--store=' + FOLDER, '--registry-cache=/data/registries']
    settings = properties['etcd']
    address = ','.join(endpoints(name, namespace, settings)) + '/' + settings.get('prefix', name)
    args = ['--store=etcd:' + address, '--registry-cache=/tmp/registries']
    # Each manager has an address of its own. The kubelet fills in the name.
    pod = MOVER if moves(properties) else '$(POD_NAME)'
    args.append('--advertise=https://%s.%s-managers.%s.svc:8080' % (pod, name, namespace))
    if moves(properties):
        args.append('--store-from=' + FOLDER)
    if own(settings) or 'secret' in settings:
        args += ['--store-' + flag + '=' + CERTIFICATE + file for flag, file in (
            ('ca', 'ca.crt'), ('cert', 'tls.crt'), ('key', 'tls.key'),
        )]
    return args


def volumes(name, properties):
    data = pods.volume('data', '/data', {'persistentVolumeClaim': {'claimName': name + '-store'}})
    if not on_etcd(properties):
        return [data]
    found = [data] if moves(properties) else []
    settings = properties['etcd']
    if own(settings):
        return found + [secret(name + '-manager-certificate')]
    return found + ([secret(settings['secret'])] if 'secret' in settings else [])


def secret(name):
    source = {'secret': {'secretName': name, 'defaultMode': 0o440}}
    return pods.volume('etcd', CERTIFICATE.rstrip('/'), source, read_only=True)


def own(settings):
    """Whether the installation has an etcd of its own."""
    return 'endpoints' not in settings


def endpoints(name, namespace, settings):
    if not own(settings):
        return settings['endpoints']
    return ['https://%s:2379' % host for host in etcd.hosts(name, namespace)]
