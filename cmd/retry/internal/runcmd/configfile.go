package runcmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/cmd/retry/internal/frame"
)

// readConfig reads a file of settings. A key that is not known is an error, since a limit with a misspelt name is no limit.
func readConfig(path string) (c retry.Config, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return c, frame.Usage("--config: %v", err)
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".json":
		err = readJSON(data, &c)
	case ".yaml", ".yml":
		err = readYAML(data, &c)
	default:
		return c, frame.Usage("--config %s: must end in .yaml, .yml or .json", path)
	}
	if err == nil {
		err = c.Validate()
	}
	if err != nil {
		return c, frame.Usage("--config %s: %s", path, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return c, nil
}

func readYAML(data []byte, c *retry.Config) error {
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(c); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if err := d.Decode(new(any)); !errors.Is(err, io.EOF) {
		return errors.New("must be one document")
	}
	return nil
}

func readJSON(data []byte, c *retry.Config) error {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(data, &keys); err != nil {
		return err
	}
	known := configKeys()
	for key := range keys {
		if !slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, key) }) {
			return errors.New("unknown key " + key + "; known are " + strings.Join(known, ", "))
		}
	}
	return json.Unmarshal(data, c)
}

// configKeys are the names of a Config's fields in a file.
func configKeys() (keys []string) {
	for f := range reflect.TypeFor[retry.Config]().Fields() {
		key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		keys = append(keys, key)
	}
	return keys
}
