def name(a, i):
  return '%s-%d' % (a, i)
