package drivertest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	openapi "github.com/alibabacloud-go/darabonba-openapi/v2/client"
	"github.com/alibabacloud-go/tea/dara"
	"github.com/alibabacloud-go/tea/tea"
	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/throttle"
	"github.com/seed-89b3229b/retry/throttle/alibaba"
	"github.com/seed-89b3229b/retry/throttle/hint"
)

// popGateway turns the first call away, with the header fields given, and serves the others.
type popGateway struct {
	*httptest.Server
	mu     sync.Mutex
	header map[string]string // of the first answer
	calls  []http.Header
}

func startPopGateway(t *testing.T, header map[string]string) *popGateway {
	g := &popGateway{header: header}
	g.Server = httptest.NewServer(g)
	t.Cleanup(g.Close)
	return g
}

func (g *popGateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	w.Header().Set("Connection", "close") // the SDK keeps its clients
	w.Header().Set("Content-Type", "application/json")
	if g.calls = append(g.calls, r.Header); len(g.calls) > 1 {
		fmt.Fprint(w, `{"RequestId": "2"}`)
		return
	}
	for name, value := range g.header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(http.StatusBadRequest)
	fmt.Fprint(w, `{"Code": "Throttling.User", "Message": "Request was denied due to user flow control.", "RequestId": "1"}`)
}

// popHook is the HTTP client of the package documentation: it sees what the SDK hides.
type popHook struct{ control alibaba.Control }

func (h popHook) Call(req *http.Request, transport *http.Transport) (*http.Response, error) {
	control := h.control
	control.Action = strings.Join(req.Header["x-acs-action"], "")
	control.SetRequest(req)
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err == nil {
		now := time.Now()
		signal, _ := hint.Alibaba().Parse(resp.Header, resp.StatusCode, now)
		control.Observe(now, signal, nil)
	}
	return resp, err
}

func popClient(t *testing.T, g *popGateway, change func(*openapi.Client)) *openapi.Client {
	config := &openapi.Config{
		AccessKeyId: dara.String("LTAIexample"), AccessKeySecret: dara.String("secret"),
		Endpoint: dara.String(strings.TrimPrefix(g.URL, "http://")), Protocol: dara.String("http"),
	}
	client, err := openapi.NewClient(config)
	require.NoError(t, err)
	change(client)
	return client
}

func popControl() alibaba.Control {
	return alibaba.Control{
		Gate: new(throttle.Gate), Account: "LTAIexample", Product: "Ecs", Version: "2014-05-26", Action: "DescribeInstances",
	}
}

// popCall makes a call of the control's API through the SDK.
func popCall(t *testing.T, client *openapi.Client, c alibaba.Control, opts ...retry.Option) error {
	params := &openapi.Params{
		Action: dara.String(c.Action), Version: dara.String(c.Version), Protocol: dara.String("HTTP"), Pathname: dara.String("/"),
		Method: dara.String("POST"), AuthType: dara.String("AK"), Style: dara.String("RPC"),
		ReqBodyType: dara.String("formData"), BodyType: dara.String("json"),
	}
	return retry.Run(t.Context(), func(context.Context) error {
		_, err := client.CallApi(params, &openapi.OpenApiRequest{}, &dara.RuntimeOptions{})
		return err
	}, append(c.Options(), opts...)...)
}

// cooling says which of the control's keys are cooling down.
func cooling(c alibaba.Control) (account, api bool) {
	a, b := c.Keys()
	return c.Gate.Check(time.Now(), a) != nil, c.Gate.Check(time.Now(), b) != nil
}

// TestControlOfAlibabaByHook: the cool-downs of both dimensions are seen below the SDK, and the error that it returns is
// retried for its code.
func TestControlOfAlibabaByHook(t *testing.T) {
	gateway := startPopGateway(t, map[string]string{"X-RateLimit-User": "Limit:9,Remain:0,TimeLeft:20", "X-RateLimit-User-API": "Limit:9,Remain:3,TimeLeft:20"})
	c := popControl()
	client := popClient(t, gateway, func(client *openapi.Client) { client.HttpClient = popHook{c} })
	var waited []retry.Event
	require.NoError(t, popCall(t, client, c, retry.WithOnRetry(func(_ context.Context, e retry.Event) { waited = append(waited, e) })))
	require.Len(t, gateway.calls, 2)
	require.Equal(t, "enable", gateway.calls[1].Get("x-sdk-throttling-control"))
	require.Len(t, waited, 1)
	require.Equal(t, throttle.Throttled, waited[0].Class)
	_, isTea := errors.AsType[*tea.SDKError](waited[0].Err)
	require.True(t, isTea, "%T", waited[0].Err)

	gateway = startPopGateway(t, map[string]string{"X-RateLimit-User": "Limit:9,Remain:0,TimeLeft:30000"})
	c = popControl()
	c.MaxDelay = time.Second
	client = popClient(t, gateway, func(client *openapi.Client) { client.HttpClient = popHook{c} })
	other := c
	other.Action = "CreateSnapshot"
	for _, c := range []alibaba.Control{c, other} {
		err := popCall(t, client, c)
		require.ErrorIs(t, err, retry.ErrHintTooLong)
		_, refused := errors.AsType[*throttle.Error](err)
		require.True(t, refused)
		account, api := cooling(c)
		require.Equal(t, []bool{true, false}, []bool{account, api})
	}
	require.Len(t, gateway.calls, 1, "the other API was held back by the account")
}

// TestControlOfAlibabaByError: with DisableSDKError the error says how long, but not for which quota.
func TestControlOfAlibabaByError(t *testing.T) {
	gateway := startPopGateway(t, map[string]string{"X-RateLimit-User-API": "Limit:9,Remain:0,TimeLeft:30000"})
	c := popControl()
	c.MaxDelay = time.Second
	client := popClient(t, gateway, func(client *openapi.Client) { client.DisableSDKError = dara.Bool(true) })
	err := popCall(t, client, c)
	require.ErrorIs(t, err, retry.ErrHintTooLong)
	told, ok := errors.AsType[*openapi.ThrottlingError](err)
	require.True(t, ok, "%v", err)
	require.EqualValues(t, 30000, *told.GetRetryAfter())
	account, api := cooling(c)
	require.Equal(t, []bool{false, true}, []bool{account, api})

	err = popCall(t, client, c)
	require.ErrorIs(t, err, retry.ErrHintTooLong)
	require.Len(t, gateway.calls, 1)

	// What it returns by default says neither: the curve decides.
	gateway = startPopGateway(t, map[string]string{"X-RateLimit-User-API": "Limit:9,Remain:0,TimeLeft:30000"})
	c = popControl()
	client = popClient(t, gateway, func(*openapi.Client) {})
	require.NoError(t, popCall(t, client, c))
	require.Len(t, gateway.calls, 2)
	account, api = cooling(c)
	require.Equal(t, []bool{false, false}, []bool{account, api})
}
