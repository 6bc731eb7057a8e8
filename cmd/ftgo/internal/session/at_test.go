package session

import (
	"strings"
	"testing"
	"time"
)

func TestParseStart(t *testing.T) {
	now := time.Date(2026, 11, 23, 15, 4, 5, 500, time.FixedZone("", 3600))
	for text, want := range map[string]string{
		"15:04:06":                  "2026-11-23T15:04:06+01:00",
		"15:05":                     "2026-11-23T15:05:00+01:00",
		"23:59:59":                  "2026-11-23T23:59:59+01:00",
		"+10s":                      "2026-11-23T15:04:15.0000005+01:00",
		"+90":                       "2026-11-23T15:05:35.0000005+01:00",
		"2026-11-23T14:05:00Z":      "2026-11-23T14:05:00Z",
		"2026-11-23T16:05:00+02:00": "2026-11-23T16:05:00+02:00",
		"2027-01-01T00:00:00.5Z":    "2027-01-01T00:00:00.5Z",
	} {
		if got, err := parseStart(text, now); err != nil || got.Format(time.RFC3339Nano) != want {
			t.Errorf("%s: %v, %v, want %s", text, got.Format(time.RFC3339Nano), err, want)
		}
	}
	if got, err := parseStart("00:00:10", time.Date(2026, 12, 31, 23, 59, 50, 0, time.UTC)); err != nil || got.Format(time.RFC3339) != "2027-01-01T00:00:10Z" {
		t.Errorf("at midnight: %v, %v", got, err)
	}
	for text, want := range map[string]string{
		"15:04:05":             `begin at "15:04:05": it has passed, it is 2026-11-23T15:04:05+01:00`,
		"03:00":                "it has passed",
		"2026-11-23T14:04:05Z": "it has passed",
		"25:00":                `parse time "25:00": not 15:04:05, 2006-01-02T15:04:05Z or +10s`,
		"noon":                 "not 15:04:05",
		"":                     "not 15:04:05",
		"+":                    `parse time ""`,
		"+-1s":                 "not positive",
		"+0":                   "not positive",
	} {
		if got, err := parseStart(text, now); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v, want %s", text, got, err, want)
		}
	}
}
