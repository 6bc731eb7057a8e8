package offsets

// Lookup finds a function by its exact name.
func (b *Binary) Lookup(name string) (*Func, bool) {
	b.index.Do(func() {
		b.byName = make(map[string]int, len(b.funcs))
		for i := range b.funcs {
			if _, twice := b.byName[b.funcs[i].Name]; !twice {
				b.byName[b.funcs[i].Name] = i
			}
		}
	})
	i, ok := b.byName[name]
	if !ok {
		return nil, false
	}
	return &b.funcs[i], true
}
