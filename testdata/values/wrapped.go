//go:build go1.13
// +build go1.13

package main

import (
	"errors"
	"fmt"
)

func init() {
	wrapped = func(r *random) error { return fmt.Errorf("read %d: %w", r.Intn(100), errors.New(r.text())) }
}
