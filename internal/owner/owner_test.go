package owner

import "testing"

func TestOwnerAlive(t *testing.T) {
	me, err := New()
	if err != nil {
		t.Fatal(err)
	}
	const container = 4026540000
	for _, c := range []struct {
		name  string
		o     Owner
		space uint64 // we are in
		want  bool
	}{
		{"this process", me, me.Space, true},
		{"its number, started at another time", Owner{PID: me.PID, Started: me.Started + 1, Space: me.Space}, me.Space, false},
		{"no process", Owner{PID: 1 << 22, Started: 1, Space: me.Space}, me.Space, false},
		{"this number in a container that is gone", Owner{PID: me.PID, Started: me.Started, Space: container}, 0, false},
		{"the host's, seen from a container", Owner{PID: 1 << 22, Started: 1}, container, true},
		{"another container's, seen from one", Owner{PID: 1 << 22, Started: 1, Space: container + 1}, container, true},
		{"a container's own", Owner{PID: me.PID, Started: me.Started, Space: container}, container, true},
		{"a container's own, gone", Owner{PID: 1 << 22, Started: 1, Space: container}, container, false},
	} {
		if got := c.o.aliveIn(c.space); got != c.want {
			t.Errorf("%s: alive is %v", c.name, got)
		}
	}
}

func FuzzOwner(f *testing.F) {
	f.Add("ftgo_1_2_3")
	f.Add("ftgo_1_2_3_ns4026532178")
	f.Fuzz(func(t *testing.T, name string) {
		o, ok := Parse(name)
		if ok && (o.String() != name || o.PID <= 0) {
			t.Errorf("%q is read as %+v", name, o)
		}
	})
}
