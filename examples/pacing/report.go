package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

const (
	rowEvery = 6                     // seconds
	column   = 80 * time.Millisecond // of the level
	settling = 20 * time.Second      // at the beginning of a phase
)

// draw shows the level as it was, and where it should have been.
func draw(out io.Writer, seconds []second) {
	fmt.Fprintf(out, "   time  allowed  served  away   level   (one # is %v; | is where every poll allowed is used)\n", column)
	for i := 0; i+rowEvery <= len(seconds); i += rowEvery {
		rows := seconds[i : i+rowEvery]
		served, away, level := sum(rows)
		p, _, _ := phaseAt(time.Duration(i) * time.Second)
		fmt.Fprintf(out, "%6ds  %5.0f/s %5.0f/s %4.0f%%  %5.2fs   %s\n",
			i, p.allowed, float64(served)/rowEvery, 100*float64(away)/float64(served+away), level.Seconds(), bar(level, p.ideal()))
	}
}

func bar(level, ideal time.Duration) string {
	text := []byte(strings.Repeat("#", int((level+column/2)/column)))
	mark := int(ideal / column)
	for len(text) <= mark {
		text = append(text, ' ')
	}
	text[mark] = '|'
	return string(text)
}

// sum adds up seconds; level is the mean.
func sum(seconds []second) (served, away int, level time.Duration) {
	for _, s := range seconds {
		served, away, level = served+s.served, away+s.away, level+s.level
	}
	return served, away, level / time.Duration(max(len(seconds), 1))
}

// turnedAway is the share of polls that were.
func turnedAway(seconds []second) float64 {
	served, away, _ := sum(seconds)
	return float64(away) / float64(max(served+away, 1))
}

// verify reports the first phase in which the level did not follow the queue's limit, apart from its beginning.
func verify(seconds []second) error {
	begin := time.Duration(0)
	for i, p := range phases {
		end := begin + p.length
		if len(seconds) < int(end/time.Second) {
			return fmt.Errorf("phase %d should have gone on until %v", i+1, end)
		}
		settled := seconds[(begin+settling)/time.Second : end/time.Second]
		served, away, level := sum(settled)
		allowed := p.allowed * float64(len(settled))
		switch {
		case level < p.ideal()/2 || level > 2*p.ideal():
			return fmt.Errorf("phase %d: the level should have been about %v, not %v", i+1, p.ideal(), level)
		case float64(served) < 0.6*allowed:
			return fmt.Errorf("phase %d: of %.0f polls that were allowed at least 60%% should have been made, not %d", i+1, allowed, served)
		case away > served/3:
			return fmt.Errorf("phase %d: %d polls were turned away, too many for %d that were served", i+1, away, served)
		}
		begin = end
	}
	return nil
}
