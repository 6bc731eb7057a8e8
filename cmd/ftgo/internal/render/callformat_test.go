package render

import (
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/madeup"
)

// request returns a call with values of most kinds.
func request() Line {
	path := madeup.Str("/index.html")
	url := madeup.Pointer(madeup.Struct("url.URL", madeup.Named("Path", path)))
	raw := madeup.ByteSlice("ab\x1b", 3, 8)
	c := get()
	c.Args = append(c.Args,
		madeup.Named("req.URL", url), madeup.Named("req.URL.Path", path), madeup.Named("req.Raw", raw), madeup.Named("items[2]", madeup.Num("int", -30)),
		madeup.Named("items", madeup.Ints(9, 9, 10, 20, -30)), madeup.Named("f", madeup.Float64(2.5)), madeup.Named("ok", madeup.Num("bool", 1)),
		madeup.Named("any", madeup.Interface("any", madeup.Num("int", -8))), madeup.Named("d", capture.Value{Type: madeup.Typed("time.Duration", reflect.Int, 8), Num: 1500000}),
		madeup.Named("cut", madeup.CutStr("ab世\xe4", 100)), madeup.Named("gone", madeup.Unreadable("no valid pointer")), madeup.Named("u", madeup.Num("uint64", -1)),
		madeup.Named("*pn", madeup.Num("int", 6)), madeup.Named("pid", madeup.Str("shadow")), madeup.Named("pn", madeup.Pointer(madeup.Num("int", 6))),
		madeup.Named("word", capture.Value{Type: gotype.PointerTo(madeup.Basic("int")), Num: 0x1234}), madeup.Named("nothing", capture.Value{Type: madeup.Basic("any")}),
	)
	c.Results = append(c.Results, madeup.Named("err", madeup.ErrorString(madeup.Str("not\nfound"))), madeup.Named("errno", madeup.Errno(2)))
	return c
}

