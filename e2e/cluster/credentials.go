package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// validity outlives every cluster, and is short enough that a leaked key does not matter for long.
const validity = 30 * 24 * time.Hour

// credentials are a cluster's certificate authority and what it signed, as files that only the owner can read. They are
// made anew for every cluster and go with its directory.
type credentials struct {
	caCert, caKey           string
	servingCert, servingKey string
	serviceAccountKey       string
	// adminKubeconfig is complete in itself: the certificates are in it, not referred to.
	adminKubeconfig string
}

type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// writeCredentials makes the credentials of the API server at the given URL.
func writeCredentials(dir directory, server string) (credentials, error) {
	files := credentials{
		caCert: dir.path("pki", "ca.crt"), caKey: dir.path("pki", "ca.key"),
		servingCert: dir.path("pki", "apiserver.crt"), servingKey: dir.path("pki", "apiserver.key"),
		serviceAccountKey: dir.path("pki", "service-account.key"),
		adminKubeconfig:   dir.path("pki", "admin.kubeconfig"),
	}
	if err := os.MkdirAll(dir.path("pki"), 0o700); err != nil {
		return files, err
	}
	ca, err := newAuthority()
	if err != nil {
		return files, err
	}
	caCert := encode("CERTIFICATE", ca.cert.Raw)
	caKey, err := encodeKey(ca.key)
	if err != nil {
		return files, err
	}
	servingCert, servingKey, err := ca.issue(serving())
	if err != nil {
		return files, err
	}
	adminCert, adminKey, err := ca.issue(client("dm-cluster-admin", "system:masters"))
	if err != nil {
		return files, err
	}
	_, serviceAccountKey, err := newKey()
	if err != nil {
		return files, err
	}
	for path, content := range map[string][]byte{
		files.caCert: caCert, files.caKey: caKey,
		files.servingCert: servingCert, files.servingKey: servingKey,
		files.serviceAccountKey: serviceAccountKey,
	} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return files, err
		}
	}
	return files, clientcmd.WriteToFile(kubeconfig(server, caCert, adminCert, adminKey), files.adminKubeconfig)
}

func newAuthority() (authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return authority{}, err
	}
	template := certificate("dm-cluster-ca")
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return authority{}, err
	}
	cert, err := x509.ParseCertificate(der)
	return authority{cert, key}, err
}

// issue signs a certificate for a new key and returns both in PEM.
func (a authority) issue(template *x509.Certificate) (cert, key []byte, err error) {
	private, key, err := newKey()
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, private.Public(), a.key)
	return encode("CERTIFICATE", der), key, err
}

func certificate(commonName string, organizations ...string) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()),
		Subject:      pkix.Name{CommonName: commonName, Organization: organizations},
		NotBefore:    now.Add(-time.Minute),
		NotAfter:     now.Add(validity),
		KeyUsage:     x509.KeyUsageDigitalSignature,
	}
}

func serving() *x509.Certificate {
	template := certificate("kube-apiserver")
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	template.DNSNames = []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}
	return template
}

func client(user string, groups ...string) *x509.Certificate {
	template := certificate(user, groups...)
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return template
}

func newKey() (*ecdsa.PrivateKey, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	text, err := encodeKey(key)
	return key, text, err
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	return encode("EC PRIVATE KEY", der), err
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func kubeconfig(server string, caCert, cert, key []byte) api.Config {
	const name = "dm-cluster"
	config := api.NewConfig()
	config.Clusters[name] = &api.Cluster{Server: server, CertificateAuthorityData: caCert}
	config.AuthInfos[name] = &api.AuthInfo{ClientCertificateData: cert, ClientKeyData: key}
	config.Contexts[name] = &api.Context{Cluster: name, AuthInfo: name, Namespace: "default"}
	config.CurrentContext = name
	return *config
}
