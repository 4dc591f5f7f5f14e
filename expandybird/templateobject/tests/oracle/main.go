// Processes Templates with OpenShift's own processor: a JSON document a line in, its result a line out.
package main

import (
	"bufio"
	"encoding/json"
	"math/rand"
	"os"
	"time"

	templatev1 "github.com/openshift/api/template/v1"
	"github.com/openshift/library-go/pkg/template/generator"
	"github.com/openshift/library-go/pkg/template/templateprocessing"
)

type answer struct {
	Objects []json.RawMessage `json:"objects"`
	Message string            `json:"message"`
	Values  map[string]string `json:"values"`
	Errors  []string          `json:"errors"`
	// The original panics on some keys.
	Died bool `json:"died"`
}

func main() {
	lines := bufio.NewReader(os.Stdin)
	out := json.NewEncoder(os.Stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		if err := out.Encode(process(line)); err != nil {
			panic(err)
		}
	}
}

func process(line []byte) (found answer) {
	defer func() {
		if recover() != nil {
			found = answer{Died: true}
		}
	}()
	template := templatev1.Template{}
	if err := json.Unmarshal(line, &template); err != nil {
		return answer{Errors: []string{err.Error()}}
	}
	random := rand.New(rand.NewSource(time.Now().UnixNano()))
	generators := map[string]generator.Generator{"expression": generator.NewExpressionValueGenerator(random)}
	processor := templateprocessing.NewProcessor(generators)
	for _, err := range processor.Process(&template) {
		found.Errors = append(found.Errors, err.Error())
	}
	found.Message = template.Message
	found.Values = map[string]string{}
	for _, parameter := range template.Parameters {
		found.Values[parameter.Name] = parameter.Value
	}
	for _, object := range template.Objects {
		text, err := json.Marshal(object)
		if err != nil {
			found.Errors = append(found.Errors, err.Error())
		}
		found.Objects = append(found.Objects, text)
	}
	return found
}
