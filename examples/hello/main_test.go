package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// Example is the output that the README shows.
func Example() {
	main()
	// Output: hello <nil> after 3 calls
}

func TestReadmeShowsTheOutput(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	require.Contains(t, string(readme), "```\nhello <nil> after 3 calls\n```")
}
