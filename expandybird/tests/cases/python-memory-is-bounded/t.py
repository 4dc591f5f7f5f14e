def GenerateConfig(context):
  return 'x' * (1 << 34)
