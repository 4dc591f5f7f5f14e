// The real text/template, for tests: reads cases as lines of JSON, and answers each with a line.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"text/template"
)

type request struct {
	Templates  [][2]string `json:"templates"`
	MissingKey string      `json:"missingKey"`
	Left       string      `json:"left"`
	Right      string      `json:"right"`
	Data       typed       `json:"data"`
}

type response struct {
	Output []byte `json:"output"`
	Error  string `json:"error"`
}

// typed is a value with the name of its Go type.
type typed struct {
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
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
	set := template.New("set").Funcs(functions).Delims(asked.Left, asked.Right)
	set.Option("missingkey=" + asked.MissingKey)
	for _, named := range asked.Templates {
		if _, err := set.New(named[0]).Parse(named[1]); err != nil {
			return response{Error: err.Error()}
		}
	}
	var out bytes.Buffer
	if err := set.ExecuteTemplate(&out, asked.Templates[0][0], asked.Data.decode()); err != nil {
		return response{Error: err.Error()}
	}
	return response{Output: out.Bytes()}
}

var functions = template.FuncMap{
	"add": func(numbers ...int) int {
		sum := 0
		for _, number := range numbers {
			sum += number
		}
		return sum
	},
	"echo":       func(value any) any { return value },
	"fail":       func(text string) (string, error) { return "", errors.New(text) },
	"int64":      func(number int) int64 { return int64(number) },
	"join":       func(separator string, texts ...string) string { return strings.Join(texts, separator) },
	"kv":         func(key string, value any) map[string]any { return map[string]any{key: value} },
	"list":       func(items ...any) []any { return items },
	"set":        func(m map[string]any, key string, value any) map[string]any { m[key] = value; return m },
	"strings":    func(texts ...string) []string { return texts },
	"takeBool":   func(value bool) string { return fmt.Sprint(value) },
	"takeBytes":  func(value []byte) string { return fmt.Sprint(value) },
	"takeFloat":  func(value float64) string { return fmt.Sprint(value) },
	"takeInt64":  func(value int64) string { return fmt.Sprint(value) },
	"takeList":   func(value []any) string { return fmt.Sprint(value) },
	"takeMap":    func(value map[string]any) string { return fmt.Sprint(value) },
	"takeString": func(value string) string { return value },
	"takeUint":   func(value uint64) string { return fmt.Sprint(value) },
	"typeOf":     func(value any) string { return fmt.Sprintf("%T", value) },
	"zero":       func() int { return 0 },
}

// object has fields and methods.
type object struct {
	Name  string
	Count int
	Any   any
}

func (o object) Greet(name string) string { return o.Name + " greets " + name }
func (o object) Sum(numbers ...int) int   { return o.Count + len(numbers) }
func (o object) Fail() (string, error)    { return "", errors.New("failed") }
func (o object) Self() object             { return o }

// named prints by its method.
type named struct{ Name string }

func (n named) String() string { return "<" + n.Name + ">" }

func (t typed) decode() any {
	switch t.Type {
	case "nil":
		return nil
	case "object":
		return object{"object", 3, nil}
	case "named":
		return named{"named"}
	case "function":
		return func(a, b string) string { return a + b }
	case "bool":
		return read[bool](t)
	case "int":
		return int(read[int64](t))
	case "int64":
		return read[int64](t)
	case "uint8":
		return read[uint8](t)
	case "uint64":
		return read[uint64](t)
	case "float64":
		number, err := strconv.ParseFloat(read[string](t), 64)
		if err != nil {
			panic(err)
		}
		return number
	case "string":
		return string(read[[]byte](t))
	case "bytes":
		return read[[]byte](t)
	}
	return t.decodeContainer()
}

func (t typed) decodeContainer() any {
	switch t.Type {
	case "nilMap":
		return map[string]any(nil)
	case "nilList":
		return []any(nil)
	case "strings":
		texts := read[[]string](t)
		return texts[:len(texts):len(texts)]
	case "stringMap":
		return read[map[string]string](t)
	case "list":
		items := read[[]typed](t)
		list := make([]any, len(items))
		for i, item := range items {
			list[i] = item.decode()
		}
		return list
	case "map":
		result := map[string]any{}
		for key, value := range read[map[string]typed](t) {
			result[key] = value.decode()
		}
		return result
	}
	panic("no type " + t.Type)
}

func read[T any](t typed) T {
	var value T
	if err := json.Unmarshal(t.Value, &value); err != nil {
		panic(err)
	}
	return value
}
