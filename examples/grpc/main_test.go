package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const wantOutput = `a unary call; the server is down, then has too much to do and says for how long
    attempt 1: Unavailable; again in 20ms
    attempt 2: ResourceExhausted; again in 100ms
    good morning
a server stream; the server is down before its first message
    attempt 1: Unavailable; again in 20ms
    received one
    received two
    received three
a bidirectional stream; the server goes away after two messages, and gets them again
    attempt 1: Unavailable; again in 20ms
    received ham
    received eggs
    received tea
a call that is not idempotent; the server may have done it, so it is made once
    rpc error: code = Unavailable desc = lost in the middle
`

func TestRun(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(t.Context(), &out))
	require.Equal(t, wantOutput, out.String())
}
