package where

import "testing"

// TestTextOfConstant: constants go by their names, signed or not.
func TestTextOfConstant(t *testing.T) {
	for _, typ := range []string{"int8", "uint8"} {
		state := basic(typ)
		state.SetConstants(func() map[uint64]string { return map[uint64]string{2: "main.done"} })
		e, err := ParseValue("s")
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := e.Text(values{"s": {Type: state, Num: 2}}); got != "main.done" {
			t.Errorf("constant of %s: %s", typ, got)
		}
	}
}

// TestTextOfBytes: bytes that are no UTF-8 can be told apart, in JSON too.
func TestTextOfBytes(t *testing.T) {
	for _, tt := range []struct{ bytes, text, want string }{
		{"éé", "s[:3]", `é\xc3`}, {"é\xa9", "s", `é\xa9`}, {"\xa9\n", "s[:1]", `\xa9`}, {"\xa9\n", "s", `\xa9\x0a`}, {"a\n", "s", "a\n"},
	} {
		e, err := ParseValue(tt.text)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := e.Text(values{"s": {Type: basic("string"), Bytes: []byte(tt.bytes), Len: int64(len(tt.bytes))}}); got != tt.want {
			t.Errorf("%s of %q: %q, want %q", tt.text, tt.bytes, got, tt.want)
		}
	}
}
