def GenerateConfig(context):
    print('seen', context.env['name'])
    return {'resources': []}
