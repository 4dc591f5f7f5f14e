def GenerateConfig(context):
  return {'x': context.env['nope']}
