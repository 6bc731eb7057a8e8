package main

import (
	"fmt"
	"strconv"
	"strings"
)

// bufferValue is the flag value of --buffer, in KB.
type bufferValue struct{ kb *int }

// maxBufferKB is 1 TB: what the kernel can't give, it refuses.
const maxBufferKB = 1 << 30

func (v bufferValue) String() string {
	if v.kb == nil || *v.kb == 0 {
		return ""
	}
	return fmt.Sprintf("%dK", *v.kb)
}

func (v bufferValue) Type() string { return "SIZE" }

func (v bufferValue) Set(text string) error {
	number := strings.TrimRight(text, "KMGkmg")
	unit := map[string]int{"K": 1, "M": 1 << 10, "G": 1 << 20}[strings.ToUpper(text[len(number):])]
	n, err := strconv.Atoi(number)
	switch {
	case err != nil || unit == 0 || n < 0:
		return fmt.Errorf("parse size %q: not like 512K, 64M or 1G", text)
	case n*unit < 4 || n > maxBufferKB/unit:
		return fmt.Errorf("parse size %q: not from 4K to 1024G", text)
	}
	*v.kb = n * unit
	return nil
}
