// Package stats knows what is kept of calls once they are told apart: counts per
// function, latency histograms of bounded size, and the difference between two
// looks at them. Where calls come from (trace lines, pairing) and what rows look
// like on paper is left to others.
package stats
