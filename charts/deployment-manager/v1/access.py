"""Rights: what the system needs itself, and roles for those who use it.

It has next to none of its own: whatever it does in the cluster, it does in the name of who asked for it.
"""

from objects import resource

GROUP = 'deploymentmanager'
RBAC = 'rbac.authorization.k8s.io'


def roles(name, namespace, properties):
    own = '%s-%s-resourcifier' % (namespace, name)
    account = {'kind': 'ServiceAccount', 'name': name + '-resourcifier', 'namespace': namespace}
    resources = [
        role(own, impersonation(properties['resourcifier']['impersonate']) + reviews()),
        binding(own, account),
    ]
    if properties['user_roles']:
        resources += user_roles()
    return resources


def impersonation(allowed):
    """Impersonating callers. With names, the right is limited to these users; without names it is for all."""
    rules = [only(rule('', [kind], ['impersonate']), allowed[kind]) for kind in ('users', 'groups')]
    rules.append(rule('', ['serviceaccounts'], ['impersonate']))
    # What an authenticator adds to a user's name and groups: uids and userextras/KEY. RBAC has no wildcard for keys
    # alone ('userextras/*' grants nothing), and there is nothing else in the group that could be impersonated.
    rules.append(rule('authentication.k8s.io', ['*'], ['impersonate']))
    return rules


def reviews():
    """Asking the cluster who a token belongs to, and what that one may do."""
    return [
        rule('authentication.k8s.io', ['tokenreviews'], ['create']),
        rule('authorization.k8s.io', ['subjectaccessreviews'], ['create']),
    ]


def user_roles():
    """What the cluster's own roles view, edit and admin come to with deployments."""
    view = ['get', 'list', 'watch']
    edit = view + ['create', 'update', 'patch', 'delete']
    return [
        aggregated('view', rule(GROUP, ['deployments'], view)),
        aggregated('edit', rule(GROUP, ['deployments'], edit)),
        aggregated('admin', rule(GROUP, ['*'], ['*'])),
    ]


def aggregated(to, *rules):
    return role('deployment-manager-' + to, list(rules), {'%s/aggregate-to-%s' % (RBAC, to): 'true'})


def rule(group, resources, verbs):
    return {'apiGroups': [group], 'resources': resources, 'verbs': verbs}


def only(rule, names):
    return dict(rule, resourceNames=names) if names else rule


def role(name, rules, labels=None):
    metadata = {'name': name, 'labels': dict(labels or {}, **{'app.kubernetes.io/name': 'deployment-manager'})}
    return resource(name + '-role', RBAC + '/v1:ClusterRole', metadata, rules=rules)


def binding(role_name, subject):
    reference = {'apiGroup': RBAC, 'kind': 'ClusterRole', 'name': role_name}
    return resource(
        role_name + '-binding', RBAC + '/v1:ClusterRoleBinding', {'name': role_name}, roleRef=reference, subjects=[subject]
    )
