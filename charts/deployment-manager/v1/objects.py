"""Kubernetes objects, written out in full: `dm install` prints them as they are, for kubectl."""


def resource(name, kind, metadata, **body):
    """kind: with its API version, such as `apps/v1:Deployment`. The name is the resource's; the object's is in metadata."""
    api_version, bare = kind.split(':')
    properties = dict({'apiVersion': api_version, 'kind': bare, 'metadata': metadata}, **body)
    return {'name': name, 'type': kind, 'properties': properties}
