package main

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const wantOutput = `
acme may call DescribeInstances three times, then not for 800ms
 TIME           gateway: DescribeInstances for LTAI-acme: served
 TIME           gateway: DescribeInstances for LTAI-acme: served
 TIME           gateway: DescribeInstances for LTAI-acme: served
 TIME           gateway: DescribeInstances for LTAI-acme: turned away
 TIME  DescribeInstances was turned away, and waits for TIME
 TIME  DescribeInstances is held back for TIME without a request
 TIME  DescribeInstances is held back for TIME without a request
 TIME           gateway: CreateSnapshot for LTAI-acme: served
 TIME           gateway: DescribeInstances for LTAI-acme: served
 TIME           gateway: DescribeInstances for LTAI-acme: served
 TIME           gateway: DescribeInstances for LTAI-acme: served

globex may make four calls in all, then none for 800ms
 TIME           gateway: StartInstance for LTAI-globex: served
 TIME           gateway: StopInstance for LTAI-globex: served
 TIME           gateway: RebootInstance for LTAI-globex: served
 TIME           gateway: DescribeDisks for LTAI-globex: served
 TIME           gateway: DescribeDisks for LTAI-globex: turned away
 TIME  DescribeDisks was turned away, and waits for TIME
 TIME  CreateDisk is held back for TIME without a request
 TIME           gateway: CreateDisk for LTAI-acme: served
 TIME           gateway: CreateDisk for LTAI-globex: served
 TIME           gateway: DescribeDisks for LTAI-globex: served

acme may call ExportBills once, then not for 30s, longer than anybody here waits
 TIME           gateway: ExportBills for LTAI-acme: served
 TIME           gateway: ExportBills for LTAI-acme: turned away
 TIME  ExportBills ends at once: 30s to wait
 TIME  ExportBills ends without a request: 30s to wait
`

func TestOutput(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(t.Context(), &out))
	masked := regexp.MustCompile(` +\d+\.\d+s`).ReplaceAllString(out.String(), " TIME")
	// Two calls are released at the same moment, and either may come first.
	either := strings.Split(wantOutput, "\n")
	for i, line := range either {
		if strings.HasSuffix(line, "CreateDisk for LTAI-globex: served") {
			either[i], either[i+1] = either[i+1], either[i]
			break
		}
	}
	require.Contains(t, []string{wantOutput, strings.Join(either, "\n")}, masked)
}

// The program fails where a request was sent, or not sent, against what it says.
func TestVerifyBites(t *testing.T) {
	good := func() *gateway {
		return &gateway{
			served: map[string]int{
				"LTAI-acme DescribeInstances": 6, "LTAI-acme CreateSnapshot": 1, "LTAI-acme CreateDisk": 1,
				"LTAI-acme ExportBills": 1, "LTAI-globex DescribeDisks": 2, "LTAI-globex CreateDisk": 1,
			},
			away: map[string]int{"LTAI-acme DescribeInstances": 1, "LTAI-acme ExportBills": 1, "LTAI-globex DescribeDisks": 1},
		}
	}
	require.NoError(t, good().verify())
	for key := range good().served {
		g := good()
		g.served[key]--
		require.ErrorContains(t, g.verify(), "should have been served")
		g = good()
		g.away[key]++
		require.ErrorContains(t, g.verify(), "turned away")
	}
	g := good()
	g.wild = 1
	require.EqualError(t, g.verify(), "1 requests did not say that the control is on")
}

// Whoever interrupts the program while calls wait ends it at once.
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	out := &watcher{word: "waits for", then: cancel}
	require.ErrorIs(t, run(ctx, out), context.Canceled)
	require.NotContains(t, out.String(), "globex may")
}

// watcher calls then when word is written to it.
type watcher struct {
	strings.Builder
	word string
	then func()
}

func (w *watcher) Write(p []byte) (int, error) {
	if strings.Contains(string(p), w.word) {
		w.then()
	}
	return w.Builder.Write(p)
}
