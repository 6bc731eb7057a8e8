package gotab

import "testing"

// TestParseVersion: releases and development versions are told from other texts.
func TestParseVersion(t *testing.T) {
	for text, want := range map[string]Version{
		"go1.26.8":                  {Minor: 26},
		"go1.5":                     {Minor: 5},
		"go1.24rc1":                 {Minor: 24},
		"go1.24.0 X:noswissmap":     {Minor: 24},
		"devel go1.27-abcdef Mon":   {Minor: 27, Devel: true},
		"go1.22.3 (Red Hat 1.22.3)": {Minor: 22},
	} {
		want.Text = text
		if got, err := ParseVersion(text); err != nil || got != want {
			t.Errorf("ParseVersion(%q) = %+v, %v; want %+v", text, got, err, want)
		}
	}
	for _, bad := range []string{"", "go2.1", "go1.", "go1.x", "devel +abcdef", "1.26"} {
		if v, err := ParseVersion(bad); err == nil {
			t.Errorf("ParseVersion(%q) = %+v", bad, v)
		}
	}
}
