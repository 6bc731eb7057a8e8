// Traced is a server whose requests have spans of OpenTelemetry. It is a module of its own, because nothing else here needs
// OpenTelemetry's SDK. It requests itself N times, and prints for each request the trace, the span of the request and a span
// within it.
package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"sync"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

var (
	provider trace.TracerProvider = sdk.NewTracerProvider()
	known    [][3]string
)

type key struct{}

// handle has the span of the request in the first context, or behind others.
//
//go:noinline
func handle(ctx context.Context, n int) {
	outer := trace.SpanContextFromContext(ctx)
	part(n)
	ctx, span := provider.Tracer("inner").Start(ctx, "inner")
	defer span.End()
	store(ctx, n)
	known[n] = [3]string{outer.TraceID().String(), outer.SpanID().String(), span.SpanContext().SpanID().String()}
}

//go:noinline
func part(n int) int { return n }

//go:noinline
func store(ctx context.Context, n int) error { return ctx.Err() }

// unsampled has a span that the SDK does not record, and remote one of the API that another process has begun.
//
//go:noinline
func unsampled(ctx context.Context, n int) error { return ctx.Err() }

//go:noinline
func remote(ctx context.Context, n int) error { return ctx.Err() }

func serve(w http.ResponseWriter, r *http.Request) {
	ctx, span := provider.Tracer("outer").Start(r.Context(), "outer")
	defer span.End()
	n, _ := strconv.Atoi(r.URL.Path[1:])
	switch n % 3 {
	case 1:
		ctx = context.WithValue(ctx, key{}, n)
	case 2:
		var cancel func()
		ctx, cancel = context.WithCancel(context.WithoutCancel(context.WithValue(ctx, key{}, n)))
		defer cancel()
	}
	handle(ctx, n)
}

func main() {
	n, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	known = make([][3]string, n)
	s := httptest.NewServer(http.HandlerFunc(serve))
	var wg sync.WaitGroup
	for first := range 8 {
		wg.Go(func() {
			for i := first; i < n; i += 8 {
				resp, err := http.Get(fmt.Sprint(s.URL, "/", i))
				if err != nil {
					panic(err)
				}
				resp.Body.Close()
			}
		})
	}
	wg.Wait()
	ids := trace.SpanContextConfig{TraceID: trace.TraceID{15: 7}, SpanID: trace.SpanID{7: 9}}
	remote(trace.ContextWithRemoteSpanContext(context.Background(), trace.NewSpanContext(ids)), n)
	remote(context.Background(), n)
	ctx, _ := sdk.NewTracerProvider(sdk.WithSampler(sdk.NeverSample())).Tracer("never").Start(context.Background(), "never")
	unsampled(ctx, n)
	for _, k := range known {
		fmt.Println(k[0], k[1], k[2])
	}
	never := trace.SpanContextFromContext(ctx)
	fmt.Println(never.TraceID(), never.SpanID())
}
