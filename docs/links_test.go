package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	mdFence = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	mdCode  = regexp.MustCompile("`[^`\n]+`")
	mdLink  = regexp.MustCompile(`\]\(\s*<?([^)>\s]+)`)              // [text](target), ![text](target "title")
	mdRef   = regexp.MustCompile(`(?m)^ {0,3}\[[^\]]+\]:\s*<?(\S+)`) // [name]: target
	mdURL   = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9+.-]*:`)
)

// relativeLinks returns the targets of the links in a Markdown text that lead to files, without the place in them.
func relativeLinks(text string) (targets []string) {
	text = mdCode.ReplaceAllString(mdFence.ReplaceAllString(text, ""), "code")
	for _, kind := range []*regexp.Regexp{mdLink, mdRef} {
		for _, found := range kind.FindAllStringSubmatch(text, -1) {
			target, _, _ := strings.Cut(found[1], "#")
			if target = strings.TrimSuffix(target, ">"); target != "" && !mdURL.MatchString(target) {
				targets = append(targets, target)
			}
		}
	}
	return targets
}

// TestLinks: a relative link leads to a file or folder that is there.
func TestLinks(t *testing.T) {
	files, err := filepath.Glob("*.md")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	links := 0
	for _, file := range append(files, "../README.md", "../CONTRIBUTING.md", "../CHANGELOG.md") {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, target := range relativeLinks(string(text)) {
			links++
			assert.False(t, strings.HasPrefix(target, "/"), "%s: %s is no relative link", file, target)
			_, err := os.Stat(filepath.Join(filepath.Dir(file), filepath.FromSlash(target)))
			assert.NoError(t, err, "%s links to %s", file, target)
		}
	}
	require.NotZero(t, links)
}

var (
	mdHeading = regexp.MustCompile(`(?m)^#{1,6} +(.+?) *#*$`)
	mdPlace   = regexp.MustCompile(`\]\(\s*<?([^)>\s#:]*)#([^)>\s]+)`) // [text](file.md#place), [text](#place)
	mdMarks   = regexp.MustCompile(`[^\p{L}\p{N}\s_-]`)
)

// places returns the names that GitHub gives the headings of a Markdown text.
func places(text string) (names []string) {
	seen := map[string]int{}
	for _, heading := range mdHeading.FindAllStringSubmatch(mdFence.ReplaceAllString(text, ""), -1) {
		name := strings.ReplaceAll(mdMarks.ReplaceAllString(strings.ToLower(heading[1]), ""), " ", "-")
		n := seen[name]
		if seen[name]++; n > 0 {
			name += "-" + strconv.Itoa(n)
		}
		names = append(names, name)
	}
	return names
}

// TestPlaces: a link to a place in a Markdown file leads to a heading that is there.
func TestPlaces(t *testing.T) {
	files, err := filepath.Glob("*.md")
	require.NoError(t, err)
	links := 0
	for _, file := range append(files, "../README.md", "../CONTRIBUTING.md", "../CHANGELOG.md") {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, link := range mdPlace.FindAllStringSubmatch(mdCode.ReplaceAllString(mdFence.ReplaceAllString(string(text), ""), "code"), -1) {
			links++
			there := text
			if link[1] != "" {
				there, err = os.ReadFile(filepath.Join(filepath.Dir(file), filepath.FromSlash(link[1])))
				require.NoError(t, err, "%s links to %s", file, link[1])
			}
			assert.Contains(t, places(string(there)), link[2], "%s links to %s#%s", file, link[1], link[2])
		}
	}
	require.NotZero(t, links)
	assert.Equal(t, []string{"a-b", "cenkaltibackoff-v4", "its-here_now", "a-b-1"},
		places("# A B\n## cenkalti/backoff v4 ##\n```go\n# no\n```\n### It's `here_now`\n# A b\n"))
}

func TestRelativeLinks(t *testing.T) {
	text := strings.ReplaceAll(`
[a](docs/a.md), [b c](../b.md#part) and ![d](d.png "title") or [e](<e.md>)
[web](https://example.com/a.md) [mail](mailto:a@example.com) [here](#part)
'Do[T](ctx)' and [a 'code' link](g.go)

[ref]: h/
[web]: http://example.com

'''go
x := y[z](w)
'''
`, "'", "`")
	assert.Equal(t, []string{"docs/a.md", "../b.md", "d.png", "e.md", "g.go", "h/"}, relativeLinks(text))
}
