package trials

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ftgo/ftgo/internal/procfs"
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

// maxLine is how long a line of trace may be.
const maxLine = 200

// shopBooks are what testdata/shop knows of itself.
type shopBooks struct {
	Requests, Gets                 map[string]int
	Status                         map[int]int
	Missing, Sold, Orders, Largest int
	Dials, Jobs                    int
}

// shopQuestions are about testdata/shop, with the answers that its books have.
func shopQuestions(b *shopBooks) []question {
	say := fmt.Sprint
	requests := b.Status[200] + b.Status[201] + b.Status[404]
	large := b.Requests["/order/pot"]
	return []question{
		{"how many requests are there", "ftgo count -p shop serverHandler.ServeHTTP",
			[]string{say("http.serverHandler.ServeHTTP ", requests)}},
		{"which handler is slow", "ftgo probe -p shop --sort p99 'main.shop.*'",
			[]string{say("main.(*shop).order ", b.Orders), say("main.(*shop).item ", requests-b.Orders)}},
		{"which URL is hot", "ftgo probe -p shop --by req.URL.Path serverHandler.ServeHTTP",
			[]string{say("/item/tea ", b.Requests["/item/tea"]), say("/item/cup ", b.Requests["/item/cup"]), say("/item/mug ", b.Requests["/item/mug"])}},
		{"what is a URL's status", "ftgo recipe gohttpd -p shop",
			[]string{say(b.Requests["/item/mug"], "× 404 GET /item/mug"), say(b.Status[201], "× 201 GET /order/")}},
		{"how often is each status", "ftgo probe -p shop --by code response.WriteHeader",
			[]string{say("201 ", b.Status[201]), say("404 ", b.Status[404])}},
		{"what is in a header", `ftgo trace -p shop 'shop.order(r.Header["Quantity"])'`,
			[]string{say(large, `× main.(*shop).order(r.Header["Quantity"]=["3"])`), say(b.Orders-large, `× main.(*shop).order(r.Header["Quantity"]=["2"])`)}},
		{"what is looked up", "ftgo trace -p shop 'store.Get(key) n'",
			[]string{say(b.Gets["tea"], `× main.(*store).Get(key="tea") =`), say(b.Gets["mug"], `× main.(*store).Get(key="mug") = 0`)}},
		{"which key is hot", "ftgo probe -p shop --by key store.Get",
			[]string{say("tea ", b.Gets["tea"]), say("cup ", b.Gets["cup"]), say("mug ", b.Gets["mug"])}},
		{"whose orders are slow", "ftgo probe -p shop --by label:tenant main.shop.order",
			[]string{say("tea buyers ", b.Orders-large), say("pot buyers ", large)}},
		{"how long do jobs wait", "ftgo probe -p shop --from 'queue.Put(job.ID)' --to 'worker.Run(job.ID)'",
			[]string{say("main.(*queue).Put → main.(*worker).Run ", b.Jobs)}},
		{"how many lookups fail", "ftgo probe -p shop --errors store.Get",
			[]string{say("main.(*store).Get ", requests-b.Orders, " ", b.Missing)}},
		{"which lookups fail", "ftgo trace -p shop --where 'err != nil' 'store.Get(key)'",
			[]string{say(b.Missing, `× main.(*store).Get(key="mug") "there is none"`)}},
		{"how much is sold", "ftgo probe -p shop --sum n store.take",
			[]string{say("main.(*store).take ", b.Orders, " ", b.Sold)}},
		{"how large are orders", "ftgo probe -p shop --sum n --hist store.take",
			[]string{say("2 -> 3 : ", b.Orders)}},
		{"which orders are large", "ftgo trace -p shop --where 'n > 2' 'store.take(key, n)'",
			[]string{say(large, `× main.(*store).take(key="pot", n=3)`)}},
		{"what do orders wait for", "ftgo probe -p shop --waits main.shop.order",
			[]string{"main.(*shop).order chan send"}}, // all of them, unless the budget bites
		{"do orders compute or wait", "ftgo probe -p shop --sched main.shop.order",
			[]string{"RUN% RUNNABLE% WAIT%", "main.(*shop).order"}},
		{"how do latencies spread", "ftgo probe -p shop --hist main.shop.order",
			[]string{"Function = main.(*shop).order", "-> : |"}},
		{"who looks things up", "ftgo trace -p shop -n 1 --stack store.Get",
			[]string{"1× main.(*store).Get(", "1× main.(*shop).item main.go:", "1× net/http.serverHandler.ServeHTTP"}},
		{"what does a request do", "ftgo trace -p shop -n 3 --tree main.shop.item store.Get",
			[]string{"100% main.(*shop).item(", `main.(*store).Get( key="tea")`}},
		{"what do slow orders do", "ftgo trace -p shop -n 3 --slow 1us main.shop.order store.take",
			[]string{"3× 100% main.(*shop).order(", "3× main.(*store).take("}},
		{"are connections kept", "ftgo count -p shop Transport.dialConn",
			[]string{say("http.(*Transport).dialConn ", b.Dials)}},
		{"who starts goroutines", "ftgo recipe gogoroutines -p shop",
			[]string{"runtime.newproc", "main.main main.go:"}},
		{"how long does collection stop it", "ftgo recipe gogc -p shop",
			[]string{"PAUSE ns STOPPING ns REASON", "GC sweep termination"}},
		{"how does a variable change", "ftgo watch -p shop --at store.take main.orders",
			[]string{"1× main.orders = 0", say("1× main.orders = ", b.Orders-1)}},
		{"how often does a line run", say("ftgo count -p shop main.go:", shopLine),
			[]string{say("main.go:", shopLine, " ", b.Missing)}},
		{"what of it runs at all", "ftgo count -p shop 'main.*'",
			[]string{say("main.(*books).ask ", requests)}},
		{"who allocates", "ftgo heap -p shop 'main.*'",
			[]string{"FUNCTION IN USE OBJECTS ALLOCATED OBJECTS", "main.(*books).ask"}},
		{"what do goroutines do", "ftgo goroutines -p shop",
			[]string{"1 goroutine chan receive created by main.main main.go:", "main.(*shop).deliver main.go:"}},
		{"which goroutines leak", "ftgo goroutines -p shop --again 10",
			[]string{"1 goroutine +0 chan receive created by main.main main.go:"}},
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
	text, err := os.ReadFile(shop)
	check(t, err)
	// The process is found by the name of its file.
	check(t, os.WriteFile(filepath.Join(dir, "shop"), text, 0o755))
	check(t, os.Symlink(fixture.Command(t, "cmd/ftgo"), filepath.Join(dir, "ftgo")))
	for i, q := range shopQuestions(&shopBooks{}) {
		t.Run(q.ask, func(t *testing.T) {
			if i > 2 {
				fixture.NeedLong(t)
			}
			answer, b := askShop(t, dir, q.command)
			for _, now := range shopQuestions(b) {
				if now.ask == q.ask {
					now.answered(t, answer)
				}
			}
		})
	}
}

// TestQuestionsInGuide checks that the questions of README and of the guide are among those that a trial asks.
func TestQuestionsInGuide(t *testing.T) {
	asked := make(map[string]bool)
	for _, q := range shopQuestions(&shopBooks{}) {
		asked[q.command] = true
	}
	for file, want := range map[string]int{"README.md": 8, "docs/guide.md": 24} {
		text, err := os.ReadFile(filepath.Join(fixture.Root(), file))
		check(t, err)
		_, page, _ := strings.Cut(string(text), "\n| I want to know |")
		page, _, _ = strings.Cut(page, "\n\n")
		rows := 0
		for line := range strings.Lines(page) {
			_, command, ok := strings.Cut(line, "| `")
			if command, _, _ = strings.Cut(command, "` |"); !ok {
				continue
			}
			if rows++; !asked[command] {
				t.Errorf("%s has a command that no test runs: %s", file, command)
			}
		}
		if rows != want {
			t.Errorf("%s has %d rows, want %d", file, rows, want)
		}
	}
}

// askShop runs a command on a shop that opens when the probes are armed. The command is short, and so are its lines
// of calls.
func askShop(t *testing.T, dir, line string) (answer string, b *shopBooks) {
	t.Helper()
	if len(line) > maxCommand {
		t.Errorf("%d characters, want %d at most: %s", len(line), maxCommand, line)
	}
	shop := command(t, time.Minute, filepath.Join(dir, "shop"))
	heap := strings.HasPrefix(line, "ftgo heap ")
	after := heap || strings.HasPrefix(line, "ftgo goroutines ") // they read what was before
	if heap {
		shop.Env = append(os.Environ(), "GODEBUG=memprofilerate=1")
	}
	open, err := shop.StdinPipe()
	check(t, err)
	check(t, shop.start())
	awaitText(t, shop, shop.stdout, "ready")
	if after {
		_, err := open.Write([]byte("\n"))
		check(t, err)
		awaitText(t, shop, shop.stdout, "}\n")
	}
	asked := command(t, time.Minute, "sh", "-c", "exec "+line)
	asked.Dir = dir
	asked.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	check(t, asked.start())
	if !after {
		awaitText(t, asked, asked.stderr, "probing ")
		check(t, open.Close())
	}
	o, err := asked.wait()
	if after {
		check(t, open.Close())
	}
	if err != nil {
		t.Errorf("%s: %v\n%s", line, err, o.stderr)
	}
	for call := range strings.Lines(o.stdout) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(call, "\n")); n > maxLine && strings.HasPrefix(line, "ftgo trace") {
			t.Errorf("%s: a line of %d characters, want %d at most: %s", line, n, maxLine, call)
		}
	}
	told, err := shop.wait()
	check(t, err)
	_, books, _ := strings.Cut(told.stdout, "\n")
	check(t, json.Unmarshal([]byte(books), &b))
	return o.stdout, b
}

// awaitText waits until a child has written a text.
func awaitText(t *testing.T, c *child, f *os.File, text string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !strings.Contains(contents(f), text); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) || !procfs.Alive(c.Process.Pid) {
			t.Fatalf("no %q comes:\n%s", text, contents(f))
		}
	}
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
