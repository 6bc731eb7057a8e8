package trials

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// question is what somebody wants to know of a server, and the command that tells.
type question struct {
	ask, command string
	// want are the lines of the answer: each is words that follow one another in a line, with others
	// between them. A number before ×, "20×", is how many such lines there are.
	want []string
}

// maxCommand is how long a command may be, before where its output goes.
const maxCommand = 80

// shopBooks are what testdata/shop knows of itself.
type shopBooks struct {
	Requests, Gets                 map[string]int
	Status                         map[int]int
	Missing, Sold, Orders, Largest int
	Dials                          int
}

// shopQuestions are about testdata/shop, with the answers that its books have.
func shopQuestions(b *shopBooks) []question {
	say := fmt.Sprint
	requests := b.Status[200] + b.Status[201] + b.Status[404]
	large := b.Requests["/order/pot"]
	return []question{
		{"how many requests are there", "ftgo count ./shop serverHandler.ServeHTTP -- ./shop",
			[]string{say("http.serverHandler.ServeHTTP ", requests)}},
		{"which handler is slow", "ftgo probe --sort p99 ./shop 'main.shop.*' -- ./shop",
			[]string{say("main.(*shop).order ", b.Orders), say("main.(*shop).item ", requests-b.Orders)}},
		{"which URL is hot", "ftgo probe --by req.URL.Path ./shop serverHandler.ServeHTTP -- ./shop",
			[]string{say("/item/tea ", b.Requests["/item/tea"]), say("/item/cup ", b.Requests["/item/cup"]), say("/item/mug ", b.Requests["/item/mug"])}},
		{"what is a URL's status", "ftgo recipe gohttpd -- ./shop",
			[]string{say(b.Requests["/item/mug"], "× 404 GET /item/mug"), say(b.Status[201], "× 201 GET /order/")}},
		{"how often is each status", "ftgo probe --by code ./shop response.WriteHeader -- ./shop",
			[]string{say("201 ", b.Status[201]), say("404 ", b.Status[404])}},
		{"what is in a header", `ftgo trace ./shop 'shop.order(r.Header["Quantity"])' -- ./shop`,
			[]string{say(large, `× main.(*shop).order(r.Header["Quantity"]=["3"])`), say(b.Orders-large, `× main.(*shop).order(r.Header["Quantity"]=["2"])`)}},
		{"what is looked up", "ftgo trace ./shop 'store.Get(key) n' -- ./shop",
			[]string{say(b.Gets["tea"], `× main.(*store).Get(key="tea") =`), say(b.Gets["mug"], `× main.(*store).Get(key="mug") = 0`)}},
		{"which key is hot", "ftgo probe --by key ./shop store.Get -- ./shop",
			[]string{say("tea ", b.Gets["tea"]), say("cup ", b.Gets["cup"]), say("mug ", b.Gets["mug"])}},
		{"how many lookups fail", "ftgo probe --errors ./shop store.Get -- ./shop",
			[]string{say("main.(*store).Get ", requests-b.Orders, " ", b.Missing)}},
		{"which lookups fail", "ftgo trace --where 'err != nil' ./shop 'store.Get(key)' -- ./shop",
			[]string{say(b.Missing, `× main.(*store).Get(key="mug") "there is none"`)}},
		{"how much is sold", "ftgo probe --sum n ./shop store.take -- ./shop",
			[]string{say("main.(*store).take ", b.Orders, " ", b.Sold)}},
		{"how large are orders", "ftgo probe --hist-of n ./shop store.take -- ./shop",
			[]string{say("2 -> 3 : ", b.Orders)}},
		{"which orders are large", "ftgo trace --where 'n > 2' ./shop 'store.take(key, n)' -- ./shop",
			[]string{say(large, `× main.(*store).take(key="pot", n=3)`)}},
		{"what do orders wait for", "ftgo probe --waits ./shop main.shop.order -- ./shop",
			[]string{say("main.(*shop).order ", b.Orders, " chan send")}},
		{"do orders compute or wait", "ftgo probe --sched ./shop main.shop.order -- ./shop",
			[]string{"RUN% RUNNABLE% WAIT%", say("main.(*shop).order ", b.Orders)}},
		{"how do latencies spread", "ftgo probe --hist ./shop main.shop.order -- ./shop",
			[]string{"Function = main.(*shop).order", "-> : |"}},
		{"who looks things up", "ftgo trace -n 1 --stack ./shop store.Get -- ./shop",
			[]string{"1× main.(*store).Get(", "1× main.(*shop).item main.go:", "1× net/http.serverHandler.ServeHTTP"}},
		{"what does a request do", "ftgo trace -n 3 --tree ./shop main.shop.item store.Get -- ./shop",
			[]string{"100% main.(*shop).item(", `main.(*store).Get( key="tea")`}},
		{"are connections kept", "ftgo count ./shop Transport.dialConn -- ./shop",
			[]string{say("http.(*Transport).dialConn ", b.Dials)}},
		{"who starts goroutines", "ftgo recipe gogoroutines -- ./shop",
			[]string{"runtime.newproc", "main.main main.go:"}},
		{"how long does collection stop it", "ftgo recipe gogc -- ./shop",
			[]string{"PAUSE ns STOPPING ns REASON", "GC sweep termination"}},
		{"how does a variable change", "ftgo watch --at store.take ./shop main.orders -- ./shop",
			[]string{"1× main.orders = 0", say("1× main.orders = ", b.Orders-1)}},
		{"how often does a line run", say("ftgo count ./shop main.go:", shopLine, " -- ./shop"),
			[]string{say("main.go:", shopLine, " ", b.Missing)}},
		{"what of it runs at all", "ftgo count ./shop 'main.*' -- ./shop",
			[]string{say("main.(*books).ask ", requests), "main.main 1"}},
		{"who allocates", "ftgo probe --sum size --stack ./shop runtime.mallocgc -- ./shop",
			[]string{"runtime.mallocgc", "main.(*books).ask main.go:"}},
	}
}

