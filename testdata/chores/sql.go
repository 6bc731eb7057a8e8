package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// The database knows nothing, whatever it is asked, and takes its time to say so.
type (
	connector struct{}
	conn      struct{}
	stmt      struct{ query string }
	rows      struct{}
)

func (connector) Connect(context.Context) (driver.Conn, error) { return conn{}, nil }
func (connector) Driver() driver.Driver                        { return nil }

func (conn) Prepare(query string) (driver.Stmt, error) { return stmt{query}, nil }
func (conn) Close() error                              { return nil }
func (c conn) Begin() (driver.Tx, error)               { return c, nil }
func (conn) Commit() error                             { return nil }
func (conn) Rollback() error                           { return nil }

func (conn) QueryContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	return rows{}, answer(query)
}

func (conn) ExecContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Result, error) {
	return driver.RowsAffected(1), answer(query)
}

func answer(query string) error {
	switch {
	case strings.Contains(query, "nothing"):
		return errors.New("no such table")
	case strings.Contains(query, "slow"):
		time.Sleep(20 * time.Millisecond)
	}
	return nil
}

func (stmt) Close() error                                { return nil }
func (stmt) NumInput() int                               { return -1 }
func (s stmt) Query([]driver.Value) (driver.Rows, error) { return rows{}, answer(s.query) }
func (s stmt) Exec([]driver.Value) (driver.Result, error) {
	return driver.RowsAffected(1), answer(s.query)
}

func (rows) Columns() []string         { return []string{"name"} }
func (rows) Close() error              { return nil }
func (rows) Next([]driver.Value) error { return io.EOF }

// queries asks a database in all the ways there are.
func queries() error {
	db := sql.OpenDB(connector{})
	defer db.Close()
	query := func(q interface {
		Query(string, ...any) (*sql.Rows, error)
	}, text string) {
		r, err := q.Query(text, 7)
		logQuery(text, err)
		if err == nil {
			r.Close()
		}
	}
	query(db, "SELECT name FROM users WHERE id = ?")
	query(db, "SELECT name FROM slow")
	query(db, "SELECT name FROM nothing")
	_, err := db.ExecContext(context.Background(), "DELETE FROM users\nWHERE id = ?", 7)
	logQuery("DELETE FROM users\nWHERE id = ?", err)
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	query(tx, "SELECT 1")
	_, err = tx.Exec("UPDATE users SET name = 'x'")
	logQuery("UPDATE users SET name = 'x'", err)
	if err := tx.Commit(); err != nil {
		return err
	}
	var name string
	if err := db.QueryRow("SELECT name FROM one").Scan(&name); err != sql.ErrNoRows {
		return fmt.Errorf("query row: %w", err)
	}
	logQuery("SELECT name FROM one", nil)
	prepared, err := db.Prepare("INSERT INTO users VALUES (?)")
	if err != nil {
		return err
	}
	defer prepared.Close()
	for i := range 2 {
		_, err = prepared.Exec(i)
		logQuery("INSERT INTO users VALUES (?)", err)
	}
	r, err := prepared.Query(7)
	logQuery("INSERT INTO users VALUES (?)", err)
	if err != nil {
		return err
	}
	return r.Close()
}

func logQuery(text string, err error) {
	outcome := "nil"
	if err != nil {
		outcome = err.Error()
	}
	note(outcome, strings.ReplaceAll(text, "\n", `\x0a`))
}
