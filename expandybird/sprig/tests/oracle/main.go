// The real Sprig, for tests: reads templates as lines of JSON, and answers each with a line.
package main

import (
	"bufio"
	"bytes"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"strings"
	"text/template"

	"github.com/BurntSushi/toml"
	"github.com/Masterminds/sprig/v3"
	"sigs.k8s.io/yaml"
	goyaml "sigs.k8s.io/yaml/goyaml.v3"
)

type request struct {
	Template string `json:"template"`
	Data     any    `json:"data"`
}

type response struct {
	Output []byte `json:"output"`
	Error  string `json:"error"`
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	out := bufio.NewWriter(os.Stdout)
	for lines.Scan() {
		var asked request
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			panic(err)
		}
		answer, err := json.Marshal(answer(asked))
		if err != nil {
			panic(err)
		}
		out.Write(append(answer, '\n'))
		out.Flush()
	}
}

func answer(asked request) response {
	functions := sprig.TxtFuncMap()
	// As Helm has it.
	functions["toYaml"] = func(value any) string {
		data, err := yaml.Marshal(value)
		if err != nil {
			return ""
		}
		return strings.TrimSuffix(string(data), "\n")
	}
	functions["toYamlPretty"] = func(value any) string {
		var out bytes.Buffer
		encoder := goyaml.NewEncoder(&out)
		encoder.SetIndent(2)
		if err := encoder.Encode(value); err != nil {
			return ""
		}
		return strings.TrimSuffix(out.String(), "\n")
	}
	functions["toToml"] = func(value any) string {
		text, err := toToml(value)
		if err != nil {
			return err.Error()
		}
		return text
	}
	functions["mustToToml"] = func(value any) string {
		text, err := toToml(value)
		if err != nil {
			panic(err)
		}
		return text
	}
	functions["fromToml"] = func(text string) (map[string]any, error) {
		values := map[string]any{}
		return values, toml.Unmarshal([]byte(text), &values)
	}
	functions["described"] = described
	functions["verified"] = verified
	set, err := template.New("t").Funcs(functions).Parse(asked.Template)
	if err != nil {
		return response{Error: err.Error()}
	}
	var out bytes.Buffer
	if err := set.Execute(&out, asked.Data); err != nil {
		return response{Error: err.Error()}
	}
	return response{Output: out.Bytes()}
}

func toToml(value any) (string, error) {
	var out bytes.Buffer
	err := toml.NewEncoder(&out).Encode(value)
	return out.String(), err
}

// What of a certificate is not random.
func described(text string) (string, error) {
	cert, err := parsed(text)
	if err != nil {
		return "", err
	}
	return fmt.Sprint(cert.Version, cert.Subject, cert.Issuer, cert.PublicKeyAlgorithm, cert.SignatureAlgorithm,
		cert.KeyUsage, cert.ExtKeyUsage, cert.BasicConstraintsValid, cert.IsCA, cert.DNSNames, cert.IPAddresses,
		cert.NotAfter.Sub(cert.NotBefore)), nil
}

// Whether the authority has signed the certificate. They may be of another time.
func verified(authority string, text string) (string, error) {
	root, err := parsed(authority)
	if err != nil {
		return "", err
	}
	cert, err := parsed(text)
	if err != nil {
		return "", err
	}
	roots := x509.NewCertPool()
	roots.AddCert(root)
	_, err = cert.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: cert.NotBefore})
	return "verified", err
}

func parsed(text string) (*x509.Certificate, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, fmt.Errorf("no PEM in %q", text)
	}
	return x509.ParseCertificate(block.Bytes)
}
