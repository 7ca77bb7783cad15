package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// apply puts the value into the document. Keys that are missing are made: whether they are known shows when the document is read.
// Elements of a list are named by their place, from 0, or by their name.
func (s Setting) apply(root *yaml.Node) error {
	var value yaml.Node
	if err := yaml.Unmarshal([]byte(s.Value), &value); err != nil || len(value.Content) == 0 {
		value = yaml.Node{Content: []*yaml.Node{{Kind: yaml.ScalarNode, Tag: "!!str", Value: s.Value}}}
	}
	unplace(&value)
	n := root
	parts := strings.Split(s.Path, ".")
	for i, part := range parts {
		for n.Kind == yaml.AliasNode {
			n = n.Alias
		}
		if i > 0 && n.Kind == yaml.ScalarNode { // a short form, such as server: row
			*n = yaml.Node{Kind: yaml.MappingNode, Line: n.Line}
		}
		switch n.Kind {
		case yaml.MappingNode:
			at := -1
			for k := 0; k+1 < len(n.Content); k += 2 {
				if n.Content[k].Value == part {
					at = k + 1
				}
			}
			if at < 0 {
				n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: part}, &yaml.Node{Kind: yaml.MappingNode})
				at = len(n.Content) - 1
			}
			n = n.Content[at]
		case yaml.SequenceNode:
			k, err := strconv.Atoi(part)
			if err != nil {
				k = slices.IndexFunc(n.Content, func(one *yaml.Node) bool { return nameOf(one) == part })
			}
			if k < 0 || k >= len(n.Content) {
				return fmt.Errorf("--set %s: there is no %s", s.Path, strings.Join(parts[:i+1], "."))
			}
			n = n.Content[k]
		default:
			return fmt.Errorf("--set %s: %s has no parts", s.Path, strings.Join(parts[:i], "."))
		}
	}
	*n = *value.Content[0]
	return nil
}

// unplace takes away lines: those of a setting are not the file's.
func unplace(n *yaml.Node) {
	n.Line = 0
	for _, one := range n.Content {
		unplace(one)
	}
}

// nameOf is what an element of a list has as its name.
func nameOf(n *yaml.Node) string {
	for k := 0; k+1 < len(n.Content); k += 2 {
		if n.Content[k].Value == "name" {
			return n.Content[k+1].Value
		}
	}
	return ""
}
