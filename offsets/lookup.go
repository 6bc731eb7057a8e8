package offsets

// Lookup finds a function by its exact name, or by an alias that is not the name of
// another one.
func (b *Binary) Lookup(name string) (*Func, bool) {
	b.index.Do(func() {
		b.byName = make(map[string]int, len(b.funcs))
		for i := range b.funcs {
			if _, twice := b.byName[b.funcs[i].Name]; !twice {
				b.byName[b.funcs[i].Name] = i
			}
		}
		for i := range b.funcs {
			for _, alias := range b.funcs[i].Aliases {
				if _, taken := b.byName[alias]; !taken {
					b.byName[alias] = i
				}
			}
		}
	})
	i, ok := b.byName[name]
	if !ok {
		return nil, false
	}
	return &b.funcs[i], true
}
