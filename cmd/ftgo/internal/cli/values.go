package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Seconds is the form of times like 5, 0.5 or 100ms.
var Seconds = Form[time.Duration]{Name: "SECONDS", Read: readSeconds, Write: time.Duration.String}

func readSeconds(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		f, ferr := strconv.ParseFloat(text, 64)
		if ferr != nil || !(f < 1e9) { // 1e9 s is 30 years; NaN fails, too
			return 0, fmt.Errorf("parse time %q: neither seconds nor a duration like 100ms", text)
		}
		d = time.Duration(f * float64(time.Second))
	}
	if d <= 0 {
		return 0, fmt.Errorf("parse time %q: not positive", text)
	}
	return d, nil
}

// Size is the form of sizes like 512K, in KB.
var Size = Form[int]{Name: "SIZE", Read: readSize, Write: func(kb int) string { return fmt.Sprintf("%dK", kb) }}

// maxSizeKB is 1 TB: what the kernel can't give, it refuses.
const maxSizeKB = 1 << 30

func readSize(text string) (int, error) {
	number := strings.TrimRight(text, "KMGkmg")
	unit := map[string]int{"K": 1, "M": 1 << 10, "G": 1 << 20}[strings.ToUpper(text[len(number):])]
	n, err := strconv.Atoi(number)
	switch {
	case err != nil || unit == 0 || n < 0:
		return 0, fmt.Errorf("parse size %q: not like 512K, 64M or 1G", text)
	case n*unit < 4 || n > maxSizeKB/unit:
		return 0, fmt.Errorf("parse size %q: not from 4K to 1024G", text)
	}
	return n * unit, nil
}

// YesNo is the form of what may be turned off.
var YesNo = Form[bool]{
	Name: "yes|no", Choices: []string{"yes", "no"}, Bare: "yes", Read: readYesNo,
	Takes: func(word string) bool { _, err := readYesNo(word); return err == nil },
	Write: func(yes bool) string { return map[bool]string{true: "yes", false: "no"}[yes] },
}

func readYesNo(text string) (bool, error) {
	switch text {
	case "yes", "true", "1":
		return true, nil
	case "no", "false", "0":
		return false, nil
	}
	return false, fmt.Errorf("parse %q: neither yes nor no", text)
}

// OneOf is the form of one of a few words, which are of a kind. wrong ends the error of others.
func OneOf(name, kind, wrong string, words ...string) Form[string] {
	return Form[string]{
		Name: name, Choices: words, Write: func(word string) string { return word },
		Read: func(text string) (string, error) {
			if !slices.Contains(words, text) {
				return "", fmt.Errorf("parse %s %q: %s", kind, text, wrong)
			}
			return text, nil
		},
	}
}
