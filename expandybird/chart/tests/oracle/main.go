// The real Helm, for tests: reads charts and values as lines of JSON, and answers each with a line.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"
	release "helm.sh/helm/v4/pkg/release/v1"
	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"
)

type request struct {
	Files  map[string][]byte `json:"files"`
	Values map[string]any    `json:"values"`
}

type manifest struct {
	Path string `json:"path"`
	Kind string `json:"kind"`
	Text string `json:"text"`
}

type hook struct {
	manifest
	Name     string                     `json:"name"`
	Events   []release.HookEvent        `json:"events"`
	Weight   int                        `json:"weight"`
	Policies []release.HookDeletePolicy `json:"policies"`
}

type response struct {
	Manifests []manifest `json:"manifests"`
	Hooks     []hook     `json:"hooks"`
	Crds      []string   `json:"crds"`
	Notes     string     `json:"notes"`
	Error     string     `json:"error"`
}

func main() {
	log.SetOutput(io.Discard)
	slog.SetDefault(slog.New(slog.DiscardHandler))
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 256<<20)
	out := bufio.NewWriter(os.Stdout)
	for lines.Scan() {
		var asked request
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			panic(err)
		}
		rendered, err := render(asked)
		if err != nil {
			rendered = response{Error: err.Error()}
		}
		answer, err := json.Marshal(rendered)
		if err != nil {
			panic(err)
		}
		out.Write(append(answer, '\n'))
		out.Flush()
	}
}

func load(asked request) (*chart.Chart, error) {
	folder, err := os.MkdirTemp("", "chart")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	for name, data := range asked.Files {
		place := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(place, data, 0o644); err != nil {
			return nil, err
		}
	}
	return loader.LoadDir(folder)
}

// As helm template does it.
func render(asked request) (response, error) {
	var answer response
	loaded, err := load(asked)
	if err != nil {
		return answer, err
	}
	if err := chartutil.ProcessDependencies(loaded, asked.Values); err != nil {
		return answer, err
	}
	options := common.ReleaseOptions{Name: "demo", Namespace: "default", Revision: 1, IsInstall: true}
	capabilities := common.DefaultCapabilities.Copy()
	capabilities.KubeVersion = common.KubeVersion{Version: "v1.37.0", Major: "1", Minor: "37"}
	values, err := util.ToRenderValues(loaded, asked.Values, options, capabilities)
	if err != nil {
		return answer, err
	}
	if wanted := loaded.Metadata.KubeVersion; wanted != "" && !chartutil.IsCompatibleRange(wanted, "v1.37.0") {
		return answer, fmt.Errorf("chart requires kubeVersion: %s which is incompatible with Kubernetes v1.37.0", wanted)
	}
	files, err := engine.Render(loaded, values)
	if err != nil {
		return answer, err
	}
	for name, text := range files {
		if strings.HasSuffix(name, "NOTES.txt") {
			if name == loaded.Name()+"/templates/NOTES.txt" {
				answer.Notes = text
			}
			delete(files, name)
		}
	}
	hooks, manifests, err := releaseutil.SortManifests(files, nil, releaseutil.InstallOrder)
	if err != nil {
		return answer, errors.New("YAML parse error")
	}
	for _, one := range manifests {
		answer.Manifests = append(answer.Manifests, manifest{one.Name, one.Head.Kind, one.Content})
	}
	for _, one := range hooks {
		answer.Hooks = append(answer.Hooks, hook{manifest{one.Path, one.Kind, one.Manifest}, one.Name, one.Events, one.Weight, one.DeletePolicies})
	}
	for _, crd := range loaded.CRDObjects() {
		answer.Crds = append(answer.Crds, crd.Filename)
	}
	return answer, nil
}
