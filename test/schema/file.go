package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// Compare reports an error if a file does not contain exactly the schema. With update, it writes the file instead.
func Compare(file string, s Schema, update bool) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(s); err != nil {
		return err
	}
	if update {
		return os.WriteFile(file, text.Bytes(), 0o644)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if !bytes.Equal(content, text.Bytes()) {
		return fmt.Errorf("%s differs from the Go types: run its test with -update", file)
	}
	return nil
}

// Read reads a schema from a file.
func Read(file string) (Schema, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var s Schema
	if err := json.Unmarshal(content, &s); err != nil {
		return nil, err
	}
	if len(s) == 0 {
		return nil, errors.New(file + " is empty")
	}
	return s, nil
}
