package offsets

// FuncValueName is the name of the function that begins at an address, which is what
// the first word of a function value's closure holds; "" if none does.
func (b *Binary) FuncValueName(pc uint64) string {
	if f, ok := b.FuncAt(pc); ok && f.Addr == pc {
		return f.Name
	}
	return ""
}
