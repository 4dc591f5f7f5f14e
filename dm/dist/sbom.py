"""Completes the bill of materials on standard input: with the Python libraries, and with a number and a time that the same
commit always has."""

import datetime
import json
import os
import sys
import uuid


def python_libraries(requirements):
    for line in requirements:
        if '==' in line:
            name, version = line.strip().split('==')
            purl = 'pkg:pypi/%s@%s' % (name.lower(), version)
            yield {'type': 'library', 'bom-ref': purl, 'name': name, 'version': version, 'purl': purl, 'scope': 'required'}


bill = json.load(sys.stdin)
with open(sys.argv[1]) as requirements:
    bill['components'] += python_libraries(requirements)
bill['components'].sort(key=lambda component: component['bom-ref'])
bill.get('dependencies', []).sort(key=lambda dependency: dependency['ref'])
for dependency in bill.get('dependencies', []):
    dependency.get('dependsOn', []).sort()
# Not the folder that this clone is in, and not the user of this machine.
bill['metadata']['component']['name'] = 'deployment-manager'
bill['metadata'].pop('authors', None)
time = datetime.datetime.fromtimestamp(int(os.environ['SOURCE_DATE_EPOCH']), datetime.timezone.utc)
bill['metadata']['timestamp'] = time.strftime('%Y-%m-%dT%H:%M:%SZ')
bill.pop('serialNumber', None)
number = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(bill, sort_keys=True))
bill['serialNumber'] = 'urn:uuid:%s' % number
json.dump(bill, sys.stdout, indent=2)
print()