// shopLine is where testdata/shop finds that there is none of a thing.
var shopLine int

// TestKernelQuestions: what people ask is answered by one short command each, as the server's books
// have it.
func TestKernelQuestions(t *testing.T) {
	tracetest.Kernel(t)
	shop := fixture.Build(t, "shop")
	shopLine = fixture.Marks(t, "../shop/main.go")["nothing"]
	dir := t.TempDir()
	check(t, os.Symlink(shop, filepath.Join(dir, "shop")))
	check(t, os.Symlink(fixture.Command(t, "cmd/ftgo"), filepath.Join(dir, "ftgo")))
	for _, q := range shopQuestions(&shopBooks{}) {
		t.Run(q.ask, func(t *testing.T) {
			answer, talk := askIn(t, dir, q.command)
			var b shopBooks
			for line := range strings.Lines(talk) {
				if strings.HasPrefix(line, `{"requests"`) {
					check(t, json.Unmarshal([]byte(line), &b))
				}
			}
			if b.Orders == 0 {
				t.Fatalf("%s: no books\n%s", q.command, talk)
			}
			for _, now := range shopQuestions(&b) {
				if now.ask == q.ask {
					now.answered(t, answer)
				}
			}
		})
	}
}

// askIn runs a command in a folder that has the server and ftgo: what a server that it starts prints
// is in the talk.
func askIn(t *testing.T, dir, line string) (answer, talk string) {
	t.Helper()
	if len(line) > maxCommand {
		t.Errorf("%d characters, want %d at most: %s", len(line), maxCommand, line)
	}
	c := command(t, time.Minute, "sh", "-c", line)
	c.Dir = dir
	c.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	check(t, c.start())
	o, err := c.wait()
	if err != nil {
		t.Errorf("%s: %v\n%s", line, err, o.stderr)
	}
	return o.stdout, o.stderr
}

// answered: an answer is what is wanted.
func (q *question) answered(t *testing.T, answer string) {
	t.Helper()
	for _, want := range q.want {
		number, words, exact := strings.Cut(want, "× ")
		if !exact {
			words = want
		}
		n := 0
		for line := range strings.Lines(answer) {
			if inOrder(line, strings.Fields(words)) {
				n++
			}
		}
		if exact && fmt.Sprint(n) != number || n == 0 {
			t.Errorf("%s: %s\n%d lines with %q, want %q\n%s", q.ask, q.command, n, words, want, answer[:min(len(answer), 2000)])
		}
	}
}

// inOrder tells whether a line has words one after the other: a number is a whole field.
func inOrder(line string, words []string) bool {
	fields := strings.Fields(line)
	for _, word := range words {
		found := false
		for len(fields) > 0 && !found {
			field := fields[0]
			fields = fields[1:]
			if number := strings.Trim(word, "0123456789") == ""; number {
				found = field == word
			} else {
				found = strings.Contains(field, word)
			}
		}
		if !found {
			return false
		}
	}
	return true
}