func TestCallFormat(t *testing.T) {
	for _, test := range []struct{ template, names, want string }{
		{"", "", ""},
		{"100%% of %d", "n", "100% of 3"},
		{"x=%d y=%q %s", "n,key,key", `x=3 y="bob" bob`},
		{"%6d|%-6d|%06d|%-6s|%6s|%6q", "n,n,n,key,key,key", `     3|3     |000003|bob   |   bob| "bob"`},
		{"%d %d %d", "any,d,u", "-8 1500000 18446744073709551615"},
		{"%x %x %x %x", "n,key,any,word", "3 626f62 -8 1234"},
		{"%s %q %v", "d,d,d", `1.5ms "1.5ms" 1.5ms`},
		{"%t %v", "ok,ok", "true true"},
		{"%v %s %q", "req.URL,req.URL.Path,req.URL.Path", `&{Path:"/index.html"} /index.html "/index.html"`},
		{"%d", "items[2]", "-30"},
		{"%s %v", "req.Raw,req.Raw", `ab\x1b []byte("ab\x1b")`},
		{"%d %v", "*pn,pn", "6 &6"},
		{"%s %q %v", "cut,cut,cut", `ab世…+95 "ab世"…+95 "ab世"…+95`},
		{"%x", "cut", "6162e4b896e4…+94"},
		{"%s|%24q|%d", "gone,gone,gone", "<unreadable: no valid pointer>|<unreadable: no valid pointer>|<unreadable: no valid pointer>"},
		{"%s %q %v", "err,err,err", `not\x0afound "not\nfound" *errors.errorString("not\nfound")`},
		{"%s %d", "errno,errno", "no such file or directory 2"},
		{"%s %v", "nothing,r1", "nil nil"},
		{"%d %t %q %x", "key,n,ok,f", `"bob" 3 "true" 2.5`},
		{"%s %d %d %s %d %s", "func,goid,tid,pid,ns,latency", "main.get 1 4712 shadow 12300 12.3µs"},
		{"%v|%q|%-12s|", "func,func,func", `main.get|"main.get"|main.get    |`},
		{"%s", "time", "2024-02-29T12:00:00.123456789Z"},
		{"%s %d", "x,req.nope", "<no x> <no req.nope>"},
		{"%8s|%-8v|", "latency,key", `  12.3µs|"bob"   |`},
		{"tab\t%s", " key ", "tab\tbob"},
		{"%d %d %d %d", "len(key),len(items),cap(req.Raw),len(cut)", "3 9 8 100"},
		{"%d %v %d", "len(any),len(nothing),cap(key)", "<no len(any)> <unreadable: nil pointer> <no cap(key)>"},
	} {
		t.Run(test.template+" "+test.names, func(t *testing.T) {
			format, err := ParseCallFormat(test.template, split(test.names))
			fixture.NoError(t, err)
			if got := line(t, LineOptions{Template: format}, request()); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
	format, err := ParseCallFormat("%s %d %q %d", []string{"latency", "ns", "r0", "n"})
	fixture.NoError(t, err)
	if got := line(t, LineOptions{Template: format}, ended(get(), "unwound")); got != "<unwound> <unwound> <unwound> 3" {
		t.Errorf("a call without results: %s", got)
	}
}

func split(names string) []string {
	if names == "" {
		return nil
	}
	return strings.Split(names, ",")
}

func TestParseCallFormatErrors(t *testing.T) {
	for _, test := range []struct{ name, template, names, want string }{
		{"too few names", "x=%d y=%q %s", "x,y", "2 names for 3 verbs"},
		{"too many names", "x", "x", "1 name for 0 verbs"},
		{"unknown verb", "%n", "x", `unknown verb "%n"`},
		{"star", "%*d", "x", `unknown verb "%*"`},
		{"nothing behind the percent sign", "100%", "", `"%" has no verb`},
		{"precision of a string", "%.3s", "x", `unknown verb "%."`},
		{"wide", "%1001d", "x", `"1001" is more than 1000`},
		{"empty name", "%d %d", "x,", `name ""`},
		{"text behind an index", "%d", "x[3]y", `name "x[3]y": [ or . expected`},
		{"length that does not end", "%d", "len(x", `name "len(x"`},
		{"newline", "%\n", "x", `unknown verb "%\n"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := ParseCallFormat(test.template, split(test.names))
			if err == nil {
				t.Fatal("no error")
			}
			if text := err.Error(); !strings.Contains(text, test.want) || !strings.HasPrefix(text, "parse format "+strconv.Quote(test.template)+": ") {
				t.Errorf("error %s, want %s", text, test.want)
			}
			checkPrintable(t, err.Error())
		})
	}
}

func FuzzCallFormat(f *testing.F) {
	for _, seed := range []struct{ template, names string }{
		{"x=%d y=%q %s", "n,key,r0"}, {"%-20s|%06d|%8v|%t%%", "func,n,f,ok"}, {"%x%v", "req.URL.Path,items[2]"},
		{"%", ""}, {"%1000s", "gone"}, {"%v %v", "*pn,**req"}, {"%s", "any.x[0].y"}, {"%q", "nothing.x"},
	} {
		f.Add(seed.template, seed.names, "\x1b[2J\n\xff")
	}
	f.Fuzz(func(t *testing.T, template, names, value string) {
		format, err := ParseCallFormat(template, split(names))
		if err != nil {
			checkPrintable(t, err.Error())
			return
		}
		c := request()
		c.Function = value
		c.Args[0] = madeup.Named("key", madeup.Str(value))
		c.Args = append(c.Args, madeup.Named("nan", madeup.Float64(math.NaN())), madeup.Named("s", around(value).Args[4]))
		c.Results[2] = madeup.Named("err", madeup.ErrorString(madeup.CutStr(value, math.MaxInt32)))
		text := line(t, LineOptions{Template: format}, c)
		// Only the template may contribute runes that are not printable.
		odd := func(s string) (n int) {
			for _, r := range s {
				if !unicode.IsPrint(r) || r == '\ufffd' {
					n++
				}
			}
			return n
		}
		if odd(text)-strings.Count(text, "\ufffd") > odd(template)-strings.Count(template, "\ufffd") {
			t.Fatalf("format %q wrote %q", template, text)
		}
	})
}
