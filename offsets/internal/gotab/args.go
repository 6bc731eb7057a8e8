package gotab

// ArgsSize is how many bytes on the stack the parameters and results of the function at an
// address take. It tells whether debug information leaves out any, as it does with blank ones
// up to Go 1.21.
func (g *Tables) ArgsSize(addr uint64) (n int64, ok bool) {
	f, ok := g.at(addr)
	if !ok || f.addr != addr {
		return 0, false
	}
	n = int64(int32(f.word(wordArgs)))
	return n, !f.t.damaged && n >= 0
}

// Arg is a parameter as tracebacks print it.
type Arg struct {
	Aggregate bool // a string, a struct …
	Size      byte // of what is none
}

// Args are the parameters of the function at an address by FUNCDATA_ArgInfo
// (internal/abi/funcdata.go; written by EmitArgInfo in cmd/compile/internal/ssagen), in Go 1.17
// and later. It stops after ten words: then it is not complete.
func (g *Tables) Args(addr uint64) (args []Arg, complete, ok bool) {
	const (
		funcdataArgInfo = 5
		end             = 0xff
		startAggregate  = 0xfe
		endAggregate    = 0xfd
		more            = 0xfc
		farAway         = 0xfb // an offset that is not told
	)
	f, ok := g.at(addr)
	if !ok || f.addr != addr || f.t.form.oldest < 16 {
		return nil, false, false
	}
	at := f.funcdata(funcdataArgInfo, g.module().gofunc)
	if at == 0 {
		return nil, false, false
	}
	depth := 0
	for {
		var code [2]byte
		if !g.image.Read(at, code[:]) || len(args) > 10 {
			return nil, false, false
		}
		at++
		switch code[0] {
		case end:
			return args, true, depth == 0
		case more:
			if depth == 0 {
				return args, false, true
			}
		case startAggregate:
			if depth == 0 {
				args = append(args, Arg{Aggregate: true})
			}
			depth++
		case endAggregate:
			depth--
		default:
			scalar := Arg{}
			if code[0] != farAway {
				scalar.Size = code[1]
				at++
			}
			if depth == 0 {
				args = append(args, scalar)
			}
		}
	}
}
