import yaml


def GenerateConfig(context):
    data = yaml.safe_load('{greeting: "%s"}' % context.properties['greeting'])
    return {'resources': [{'name': context.env['name'] + '-page', 'type': 'ConfigMap', 'properties': {'data': data}}]}
