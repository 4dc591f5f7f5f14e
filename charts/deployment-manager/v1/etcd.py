"""An etcd of the installation's own: three members, each with a volume, and the jobs that look after them."""

import pods

from objects import resource

MEMBERS = 3
CLIENTS, PEERS, METRICS = 2379, 2380, 2381
# Where the members' certificate is, and where a member and the jobs write.
CERTIFICATE, DATA, SNAPSHOTS = '/certificate', '/data', '/snapshots'
# A member's file may grow to this. etcd's authors recommend no more.
QUOTA_BYTES = 8 << 30


def resources(name, namespace, properties):
    settings = properties['etcd']
    member = pods.Service(name, namespace, 'etcd', CLIENTS, None, None, [])
    return [
        pods.account(member),
        headless(member),
        members(member, properties, settings),
        pods.disruption_budget(member),
        pods.claim(member, name + '-snapshots', settings['snapshots']['storage'], settings['storage_class']),
        job(member, 'snapshots', settings['snapshots']['schedule'], snapshot(member, properties, settings)),
        job(member, 'defragmentation', settings['defragmentation'], defragmentation(member, settings)),
    ]


def pods_of(name):
    """The resource that is ready when all members are."""
    return name + '-etcd-pods'


def host(name, namespace, number):
    return '%s-etcd-%d.%s-etcd.%s.svc' % (name, number, name, namespace)


def hosts(name, namespace):
    return [host(name, namespace, number) for number in range(MEMBERS)]


def headless(member):
    ports = [{'name': name, 'port': port, 'protocol': 'TCP'} for name, port in (('clients', CLIENTS), ('peers', PEERS))]
    # Members find each other before any of them is ready.
    spec = {'clusterIP': 'None', 'publishNotReadyAddresses': True, 'selector': pods.labels(member), 'ports': ports}
    return resource(member.full_name + '-service', 'v1:Service', pods.metadata(member), spec=spec)


def members(member, properties, settings):
    spec = {
        'replicas': MEMBERS,
        'serviceName': member.full_name,
        # The first start needs two of three members at the same time.
        'podManagementPolicy': 'Parallel',
        'selector': {'matchLabels': pods.labels(member)},
        'template': {
            'metadata': {'labels': pods.labels(member)},
            'spec': dict(pods.restricted(member), **{
                'affinity': apart(member),
                'containers': [dict(container(member, settings, ['etcd'] + args(member)), **probes())],
                'volumes': [certificate(member)],
            }),
        },
        'volumeClaimTemplates': [{
            'metadata': {'name': 'data'},
            'spec': pods.claim_spec(settings['storage'], settings['storage_class']),
        }],
    }
    return resource(member.full_name + '-pods', 'apps/v1:StatefulSet', pods.metadata(member), spec=spec)


def args(member):
    own = 'https://$(POD_NAME).%s.%s.svc' % (member.full_name, member.namespace)
    cluster = [
        '%s-%d=https://%s:%d' % (member.full_name, number, host(member.deployment, member.namespace, number), PEERS)
        for number in range(MEMBERS)
    ]
    return [
        '--name=$(POD_NAME)',
        '--data-dir=%s/etcd' % DATA,
        '--listen-client-urls=https://0.0.0.0:%d' % CLIENTS,
        '--advertise-client-urls=%s:%d' % (own, CLIENTS),
        '--listen-peer-urls=https://0.0.0.0:%d' % PEERS,
        '--initial-advertise-peer-urls=%s:%d' % (own, PEERS),
        '--initial-cluster=' + ','.join(cluster),
        '--initial-cluster-token=%s-%s' % (member.namespace, member.full_name),
        # The kubelet has no certificate for its probes: health stands on a port that has nothing else.
        '--listen-metrics-urls=http://0.0.0.0:%d' % METRICS,
        # A backup of the manager reads one revision: an hour is long enough for it.
        '--auto-compaction-mode=periodic',
        '--auto-compaction-retention=1h',
        '--quota-backend-bytes=%d' % QUOTA_BYTES,
    ] + tls('') + tls('peer-')


