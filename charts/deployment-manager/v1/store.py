"""Where the manager keeps its state: a volume for one manager, or etcd for several."""

import etcd
import pods

# The folder with the certificate for etcd: its authority, the manager's certificate and key.
CERTIFICATE = '/etcd/'


def on_etcd(properties):
    return properties['managers'] > 1 or properties['etcd']['enabled'] or not own(properties['etcd'])


def flags(name, namespace, properties):
    if not on_etcd(properties):
        return ['--store=sled:/data/store', '--registry-cache=/data/registries']
    settings = properties['etcd']
    address = ','.join(endpoints(name, namespace, settings)) + '/' + settings.get('prefix', name)
    args = ['--store=etcd:' + address, '--registry-cache=/tmp/registries']
    # The kubelet fills in the name: each manager has an address of its own.
    args.append('--advertise=https://$(POD_NAME).%s-managers.%s.svc:8080' % (name, namespace))
    if own(settings) or 'secret' in settings:
        args += ['--store-' + flag + '=' + CERTIFICATE + file for flag, file in (
            ('ca', 'ca.crt'), ('cert', 'tls.crt'), ('key', 'tls.key'),
        )]
    return args


def volumes(name, properties):
    if not on_etcd(properties):
        return [pods.volume('data', '/data', {'persistentVolumeClaim': {'claimName': name + '-store'}})]
    settings = properties['etcd']
    if own(settings):
        return [secret(name + '-manager-certificate')]
    return [secret(settings['secret'])] if 'secret' in settings else []


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
