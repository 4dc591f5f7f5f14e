from helpers import common
def GenerateConfig(context):
  print('noise')
  return {'resources': [{'name': common.name(context.env['name'], i), 'type': 't.jinja'} for i in range(context.properties['n'])]}
