package ftgo_test

import (
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// vague matches constructions that paraphrase a thing instead of naming it, or hide who acts. A few are fine. Many make a
// text a riddle.
var vague = regexp.MustCompile(`(?i)\b(what|tells?|told|telling|those|that of|there (is|are|was|were|be)|who|whom|whose|whoever|` +
	`(is|are) (none|no)|nobody|somebody|(has|have) (it|the|an?|them|all)|(is|are|was|were) to|as (far|long|much|many) as|` +
	`so (many|much|long|few)|wanted|asked for|kept|made of|gone)\b`)

var word = regexp.MustCompile(`[A-Za-z']+`)

// wording counts words and vague constructions.
type wording struct {
	words, vague int
	worst        []string // texts with several
}

func (w *wording) add(place, text string) {
	n := len(vague.FindAllString(text, -1))
	w.words += len(word.FindAllString(text, -1))
	w.vague += n
	if n > 1 {
		w.worst = append(w.worst, fmt.Sprintf("%d in %s: %s", n, place, text))
	}
}

// TestEnglish limits vague constructions per 1,000 words: in comments, in messages, which are string literals of three words
// and more, help texts and the manual, and in documents. The Go runtime, delve and cobra have 3 to 5 in comments.
func TestEnglish(t *testing.T) {
	var comments, messages, documents wording
	packages := make(map[string]*wording)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		fixture.NoError(t, err)
		switch dir := filepath.Dir(path); {
		case d.IsDir():
			if slices.Contains([]string{".git", "testdata", "docs/api", "docs/schema"}, path) || d.Name() == "testdata" {
				return filepath.SkipDir
			}
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
			if packages[dir] == nil {
				packages[dir] = &wording{}
			}
			readGo(t, path, &comments, packages[dir], &messages)
		case strings.HasSuffix(path, ".md"):
			readPage(t, path, &documents)
		case strings.HasPrefix(dir, "docs/man") || strings.HasPrefix(dir, "cmd/ftgo") && strings.HasSuffix(path, ".txt"):
			for line := range strings.Lines(readText(t, path)) {
				messages.add(path, line)
			}
		}
		return nil
	})
	fixture.NoError(t, err)
	limit := func(name string, w *wording, most float64) {
		if index := 1000 * float64(w.vague) / float64(max(w.words, 1)); index > most {
			slices.SortFunc(w.worst, func(a, b string) int { return strings.Compare(b, a) })
			t.Errorf("%s: %.1f vague constructions per 1,000 words, more than %v:\n%s", name, index, most, strings.Join(w.worst[:min(len(w.worst), 10)], "\n"))
		}
	}
	limit("comments", &comments, 7)
	limit("messages", &messages, 4)
	limit("documents", &documents, 7)
	for dir, w := range packages {
		if w.words > 200 {
			limit("comments of "+dir, w, 12)
		}
	}
}

// readGo adds the comments and the string literals of a Go file.
func readGo(t *testing.T, path string, comments, own, messages *wording) {
	src := []byte(readText(t, path))
	var s scanner.Scanner
	files := token.NewFileSet()
	file := files.AddFile(path, files.Base(), len(src))
	s.Init(file, src, nil, scanner.ScanComments)
	for {
		pos, tok, text := s.Scan()
		place := files.Position(pos).String()
		switch {
		case tok == token.EOF:
			return
		case tok == token.COMMENT && !strings.HasPrefix(text, "//go:"):
			comments.add(place, text)
			own.add(place, text)
		case tok == token.STRING && len(word.FindAllString(text, -1)) >= 3:
			messages.add(place, text)
		}
	}
}

// readPage adds the prose of a Markdown page, without code blocks.
func readPage(t *testing.T, path string, documents *wording) {
	fenced := false
	for line := range strings.Lines(readText(t, path)) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		} else if !fenced && !strings.HasPrefix(line, "    ") {
			documents.add(path, line)
		}
	}
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	fixture.NoError(t, err)
	return string(text)
}
