package main

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/seed-89b3229b/retry"
	"github.com/seed-89b3229b/retry/throttle/alibaba"
)

// client calls the APIs of a product in the name of one account.
type client struct {
	url       string
	accessKey string
	control   alibaba.Control // of no API in particular
}

// call makes one call, by as many attempts as the control allows. Options change the policy for this call. A program that
// calls an API often makes the policy of it once.
func (c client) call(ctx context.Context, action string, opts ...retry.Option) error {
	control := c.control
	control.Account, control.Action = c.accessKey, action
	return retry.Run(ctx, func(ctx context.Context) error {
		return c.send(ctx, control)
	}, append(control.Options(), opts...)...)
}

// send makes one attempt.
func (c client) send(ctx context.Context, control alibaba.Control) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, nil)
	if err != nil {
		return err
	}
	req.Header.Set("x-acs-accesskey-id", c.accessKey) // where a real client signs
	req.Header.Set("x-acs-action", control.Action)
	control.SetRequest(req)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var body struct{ Code, Message string }
	if err := json.NewDecoder(resp.Body).Decode(&body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return alibaba.ErrorFrom(resp, body.Code, body.Message, time.Now())
	}
	return nil
}
