// Package http has a type with a name of net/http's, as packages of SDKs do.
package http

import "fmt"

// Request is *http.Request to those who print its type.
type Request struct{ verb, place string }

// String makes the program know the type as it runs: an interface holds it.
func String() string { return fmt.Sprint(&Request{"PUT", "/elsewhere"}) }
