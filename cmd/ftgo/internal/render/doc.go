// Package render knows how results look: tables, histograms and footnotes for
// people, JSON lines, CSV and TSV for programs, and redrawing a block of lines on
// a terminal. All of it is written to an io.Writer; what counts mean, the order of
// rows, and where output goes is left to others.
//
// Text that comes from the traced program (names, above all) never reaches a
// writer as it is: see [printable.Text].
package render
