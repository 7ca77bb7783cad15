package retrysql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
)

// session is the transaction of one attempt, and the connection that it runs on.
type session struct {
	tx    *sql.Tx
	conn  *sql.Conn // nil: of a Beginner that keeps its connections to itself
	ended bool      // somebody has asked for the transaction's end
	bad   bool      // the connection is not to be used again
}

// begin begins a transaction. A connection of a *sql.DB that is known to be broken is put away for the next one at once, as
// database/sql does in DB.BeginTx: three times, or as often as there are connections that may have been broken by the same
// event. It costs no attempt, because nothing was sent.
func (d Database) begin(ctx context.Context, opts *sql.TxOptions) (session, error) {
	pool, ok := d.DB.(*sql.DB)
	if !ok {
		tx, err := d.DB.BeginTx(ctx, opts)
		return session{tx: tx}, err
	}
	for tries, most := 1, 3; ; tries++ {
		s, err := d.beginOn(ctx, pool, opts)
		if tries == 1 && err != nil {
			most = max(most, pool.Stats().Idle+2)
		}
		if err == nil || tries >= most || !errors.Is(err, driver.ErrBadConn) {
			return s, err
		}
	}
}

func (d Database) beginOn(ctx context.Context, pool *sql.DB, opts *sql.TxOptions) (s session, err error) {
	conn, err := pool.Conn(ctx)
	if err != nil {
		return session{}, err
	}
	tx, err := conn.BeginTx(ctx, opts)
	if err == nil {
		return session{tx: tx, conn: conn}, nil
	}
	failed := session{conn: conn}
	defer func() { failed.release(ctx) }() // a condition may panic
	failed.bad = isLost(err) || d.isBadConn(err)
	return session{}, err
}

// end gives the connection back. Where a panic or Goexit goes through fn, it rolls back first.
func (s *session) end(ctx context.Context) {
	if !s.ended {
		_ = s.tx.Rollback()
	}
	s.release(ctx)
}

// release gives the connection back to its pool, or closes it if it is bad. Both wait until the transaction is over. Once ctx
// has ended, it is database/sql that rolls back, and a driver may take its time for that, so nobody is kept waiting for it.
func (s *session) release(ctx context.Context) {
	switch {
	case s.conn == nil:
	case ctx.Err() != nil:
		go putBack(s.conn, s.bad)
	default:
		putBack(s.conn, s.bad)
	}
}

func putBack(conn *sql.Conn, bad bool) {
	if bad {
		_ = conn.Raw(refuse)
	}
	_ = conn.Close()
}

// refuse is the one way to have database/sql close a connection without its driver's asking for it.
func refuse(any) error { return driver.ErrBadConn }
