package quote_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/internal/quote"
)

func TestShortTextIsWhole(t *testing.T) {
	for _, text := range []string{"", "a", `say "x"`, strings.Repeat("a", quote.Limit)} {
		require.Equal(t, text, quote.Cut(text))
	}
	require.Equal(t, `"say \"x\"\n"`, quote.Quote("say \"x\"\n"))
}

// TestLongTextIsCut before a rune that would be split, and bytes that are no text are cut at the limit.
func TestLongTextIsCut(t *testing.T) {
	for text, kept := range map[string]int{
		strings.Repeat("a", quote.Limit+1):                100,
		strings.Repeat("a", 4<<20):                        100,
		strings.Repeat("a", 99) + "é":                     99,
		strings.Repeat("a", 97) + "\U0001F600":            97,
		strings.Repeat("a", 96) + "\U0001F600" + "b":      100,
		strings.Repeat("\x80", quote.Limit+1):             96,
		strings.Repeat("é", quote.Limit):                  100,
		strings.Repeat("a", quote.Limit) + "\xff\xfe\x80": 100,
	} {
		got := quote.Cut(text)
		require.Equal(t, text[:kept]+"…", got)
		require.LessOrEqual(t, len(got), quote.Limit+len("…"))
		if utf8.ValidString(text) {
			require.True(t, utf8.ValidString(got))
		}
		require.LessOrEqual(t, len(quote.Quote(text)), 4*quote.Limit+2+len("…"))
	}
}
