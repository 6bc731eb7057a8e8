// Package scripts holds what is run beside ftgo: benchmarks, matrices, releases, recipes. Its
// tests run them.
package scripts
