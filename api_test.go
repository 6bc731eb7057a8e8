package ftgo_test

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// public lists the public packages.
var public = []string{
	".", "offsets", "parse", "tracefs",
}

// TestAPI compares the exported declarations with docs/api, so that none changes by accident. FTGO_UPDATE=1 writes the
// files.
func TestAPI(t *testing.T) {
	for _, name := range public {
		t.Run(name, func(t *testing.T) {
			got := exported(t, name)
			path := filepath.Join("docs", "api", strings.ReplaceAll(strings.Replace(name, ".", "ftgo", 1), "/", "-")+".txt")
			if os.Getenv("FTGO_UPDATE") == "1" {
				fixture.NoError(t, os.WriteFile(path, []byte(got), 0o644))
			}
			b, err := os.ReadFile(path)
			fixture.NoError(t, err)
			if got != string(b) {
				diff := exec.Command("diff", path, "-")
				diff.Stdin = strings.NewReader(got)
				lines, _ := diff.Output() // exit status 1
				t.Errorf("%s differs from %s (FTGO_UPDATE=1 makes it so):\n%s", name, path, lines)
			}
		})
	}
	files, err := os.ReadDir(filepath.Join("docs", "api"))
	fixture.NoError(t, err)
	if len(files) != len(public) {
		t.Errorf("docs/api has %d files for %d packages", len(files), len(public))
	}
}

// exported returns the exported declarations of the package in a folder, sorted.
func exported(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in %s: %v", dir, err)
	}
	fset := token.NewFileSet()
	var lines []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution|parser.ParseComments)
		fixture.NoError(t, err)
		for _, d := range file.Decls {
			lines = append(lines, declared(t, fset, d)...)
		}
	}
	slices.SortFunc(lines, func(a, b string) int { return cmp.Or(cmp.Compare(sortKey(a), sortKey(b)), cmp.Compare(a, b)) })
	return strings.Join(lines, "\n") + "\n"
}

// sortKey puts methods below their types.
func sortKey(line string) string {
	first, _, _ := strings.Cut(line, "\n")
	if rest, ok := strings.CutPrefix(first, "func ("); ok {
		receiver, method, _ := strings.Cut(rest, ") ")
		return "type " + strings.TrimPrefix(receiver, "*") + " ~" + method
	}
	return first
}

// declared returns the exported parts of a declaration. It reports an error if one has no comment.
func declared(t *testing.T, fset *token.FileSet, d ast.Decl) (lines []string) {
	print := func(node any, doc *ast.CommentGroup, name string) {
		if doc == nil {
			t.Errorf("%s: %s has no comment", fset.Position(node.(ast.Node).Pos()), name)
		}
		var b bytes.Buffer
		fixture.NoError(t, printer.Fprint(&b, token.NewFileSet(), node))
		lines = append(lines, b.String())
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if !d.Name.IsExported() || d.Recv != nil && !ast.IsExported(strings.TrimPrefix(types.ExprString(d.Recv.List[0].Type), "*")) {
			return nil
		}
		doc := d.Doc
		d.Body, d.Doc = nil, nil
		if d.Recv != nil {
			d.Recv.List[0].Names = nil
			if slices.Contains(usual, d.Name.Name) {
				doc = &ast.CommentGroup{}
			}
		}
		print(d, doc, d.Name.Name)
	case *ast.GenDecl:
		// Constants without a value repeat the previous ones.
		var typ ast.Expr
		var values []ast.Expr
		for i, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				doc := cmp.Or(spec.Doc, d.Doc)
				spec.Doc, spec.Comment = nil, nil
				one := &ast.GenDecl{Tok: d.Tok, TokPos: d.TokPos, Specs: []ast.Spec{spec}}
				if !ast.FileExports(&ast.File{Decls: []ast.Decl{one}}) { // removes fields that are not exported
					continue
				}
				ast.Inspect(one, func(n ast.Node) bool {
					switch n := n.(type) {
					case *ast.Field:
						n.Doc, n.Comment = nil, nil
					case *ast.StructType:
						if n.Incomplete {
							n.Incomplete, n.Fields.List = false, append(n.Fields.List, &ast.Field{Type: ast.NewIdent("/* and more */ _")})
						}
					}
					return true
				})
				print(one, doc, spec.Name.Name)
			case *ast.ValueSpec:
				doc := cmp.Or(spec.Doc, spec.Comment, d.Doc)
				if len(spec.Values) > 0 {
					typ, values = spec.Type, spec.Values
				}
				for k, name := range spec.Names {
					if !name.IsExported() {
						continue
					}
					one := &ast.ValueSpec{Names: []*ast.Ident{name}, Type: cmp.Or(spec.Type, typ)}
					if d.Tok == token.CONST {
						one.Values = []ast.Expr{valued(t, values[k], i)}
					}
					print(&ast.GenDecl{Tok: d.Tok, TokPos: d.TokPos, Specs: []ast.Spec{one}}, doc, name.Name)
				}
			}
		}
	}
	return lines
}

// valued returns the value of a constant with iota replaced by its number.
func valued(t *testing.T, value ast.Expr, iota int) ast.Expr {
	t.Helper()
	var b bytes.Buffer
	fixture.NoError(t, printer.Fprint(&b, token.NewFileSet(), value))
	return ast.NewIdent(strings.ReplaceAll(b.String(), "iota", strconv.Itoa(iota)))
}

// usual methods need no comment.
var usual = []string{"String", "Error", "Unwrap", "Is"}
