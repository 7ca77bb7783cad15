package condition_test

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/condition"
)

// The response codes of RFC 1035, section 4.1.1.
const (
	serverFailure = 2
	nameError     = 3
)

// TestRealDNSErrors resolves a name with a server on loopback that answers each question with the same response code.
func TestRealDNSErrors(t *testing.T) {
	for _, tt := range []struct {
		name  string
		rcode byte
		want  condition.Verdict
	}{
		{"no such name", nameError, unknown},
		{"server failure", serverFailure, again},
	} {
		t.Run(tt.name, func(t *testing.T) {
			addr := nameServer(t, tt.rcode)
			resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "udp", addr)
			}}
			err := second(resolver.LookupHost(t.Context(), "nobody.invalid."))
			require.Error(t, err)
			_, ok := errors.AsType[*net.DNSError](err)
			require.True(t, ok)
			require.Equal(t, tt.want, condition.Network().Check(err), err)
			require.Equal(t, unknown, condition.Hopeless().Check(err), err)
		})
	}
}

func nameServer(t *testing.T, rcode byte) string {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			if answer := answerTo(buf[:n], rcode); answer != nil {
				_, _ = conn.WriteTo(answer, from)
			}
		}
	}()
	t.Cleanup(func() { _ = conn.Close(); <-done })
	return conn.LocalAddr().String()
}

// answerTo repeats the question of a DNS message and adds nothing but a response code.
func answerTo(query []byte, rcode byte) []byte {
	const header = 12
	end := header
	for end < len(query) && query[end] != 0 {
		end += int(query[end]) + 1
	}
	end += 1 + 4 // the root, type and class
	if end > len(query) {
		return nil
	}
	answer := append([]byte{}, query[:end]...)
	answer[2] |= 0x80                       // a response
	answer[3] = 0x80 | rcode                // recursion available
	copy(answer[6:header], make([]byte, 6)) // no records
	return answer
}
