package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/seed-89b3229b/retry/retrytest"
	"github.com/seed-89b3229b/retry/throttle/pool"
)

// report draws what happened: for every token what it did in each second, and the sums.
func report(out io.Writer, log []visit, stats []pool.KeyStats, clk *retrytest.Clock) {
	fmt.Fprintf(out, "%d pages in %v. In each second a token served so many, was turned away (x), cooled down or was not needed (.):\n\n", pages, clk.Elapsed())
	seconds := int(clk.Elapsed()/time.Second) + 1
	fmt.Fprintf(out, "token  %s  served  turned away  in a row  cools down for\n", ruler(seconds))
	for i, s := range stats {
		served := make([]int, seconds)
		away := make([]bool, seconds)
		for _, v := range log {
			if v.token != i {
				continue
			}
			if second := int(v.at / time.Second); v.status == http.StatusOK {
				served[second]++
			} else {
				away[second] = true
			}
		}
		var row strings.Builder
		total := 0
		for second, n := range served {
			total += n
			switch {
			case away[second]:
				row.WriteByte('x')
			case n > 0:
				fmt.Fprint(&row, n)
			default:
				row.WriteByte('.')
			}
		}
		left := "-"
		if !s.Until.IsZero() {
			left = s.Until.Sub(clk.Now()).String()
		}
		fmt.Fprintf(out, "%5d  %s  %6d  %11d  %8d  %s\n", s.Index, &row, total, s.Limited, s.Failures, left)
	}
	waits := clk.Waits()
	var waited time.Duration
	for _, d := range waits {
		waited += d
	}
	fmt.Fprintf(out, "\nwaits: %d, %v in all\n", len(waits), waited)
}

// ruler marks every tenth second.
func ruler(seconds int) string {
	var b strings.Builder
	for s := 0; b.Len() < seconds; s += 10 {
		fmt.Fprintf(&b, "%-10s", fmt.Sprintf("%ds", s))
	}
	return b.String()[:seconds]
}
