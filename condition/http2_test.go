package condition_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/condition"
)

// TestNetworkHTTP2: failures of HTTP/2 for which net/http has only a text.
func TestNetworkHTTP2(t *testing.T) {
	for text, want := range map[string]condition.Verdict{
		"http2: client connection lost":                                          again,
		"http2: client connection force closed via ClientConn.Close":             again,
		"http2: client conn could not be established":                            again,
		"http2: client conn is closed":                                           again,
		"http2: client conn not usable":                                          again,
		"http2: Transport received Server's graceful shutdown GOAWAY":            again,
		"http: server closed idle connection":                                    again,
		"http2: Transport received GOAWAY from server ErrCode:NO_ERROR":          again,
		"http2: Transport received GOAWAY from server ErrCode:INTERNAL_ERROR":    again,
		"http2: Transport received GOAWAY from server ErrCode:ENHANCE_YOUR_CALM": again,
		"http2: Transport received GOAWAY from server ErrCode:HTTP_1_1_REQUIRED": unknown,
		"http2: Transport: cannot retry err [stream error: stream ID 1; REFUSED_STREAM; received from peer] after Request.Body was written; define Request.GetBody to avoid this error": again,
		"http2: Transport: cannot retry err [stream error: stream ID 1; PROTOCOL_ERROR; received from peer] after Request.Body was written; define Request.GetBody to avoid this error": unknown,
		"http2: unsupported scheme":                                unknown,
		"http2: request body larger than specified content length": unknown,
		"client connection lost":                                   unknown,
		"http2: client connection lost!":                           unknown,
	} {
		err := error(&url.Error{Op: "Get", Err: errors.New(text)})
		require.Equal(t, want, condition.Network().Check(err), text)
		require.Equal(t, unknown, condition.Network().Check(texted(text)), "not made by errors.New")
		require.Equal(t, unknown, condition.NotSent().Check(err), text)
	}
	require.Equal(t, unknown, condition.Network().Check(struct{ error }{errA}))
}

// TestNetworkConnectionLost is the real error: a server that answers nothing, not even a ping.
// https://github.com/kubernetes/kubernetes/issues/126954
func TestNetworkConnectionLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, theirs); _ = theirs.Close() }()
		base := &http.Transport{
			DialContext: func(context.Context, string, string) (net.Conn, error) { return ours, nil },
			Protocols:   new(http.Protocols),
			HTTP2:       &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
		}
		base.Protocols.SetUnencryptedHTTP2(true)
		began := time.Now()
		_, err := (&http.Client{Transport: base}).Get("http://example.com")
		require.ErrorContains(t, err, "http2: client connection lost")
		require.Equal(t, 45*time.Second, time.Since(began))
		require.Equal(t, again, condition.Network().Check(err))
		require.Equal(t, again, condition.Network().Check(fmt.Errorf("list: %w", err)))
		require.Equal(t, unknown, condition.Hopeless().Check(err))
	})
}
