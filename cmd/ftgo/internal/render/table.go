package render

import (
	"bytes"
	"fmt"
	"io"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/tw"

	"github.com/ftgo/ftgo/internal/printable"
)

// grid is the text of a table. All cells are safe for a terminal and one line each.
type grid struct {
	header []string
	// left marks the columns of text; the others hold numbers and are right-aligned.
	left []bool
	rows [][]string
	// bare: the header is not written. The columns are as wide as with it.
	bare bool
}

// fits are the ways to lay out a table, from roomy to tight; the first that keeps
// to the width is taken.
var fits = [...]fit{{gap: 2, name: 24}, {gap: 1, name: 24}, {gap: 1, name: 12}, {gap: 1, name: 12, compact: true}}

type fit struct {
	// gap is the number of blanks between columns, 1 or 2.
	gap int
	// name is how far the names in the first column may be shortened.
	name int
	// compact writes large numbers of calls as 1.25M.
	compact bool
}

// minNote is how far the last column is shortened if it holds text.
const minNote = 16

// writeTable lays out the table that build returns within width columns (0 = no
// limit) and writes it. A width that even the tightest layout exceeds is exceeded:
// numbers are never cut, and cells never wrapped.
func writeTable(w io.Writer, width int, build func(compact bool) grid) error {
	var g grid
	var chosen fit
	for _, chosen = range fits {
		g = build(chosen.compact)
		if width <= 0 || g.fit(width, chosen) {
			break
		}
	}
	return g.write(w, chosen.gap)
}

// fit shortens the names, and the notes in a last column of text, and reports
// whether the table now keeps to width.
func (g grid) fit(width int, f fit) bool {
	widths := make([]int, len(g.header))
	for i, cell := range g.header {
		widths[i] = printable.Columns(cell)
	}
	for _, row := range g.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], printable.Columns(cell))
		}
	}
	last := len(widths) - 1
	numbers := f.gap * last
	for _, column := range widths[1:] {
		numbers += column
	}
	note := 0
	if g.left[last] {
		numbers -= widths[last]
		note = min(widths[last], minNote)
	}
	room := width - numbers - note
	name := min(widths[0], max(room, f.name))
	note = max(note, width-numbers-name)
	for _, row := range g.rows {
		row[0] = printable.Shorten(row[0], name)
		if g.left[last] {
			row[last] = printable.Cut(row[last], note)
		}
	}
	return name <= room
}

// write leaves alignment to tablewriter and nothing else: its defaults would draw
// borders, upper-case headers and drop their dots and underscores, wrap cells, trim
// names, and measure "µ" and "…" as two columns in East Asian locales.
func (g grid) write(w io.Writer, gap int) error {
	section := tw.CellConfig{Formatting: tw.CellFormatting{AutoFormat: tw.Off}}
	for i, left := range g.left {
		align := tw.AlignRight
		if left {
			align = tw.AlignLeft
		}
		section.Alignment.PerColumn = append(section.Alignment.PerColumn, align)
		// Both sides make up a gap of 2: tablewriter repeats padding for every missing
		// column, so that one of two blanks comes out as four and pushes the cell out.
		padding := tw.PaddingNone
		if i > 0 {
			padding.Left = " "
		}
		if gap == 2 && i < len(g.left)-1 {
			padding.Right = " "
		}
		section.Padding.PerColumn = append(section.Padding.PerColumn, padding)
	}
	var text bytes.Buffer
	table := tablewriter.NewTable(&text,
		tablewriter.WithEastAsian(tw.Off),
		tablewriter.WithRendition(tw.Rendition{
			Borders:  tw.BorderNone,
			Settings: tw.Settings{Lines: tw.LinesNone, Separators: tw.SeparatorsNone},
		}),
		tablewriter.WithConfig(tablewriter.Config{
			Header: section, Row: section,
			Behavior: tw.Behavior{TrimSpace: tw.Off, TrimTab: tw.Off},
		}),
		// Not part of section: merging a config takes WrapNone for "not set".
		tablewriter.WithHeaderAutoWrap(tw.WrapNone),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
	)
	table.Header(g.header)
	if err := table.Bulk(g.rows); err != nil {
		return fmt.Errorf("lay out table: %w", err)
	}
	if err := table.Render(); err != nil {
		return fmt.Errorf("lay out table: %w", err)
	}
	// The table is kept back until here: tablewriter ignores errors of its writer,
	// and pads the last column with blanks.
	var lines bytes.Buffer
	if g.bare {
		_, _ = text.ReadBytes('\n')
	}
	for line := range bytes.Lines(text.Bytes()) {
		lines.Write(bytes.TrimRight(line, " \n"))
		lines.WriteByte('\n')
	}
	if _, err := w.Write(lines.Bytes()); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}