def tls(prefix):
    return [
        '--%sclient-cert-auth' % prefix,
        '--%strusted-ca-file=%s/ca.crt' % (prefix, CERTIFICATE),
        '--%scert-file=%s/tls.crt' % (prefix, CERTIFICATE),
        '--%skey-file=%s/tls.key' % (prefix, CERTIFICATE),
    ]


def container(member, settings, command):
    mounts = [{'name': 'certificate', 'mountPath': CERTIFICATE, 'readOnly': True}]
    if command[0] == 'etcd':
        mounts.append({'name': 'data', 'mountPath': DATA})
    return {
        'name': 'etcd',
        'image': settings['image'],
        'imagePullPolicy': 'IfNotPresent',
        'command': command,
        'env': [pods.pod_name()],
        'resources': settings['resources'],
        'securityContext': pods.CONFINED,
        'volumeMounts': mounts,
    }


def probes():
    def probe(path, period, failures):
        return {'httpGet': {'path': path, 'port': METRICS}, 'periodSeconds': period, 'failureThreshold': failures}
    ports = (('clients', CLIENTS), ('peers', PEERS), ('metrics', METRICS))
    return {
        'ports': [{'name': name, 'containerPort': port} for name, port in ports],
        'livenessProbe': probe('/livez', 10, 6),
        'readinessProbe': probe('/readyz', 5, 3),
        # A large file is read before the member answers.
        'startupProbe': probe('/livez', 5, 60),
    }


def apart(member):
    """Two members on one node are lost together."""
    term = {'labelSelector': {'matchLabels': pods.labels(member)}, 'topologyKey': 'kubernetes.io/hostname'}
    preferred = {'weight': 100, 'podAffinityTerm': term}
    return {'podAntiAffinity': {'preferredDuringSchedulingIgnoredDuringExecution': [preferred]}}


def certificate(member):
    return pods.certificate(member)[0]


def job(member, purpose, schedule, spec):
    """A job that does not belong to the Service of the members: its pods have a component of their own."""
    helper = member._replace(service='etcd-' + purpose)
    template = {'metadata': {'labels': dict(pods.labels(helper), **client())}, 'spec': dict(spec, restartPolicy='OnFailure')}
    body = {
        'schedule': schedule,
        'concurrencyPolicy': 'Forbid',
        'jobTemplate': {'spec': {'backoffLimit': 3, 'template': template}},
    }
    return resource(helper.full_name + '-job', 'batch/v1:CronJob', pods.metadata(helper), spec=body)


def client():
    """The label of pods that may call the members."""
    return {'deploymentmanager/etcd-client': 'true'}


def etcdctl(member, endpoints, *command):
    files = ['--cacert=%s/ca.crt' % CERTIFICATE, '--cert=%s/tls.crt' % CERTIFICATE, '--key=%s/tls.key' % CERTIFICATE]
    return ['etcdctl', '--endpoints=' + ','.join('https://%s:%d' % (host, CLIENTS) for host in endpoints)] + files + list(command)


def defragmentation(member, settings):
    """It blocks the member that it works on. etcdctl takes the members one after another."""
    command = etcdctl(member, hosts(member.deployment, member.namespace), '--command-timeout=10m', 'defrag')
    return dict(pods.restricted(member), containers=[container(member, settings, command)], volumes=[certificate(member)])


def snapshot(member, properties, settings):
    file = SNAPSHOTS + '/$(POD_NAME).db'
    first = hosts(member.deployment, member.namespace)[:1]
    take = container(member, settings, etcdctl(member, first, '--command-timeout=10m', 'snapshot', 'save', file))
    mount = {'name': 'snapshots', 'mountPath': SNAPSHOTS}
    take['volumeMounts'].append(mount)
    take['name'] = 'take'
    old = 'ls -t %s/*.db | tail -n +%d | xargs -r rm --' % (SNAPSHOTS, settings['snapshots']['keep'] + 1)
    # etcd's image has no shell, the manager's has.
    forget = dict(take, name='forget', image=properties['image'], command=['sh', '-c', old])
    claim = {'name': 'snapshots', 'persistentVolumeClaim': {'claimName': member.deployment + '-snapshots'}}
    return dict(
        pods.restricted(member), initContainers=[take], containers=[forget], volumes=[certificate(member), claim]
    )
