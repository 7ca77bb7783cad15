package scenario

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/seed-89b3229b/retry/retrysim"
)

// readLoad reads one of {open: 600/s}, {open: [{at: 0s, rate: 600/s}, …]}, {ramp: […]}, {closed: {rate: 10/s}},
// {closed: {think: exponential(1s)}} and {burst: 0s}.
func readLoad(to *retrysim.Load) reader {
	return func(n *yaml.Node, path string) error {
		return readOne(n, path, map[string]reader{
			"open": func(n *yaml.Node, path string) error {
				rate, err := readRate(n, path)
				*to = retrysim.Open{Rate: rate}
				return err
			},
			"ramp": func(n *yaml.Node, path string) error {
				rate, err := readRate(n, path)
				rate.Linear = true
				*to = retrysim.Open{Rate: rate}
				return err
			},
			"closed": func(n *yaml.Node, path string) error {
				var l retrysim.Closed
				err := readMapping(n, path, map[string]reader{"rate": into(&l.Rate, perSecond), "think": into(&l.Think, dist)})
				*to = l
				return err
			},
			"burst": func(n *yaml.Node, path string) error {
				var l retrysim.Burst
				err := into(&l.At, duration)(n, path)
				*to = l
				return err
			},
		})
	}
}

func readRate(n *yaml.Node, path string) (rate retrysim.Rate, err error) {
	if n.Kind != yaml.SequenceNode {
		var v float64
		err = into(&v, perSecond)(n, path)
		return retrysim.PerSecond(v), err
	}
	err = readList(n, path, func(n *yaml.Node, path string) error {
		var p retrysim.RatePoint
		err := readMapping(n, path, map[string]reader{"at": into(&p.At, duration), "rate": into(&p.PerSecond, perSecond)})
		rate.Points = append(rate.Points, p)
		return err
	})
	return rate, err
}

// readServer reads one of the models, such as {queue: {workers: 10, service: fixed(10ms)}}.
func readServer(to *retrysim.Server) reader {
	return func(n *yaml.Node, path string) error {
		return readOne(n, path, map[string]reader{
			"queue": func(n *yaml.Node, path string) error {
				var s retrysim.Queue
				err := readMapping(n, path, map[string]reader{
					"workers": into(&s.Workers, whole), "service": into(&s.Service, dist), "limit": into(&s.Limit, whole),
					"lifo": into(&s.LIFO, yes), "drop_expired": into(&s.DropExpired, yes),
				})
				*to = s
				return err
			},
			"slope": func(n *yaml.Node, path string) error {
				var s retrysim.Slope
				err := readMapping(n, path, map[string]reader{"base": into(&s.Base, duration), "per_in_flight": into(&s.PerInFlight, duration)})
				*to = s
				return err
			},
			"row": func(n *yaml.Node, path string) error {
				*to = retrysim.Row{}
				if len(n.Content) > 0 {
					return atf(n, path, "has no settings")
				}
				return nil
			},
			"chance": func(n *yaml.Node, path string) error {
				var s retrysim.Chance
				err := into(&s.P, Share)(n, path)
				*to = s
				return err
			},
			"quota": func(n *yaml.Node, path string) error {
				var s retrysim.Quota
				err := readMapping(n, path, map[string]reader{
					"rate": into(&s.Rate, perSecond), "burst": into(&s.Burst, whole), "retry_after": into(&s.RetryAfter, retryAfter),
					"server": readServer(&s.Server),
				})
				*to = s
				return err
			},
			"layers": func(n *yaml.Node, path string) error {
				var s retrysim.Layers
				err := readMapping(n, path, map[string]reader{
					"between": into(&s.Between, whole), "timeout": into(&s.Timeout, duration), "server": readServer(&s.Server),
				})
				*to = s
				return err
			},
		})
	}
}

func retryAfter(s string) (retrysim.RetryAfter, error) {
	switch s {
	case "none":
		return retrysim.TellNothing, nil
	case "header":
		return retrysim.TellSeconds, nil
	case "wrong":
		return retrysim.TellWrong, nil
	}
	return 0, fmt.Errorf("must be none, header or wrong, not %q", s)
}

func readFault(to *[]retrysim.Fault) reader {
	return func(n *yaml.Node, path string) error {
		var f retrysim.Fault
		err := readMapping(n, path, map[string]reader{
			"from": into(&f.From, duration), "to": into(&f.To, duration), "fail": into(&f.Fail, Share), "fast": into(&f.Fast, yes),
			"capacity": into(&f.Capacity, left), "latency": into(&f.Latency, times), "blackhole": into(&f.Blackhole, yes),
		})
		*to = append(*to, f)
		return err
	}
}
