// The real Sprig, for tests: reads templates as lines of JSON, and answers each with a line.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	"sigs.k8s.io/yaml"
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
