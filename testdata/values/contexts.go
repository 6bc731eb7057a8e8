//go:build go1.7
// +build go1.7

package main

import "context"

func init() {
	targets = append(targets, target{name: "main.within", fn: within, params: "ctx key", args: (*random).contexts})
}

type contextKey struct{}

func (r *random) contexts() []interface{} {
	key := r.text()
	switch r.Intn(4) {
	case 0:
		return []interface{}{context.Background(), key}
	case 1:
		return []interface{}{context.WithValue(context.Background(), contextKey{}, key), key}
	case 2:
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		return []interface{}{ctx, key}
	}
	return []interface{}{nil, key}
}

//go:noinline
func within(ctx context.Context, key string) (context.Context, error) {
	if ctx == nil {
		return context.TODO(), errNegative
	}
	return nil, ctx.Err()
}
