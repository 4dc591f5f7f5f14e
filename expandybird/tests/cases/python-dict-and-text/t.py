import yaml
def generate_config(context):
  return yaml.dump({'resources': [{'name': 'p', 'type': 'P', 'properties': {'none': context.properties is None}}]})
