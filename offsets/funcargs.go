package offsets

import "sort"

// funcArgs is what Go's function table says of the arguments of functions. It tells
// whether debug information leaves out any, as it does with blank ones up to Go 1.21.
type funcArgs struct {
	binary *Binary
	table  *pclntab
	base   uint64 // that offsets of funcdata count from
}

func (b *Binary) readFuncArgs() *funcArgs {
	all := b.table()
	if all == nil {
		return nil
	}
	t := *all
	return &funcArgs{b, &t, b.inlineTrees(&t)}
}

// info is where in the table the _func of an address is (runtime/runtime2.go).
func (a *funcArgs) info(t *pclntab, addr uint64) (at uint64, ok bool) {
	i := uint64(sort.Search(int(t.count), func(i int) bool { return t.entry(uint64(i)) > addr })) - 1
	if i >= t.count || t.entry(i) != addr {
		return 0, false
	}
	return t.funcBase + t.number(t.functab+(2*i+1)*t.form.field, t.form.field), true
}

// size is how many bytes on the stack parameters and results take.
func (a *funcArgs) size(addr uint64) (n int64, ok bool) {
	t := *a.table // whose damage is nobody's
	at, ok := a.info(&t, addr)
	if !ok {
		return 0, false
	}
	n = int64(int32(t.number(at+t.form.nameOff+4, 4)))
	return n, !t.damaged && n >= 0
}

// argument is a parameter as tracebacks print it.
type argument struct {
	aggregate bool // a string, a struct …
	size      byte // of what is none
}

// list is the parameters by FUNCDATA_ArgInfo (internal/abi/funcdata.go; written by
// EmitArgInfo in cmd/compile/internal/ssagen), in Go 1.17 and later. It stops after ten
// words: then it is not complete.
func (a *funcArgs) list(addr uint64) (args []argument, complete, ok bool) {
	const (
		funcdataArgInfo = 5
		end             = 0xff
		startAggregate  = 0xfe
		endAggregate    = 0xfd
		more            = 0xfc
		farAway         = 0xfb // an offset that is not told
	)
	at := a.funcdata(addr, funcdataArgInfo)
	if at == 0 {
		return nil, false, false
	}
	depth := 0
	for {
		var code [2]byte
		if !a.binary.image.Read(at, code[:]) || len(args) > 10 {
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
				args = append(args, argument{aggregate: true})
			}
			depth++
		case endAggregate:
			depth--
		default:
			scalar := argument{}
			if code[0] != farAway {
				scalar.size = code[1]
				at++
			}
			if depth == 0 {
				args = append(args, scalar)
			}
		}
	}
}

// funcdata is the address of data that belongs to a function, 0 if there is none.
func (a *funcArgs) funcdata(addr, number uint64) uint64 {
	t := *a.table // whose damage is nobody's
	at, ok := a.info(&t, addr)
	if !ok || t.form.cus == 0 {
		return 0
	}
	// As in goLines.readFuncs.
	head := t.form.field + 36
	if t.form.oldest >= 20 {
		head += 4
	}
	npcdata, nfuncdata := t.number(at+t.form.field+24, 4), t.number(at+head-4, 4)>>24
	at += head + 4*npcdata
	switch {
	case t.damaged || nfuncdata <= number:
		return 0
	case t.form.oldest < 18:
		return t.number((at+7)&^7+8*number, 8)
	}
	const none = 1<<32 - 1
	offset := t.number(at+4*number, 4)
	if a.base == 0 || offset == none || t.damaged {
		return 0
	}
	return a.base + offset
}
