package hint

import (
	"strings"
	"time"

	"github.com/seed-89b3229b/retry/internal/saturate"
	"github.com/seed-89b3229b/retry/throttle"
)

// alibabaFields are Alibaba Cloud's two limits: the account's, and the account's for the API that was called.
var alibabaFields = [...]field{alibabaUser, alibabaUserAPI}

// alibaba reads both limits. The longer wait of those that are used up counts.
func (m *message) alibaba(a *answer) {
	var w wait
	for _, f := range alibabaFields {
		var worst throttle.Quota
		said := false
		for _, line := range m.field(f) {
			if q, ok := m.alibabaQuota(fieldNames[f], line); ok && (!said || worse(q, worst)) {
				worst, said = q, true
			}
		}
		if said {
			a.add(worst)
			if worst.Remaining == 0 && worst.HasDelay {
				w.longest(worst.Delay, fieldNames[f])
			}
		}
	}
	a.tell(w)
}

// worse reports whether a says to wait where b does not, or for longer.
func worse(a, b throttle.Quota) bool {
	if used, other := a.Remaining == 0, b.Remaining == 0; used != other {
		return used
	}
	return a.HasDelay && (!b.HasDelay || a.Delay > b.Delay)
}

// alibabaQuota reads a value such as Limit:100,Remain:0,Time:60000,TimeLeft:2000,Reset:1700000000000, whose times are in
// milliseconds. Space around names and numbers is no matter, nor is the case of names; the last valid one of a name
// counts; what is not a name and an integer, with or without a sign, is passed over.
func (m *message) alibabaQuota(name, value string) (q throttle.Quota, ok bool) {
	q = throttle.Quota{Name: name, Limit: -1, Remaining: -1}
	var left, reset int64 = -1, -1
	for pair := range strings.SplitSeq(value, ",") {
		key, text, _ := strings.Cut(pair, ":")
		n, ok := readSigned(trim(text))
		if !ok {
			continue
		}
		switch key = trim(key); {
		case strings.EqualFold(key, "Limit"):
			q.Limit = max(n, -1)
		case strings.EqualFold(key, "Remain"):
			// -1 is without a limit, as in the Java SDK; less is as little as nothing left.
			if q.Remaining = n; n < -1 {
				q.Remaining = 0
			}
		case strings.EqualFold(key, "TimeLeft"):
			left = max(n, 0)
		case strings.EqualFold(key, "Reset"):
			reset = max(n, 0)
		}
	}
	switch {
	case left >= 0:
		q.Delay, q.HasDelay = saturate.Times(left, time.Millisecond), true
	case reset > 0:
		q.Delay, q.HasDelay = m.until(time.UnixMilli(min(reset, maxEpoch*1000))), true
	}
	return q, q.Limit >= 0 || q.Remaining >= 0 || q.HasDelay
}
