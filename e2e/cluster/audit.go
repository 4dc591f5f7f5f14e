package main

import "os"

// auditPolicy keeps one line for each write, when it has been answered: who sent it, which object, with which query, and
// when it was received. Reads, and the contents of objects, are not kept.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
omitManagedFields: true
rules:
- level: None
  resources: [{group: "", resources: [events]}, {group: coordination.k8s.io}, {group: events.k8s.io}]
- level: Metadata
  verbs: [create, update, patch, delete, deletecollection]
- level: None
`

// writeAuditPolicy writes the policy into the directory and returns the flags of the API server that use it. A line is
// written when its request ends (mode blocking), and the log is never rotated: it goes with the directory.
func writeAuditPolicy(dir directory) ([]string, error) {
	policy := dir.path("audit-policy.yaml")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return nil, err
	}
	return []string{
		"--audit-policy-file=" + policy,
		"--audit-log-path=" + dir.path("audit.jsonl"),
		"--audit-log-mode=blocking",
		"--audit-log-maxsize=10000",
	}, nil
}
