package valuetext

import (
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/testdata/madeup"
)

// words returns the struct of a time of this program, as it lies in memory.
func words(t time.Time) capture.Value {
	v := reflect.ValueOf(t)
	return madeup.Time(v.FieldByName("wall").Uint(), v.FieldByName("ext").Int())
}

func TestTimes(t *testing.T) {
	utc := func(text string) time.Time {
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	now := time.Now() // with a monotonic reading
	east := time.FixedZone("", 3600)
	for _, test := range []struct {
		name string
		v    capture.Value
		want string
	}{
		{"zero", words(time.Time{}), "0001-01-01T00:00:00Z"},
		{"Unix epoch", words(time.Unix(0, 0)), "1970-01-01T00:00:00Z"},
		{"nanoseconds", words(utc("2024-02-29T12:00:00.000000001Z")), "2024-02-29T12:00:00.000000001Z"},
		{"other zone", words(utc("2024-02-29T12:00:00Z").In(east)), "2024-02-29T12:00:00Z"},
		{"last", words(utc("9999-12-31T23:59:59.999999999Z")), "9999-12-31T23:59:59.999999999Z"},
		{"before 1885, which has no monotonic reading", words(utc("1066-10-14T09:00:00Z")), "1066-10-14T09:00:00Z"},
		{"now", words(now), now.UTC().Format(time.RFC3339Nano)},
		{"2157, the last year of a monotonic reading", madeup.Time(hasMonotonic|(1<<33-1)<<nsecShift|5, 77), "2157-03-16T12:56:31.000000005Z"},
		{"before Go 1.9", madeup.Struct("time.Time", madeup.Named("sec", madeup.Num("int64", secondsTo1970)), madeup.Named("nsec", madeup.Num("int32", 500_000_000))), "1970-01-01T00:00:00.5Z"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := Text(&test.v); got != test.want {
				t.Errorf("text %s, want %s", got, test.want)
			}
			if got := string(JSON(&test.v)); got != strconv.Quote(test.want) {
				t.Errorf("JSON %s, want %s quoted", got, test.want)
			}
			to := madeup.Pointer(test.v)
			if got := string(JSON(&to)); got != `{"&":"0xc000012345","value":"`+test.want+`"}` {
				t.Errorf("JSON of a pointer %s", got)
			}
		})
	}
}

// Words that no time has are not made one.
func TestNoTimes(t *testing.T) {
	outside := madeup.Time(0, 0)
	outside.Type.Name = "other.Time"
	unread := madeup.Time(0, 0)
	unread.Fields[1].State = capture.Unreadable
	for name, v := range map[string]capture.Value{
		"year 10000":                 madeup.Time(0, secondsTo1970*6),
		"before year 1":              madeup.Time(0, -1),
		"more than a second of nsec": madeup.Time(1_000_000_000, 0),
		"another package's type":     outside,
		"half of it unreadable":      unread,
		"no fields":                  madeup.Struct("time.Time"),
	} {
		t.Run(name, func(t *testing.T) {
			if got := Text(&v); got == "" || got[0] != '{' {
				t.Errorf("got %s, want the struct", got)
			}
		})
	}
}
