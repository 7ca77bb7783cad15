package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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
