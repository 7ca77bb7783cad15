package report

import (
	"fmt"
	"strings"
)

// A document has generated parts, each between two comments.
func marks(part string) (begin, end string) {
	return "<!-- generated: " + part + " -->\n", "<!-- end of " + part + " -->\n"
}

// Part returns a generated part of a document.
func Part(document, part string) (string, error) {
	begin, end := marks(part)
	_, rest, found := strings.Cut(document, begin)
	if !found {
		return "", fmt.Errorf("the document has no line %q", begin)
	}
	body, _, found := strings.Cut(rest, end)
	if !found {
		return "", fmt.Errorf("the document has no line %q after %q", end, begin)
	}
	return body, nil
}

// Replace returns the document with another body for a generated part.
func Replace(document, part, body string) (string, error) {
	old, err := Part(document, part)
	if err != nil {
		return "", err
	}
	begin, end := marks(part)
	return strings.Replace(document, begin+old+end, begin+body+end, 1), nil
}
