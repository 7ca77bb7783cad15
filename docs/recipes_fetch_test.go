package docs_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-89b3229b/retry/retryhttp"
)

// TestRecipesFetch: of a server that cuts every other body.
func TestRecipesFetch(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Etag", `"1"`)
		asked = append(asked, r.Header.Get("Range"))
		if len(asked)%2 == 1 {
			w.Header().Set("Content-Length", "2")
			_, _ = w.Write([]byte("{"))
			return
		}
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader("{}"))
	}))
	defer server.Close()
	client := &http.Client{Transport: retryhttp.NewTransport(nil)}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	require.NoError(t, err)
	_, err = recipeFetch(client, request)
	require.NoError(t, err)
	var file strings.Builder
	n, err := recipeDownload(client, request, &file)
	require.NoError(t, err)
	require.EqualValues(t, 2, n)
	require.Equal(t, "{}", file.String())
	require.Equal(t, []string{"", "", "", "bytes=1-"}, asked)
}
