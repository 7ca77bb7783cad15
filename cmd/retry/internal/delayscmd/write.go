package delayscmd

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/seed-89b3229b/retry/cmd/retry/internal/frame"
)

// seconds is a wait as a Go duration, and plainSeconds as a number of seconds; giving up is -1 in both.
func seconds(d time.Duration) string {
	if d == gaveUp {
		return "-1"
	}
	return d.String()
}

func plainSeconds(d time.Duration) string {
	return strconv.FormatFloat(number(d), 'g', 15, 64)
}

func number(d time.Duration) float64 {
	if d == gaveUp {
		return -1
	}
	f, _ := strconv.ParseFloat(strconv.FormatFloat(d.Seconds(), 'g', 15, 64), 64)
	return f
}

// write shows waits in the form that was asked for.
func (c *Command) write(std *frame.IO, waits []time.Duration, text func(time.Duration) string) error {
	var b strings.Builder
	switch {
	case c.JSON:
		numbers := make([]float64, len(waits))
		for i, d := range waits {
			numbers[i] = number(d)
		}
		out, _ := json.Marshal(numbers)
		b.Write(append(out, '\n'))
	case c.CSV:
		b.WriteString("n,delay_s,sum_s\n")
		var sum time.Duration
		for i, d := range waits {
			sum = plus(sum, d)
			fmt.Fprintf(&b, "%d,%s,%s\n", i+1, plainSeconds(d), plainSeconds(sum))
		}
	case c.Plot:
		plot(&b, waits, width(std))
	default:
		for _, d := range waits {
			b.WriteString(text(d) + "\n")
		}
	}
	_, err := io.WriteString(std.Stdout, b.String())
	return err
}

// plus is a sum of waits that saturates; giving up adds nothing.
func plus(sum, d time.Duration) time.Duration {
	if d < 0 {
		return sum
	}
	if d > math.MaxInt64-sum {
		return math.MaxInt64
	}
	return sum + d
}

// width is that of the terminal; 80 if there is none.
func width(std *frame.IO) int {
	if w, _, err := term.GetSize(int(std.Stdout.Fd())); err == nil && w > 20 {
		return w
	}
	return 80
}

// plot draws a bar for each wait, with the wait and the sum so far.
func plot(b *strings.Builder, waits []time.Duration, columns int) {
	var sum, most time.Duration
	rows := make([][2]string, len(waits))
	wide := [2]int{}
	for i, d := range waits {
		sum = plus(sum, d)
		most = max(most, d)
		rows[i] = [2]string{round(d), round(sum)}
		for j, text := range rows[i] {
			wide[j] = max(wide[j], utf8.RuneCountInString(text))
		}
	}
	digits := len(strconv.Itoa(len(waits)))
	room := max(columns-digits-wide[0]-wide[1]-6, 8)
	for i, d := range waits {
		fmt.Fprintf(b, "%*d  %*s  %s%s  %*s\n", digits, i+1, wide[0], rows[i][0], bar(d, most, room), pad(d, most, room), wide[1], rows[i][1])
	}
}

const eighths = " ▏▎▍▌▋▊▉"

// parts is how many eighths of a column a wait fills.
func parts(d, most time.Duration, room int) int {
	if most <= 0 || d <= 0 {
		return 0
	}
	return int(math.Round(float64(d) / float64(most) * float64(room*8)))
}

func bar(d, most time.Duration, room int) string {
	n := parts(d, most, room)
	text := strings.Repeat("█", n/8)
	if n%8 > 0 {
		text += string([]rune(eighths)[n%8])
	}
	return text
}

func pad(d, most time.Duration, room int) string {
	return strings.Repeat(" ", max(room-(parts(d, most, room)+7)/8, 0))
}

// round is a wait with three digits or so.
func round(d time.Duration) string {
	for unit := time.Duration(1); unit < time.Hour; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit).String()
		}
	}
	return d.Round(time.Second).String()
}

// summary is what many draws of one wait come to.
type summary struct {
	Min    float64 `json:"min_s"`
	P5     float64 `json:"p5_s"`
	Median float64 `json:"median_s"`
	Mean   float64 `json:"mean_s"`
	P95    float64 `json:"p95_s"`
	Max    float64 `json:"max_s"`
}

// summaries are those of each wait of many series. Where some series end earlier than others, those count that have the wait.
func summaries(all [][]time.Duration) (list []summary) {
	for n := 0; ; n++ {
		var waits []time.Duration
		mean := 0.0
		for _, one := range all {
			if n < len(one) {
				waits = append(waits, one[n])
				mean += one[n].Seconds()
			}
		}
		if len(waits) == 0 {
			return list
		}
		slices.Sort(waits)
		at := func(q float64) float64 { return waits[int(q*float64(len(waits)-1)+0.5)].Seconds() }
		list = append(list, summary{at(0), at(0.05), at(0.5), mean / float64(len(waits)), at(0.95), at(1)})
	}
}

func (s *summary) values() [6]float64 { return [6]float64{s.Min, s.P5, s.Median, s.Mean, s.P95, s.Max} }

// writeSamples shows summaries.
func (c *Command) writeSamples(std *frame.IO, list []summary) error {
	var b strings.Builder
	switch {
	case c.JSON:
		if list == nil {
			list = []summary{}
		}
		out, _ := json.Marshal(list)
		b.Write(append(out, '\n'))
	case c.CSV:
		b.WriteString("n,min_s,p5_s,median_s,mean_s,p95_s,max_s\n")
		for i, s := range list {
			fmt.Fprintf(&b, "%d", i+1)
			for _, v := range s.values() {
				b.WriteString("," + strconv.FormatFloat(v, 'g', 15, 64))
			}
			b.WriteByte('\n')
		}
	case c.Plot:
		boxes(&b, list, width(std))
	default:
		fmt.Fprintf(&b, "%3s %9s %9s %9s %9s %9s %9s\n", "n", "min", "5%", "median", "mean", "95%", "max")
		for i, s := range list {
			fmt.Fprintf(&b, "%3d", i+1)
			for _, v := range s.values() {
				fmt.Fprintf(&b, " %9s", round(time.Duration(v*1e9)))
			}
			b.WriteByte('\n')
		}
	}
	_, err := io.WriteString(std.Stdout, b.String())
	return err
}

// boxes draws each wait as a box from 5 % to 95 %, with lines to the smallest and the largest, and the median in it.
func boxes(b *strings.Builder, list []summary, columns int) {
	most := 0.0
	for _, s := range list {
		most = max(most, s.Max)
	}
	digits := len(strconv.Itoa(len(list)))
	room := max(columns-digits-12, 8)
	for i, s := range list {
		row := []rune(strings.Repeat(" ", room))
		at := func(v float64) int {
			if most == 0 {
				return 0
			}
			return min(int(v/most*float64(room-1)+0.5), room-1)
		}
		for x := at(s.Min); x <= at(s.Max); x++ {
			row[x] = '─'
		}
		for x := at(s.P5); x <= at(s.P95); x++ {
			row[x] = '▒'
		}
		row[at(s.Median)] = '█'
		fmt.Fprintf(b, "%*d  %8s  %s\n", digits, i+1, round(time.Duration(s.Median*1e9)), strings.TrimRight(string(row), " "))
	}
}
