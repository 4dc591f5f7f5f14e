def GenerateConfig(context):
  return open('/etc/passwd').read()
