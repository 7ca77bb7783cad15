package drivertest_test

import (
	"bufio"
	"bytes"
	"database/sql"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "github.com/lib/pq"              // the driver "postgres"
	"github.com/stretchr/testify/require"
)

// postgresServer is a server that postgres.sh started for one test.
type postgresServer struct{ addr, password string }

// startPostgres runs a server until the test ends. Where there is none, and postgres.sh cannot install it, the test is
// skipped, and a line on stderr says so.
func startPostgres(t *testing.T) postgresServer {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		fmt.Fprintln(os.Stderr, "SKIPPED: tests against PostgreSQL: no shell to run postgres.sh")
		t.Skip("no shell")
	}
	var trouble string
	for range 3 { // the port may be taken by the time that the server wants it
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		addr := l.Addr().String()
		require.NoError(t, l.Close())
		_, port, err := net.SplitHostPort(addr)
		require.NoError(t, err)
		password, problem, missing := servePostgres(t, port)
		switch {
		case missing:
			fmt.Fprintln(os.Stderr, problem)
			t.Skip(problem)
		case problem == "":
			return postgresServer{addr, password}
		}
		trouble = problem
	}
	t.Fatal(trouble)
	panic("not reached")
}

// servePostgres returns what postgres.sh had to say: the password, or why there is no server.
func servePostgres(t *testing.T, port string) (password, problem string, missing bool) {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command("sh", "./postgres.sh", "serve", port)
	cmd.Stderr = &stderr
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())

	line, _ := bufio.NewReader(stdout).ReadString('\n')
	if password, ok := strings.CutPrefix(line, "ready "); ok {
		t.Cleanup(func() {
			_ = stdin.Close() // the script stops the server then
			if err := cmd.Wait(); err != nil {
				t.Errorf("postgres.sh: %v: %s", err, stderr.String())
			}
		})
		return strings.TrimSpace(password), "", false
	}
	_ = stdin.Close()
	_ = cmd.Wait()
	return "", "postgres.sh: " + strings.TrimSpace(stderr.String()), cmd.ProcessState.ExitCode() == 3
}

// open returns a pool of connections of the driver to the server, or to what stands before it.
func (s postgresServer) open(t *testing.T, driver, addr string) *sql.DB {
	t.Helper()
	to := url.URL{Scheme: "postgres", User: url.UserPassword("postgres", s.password), Host: addr, Path: "postgres", RawQuery: "sslmode=disable"}
	db, err := sql.Open(driver, to.String())
	require.NoError(t, err)
	db.SetMaxIdleConns(10)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// exec runs statements.
func mustExec(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		_, err := db.ExecContext(t.Context(), s)
		require.NoError(t, err, s)
	}
}

// number is the answer to a query for one.
func number(t *testing.T, db *sql.DB, query string) (n int) {
	t.Helper()
	require.NoError(t, db.QueryRowContext(t.Context(), query).Scan(&n), query)
	return n
}
