package roundtrip

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"
)

// attemptsAt makes a GET that is always answered by 503 with the header fields, and returns when the attempts were made,
// how long the call took and how it ended.
func attemptsAt(ctx context.Context, c *Client, delay time.Duration, fields ...string) (at []time.Duration, took time.Duration, end, err error) {
	start := time.Now()
	base := &script{answer: func(int, *http.Request) (*http.Response, error) {
		at = append(at, time.Since(start))
		return answer(http.StatusServiceUnavailable, http.NoBody, fields...), nil
	}}
	transport, err := c.New(Settings{Base: base, Attempts: attempts, Delay: delay})
	if err != nil {
		return nil, 0, nil, err
	}
	_, end = get(ctx, transport)
	return at, time.Since(start), end, nil
}

func retryAfter(c *Client) Finding {
	if !c.Hints {
		return absent
	}
	const wait = 30 * time.Second
	forms := []struct{ name, layout string }{
		{"number", ""}, {"IMF", http.TimeFormat}, {"RFC 850", "Monday, 02-Jan-06 15:04:05 GMT"}, {"asctime", time.ANSIC},
	}
	var heeded []string
	for _, form := range forms {
		value, now := "30", time.Now().UTC()
		if form.layout != "" {
			value = now.Add(wait).Format(form.layout)
		}
		at, _, _, err := attemptsAt(context.Background(), c, time.Second, "Retry-After", value, "Date", now.Format(http.TimeFormat))
		if err != nil {
			return failed(err)
		}
		if len(at) > 1 && at[1] >= wait {
			heeded = append(heeded, form.name)
		}
	}
	if len(heeded) == len(forms) {
		return found(true, "all forms")
	}
	return found(false, "%s", strings.Join(heeded, ", "))
}

func hugeRetryAfter(c *Client) Finding {
	if !c.Hints {
		return absent
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	at, took, _, err := attemptsAt(ctx, c, time.Second, "Retry-After", "9999999999")
	switch {
	case err != nil:
		return failed(err)
	case len(at) > 1:
		return found(false, "%d attempts in %v", len(at), took)
	case took > 0:
		return found(true, "ends after %v", took)
	}
	return found(true, "ends at once")
}

func waitPastDeadline(c *Client) Finding {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, took, _, err := attemptsAt(ctx, c, 10*time.Second)
	if err != nil {
		return failed(err)
	}
	if took == 0 {
		return found(true, "ends at once")
	}
	return found(false, "ends after %v", took)
}

func cancelledInWait(c *Client) Finding {
	ctx, cancel := context.WithCancel(context.Background())
	defer time.AfterFunc(500*time.Millisecond, cancel).Stop()
	_, took, end, err := attemptsAt(ctx, c, 10*time.Second)
	switch {
	case err != nil:
		return failed(err)
	case took != 500*time.Millisecond:
		return found(false, "after %v", took)
	case end == nil:
		return found(false, "no error")
	case !errors.Is(end, context.Canceled):
		return found(false, "another error")
	}
	return found(true, "Canceled")
}
