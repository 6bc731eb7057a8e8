package machine

import "testing"

// TestModern: a kernel of our days lacks nothing.
func TestModern(t *testing.T) {
	if got, err := FeaturesOf("6.18.0"); err != nil || got != (Machine{}).Features() {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestFeaturesOf(t *testing.T) {
	for release, want := range map[string]Features{
		"6.18.44-fc": {Append: true, PushEmulated: true, Arrays: true, RecordTGID: true, EventFork: true, EventPID: true, Memory: true, Instances: true, ExactHits: true},
		"5.10.0-28":  {Append: true, PushEmulated: true, Arrays: true, RecordTGID: true, EventFork: true, EventPID: true, Memory: true, Instances: true},
		"4.19":       {RecordTGID: true, EventFork: true, EventPID: true, Memory: true, Instances: true},
		"3.10.105":   {},
	} {
		if got, err := FeaturesOf(release); err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", release, got, err, want)
		}
	}
	if _, err := FeaturesOf("newest"); err == nil {
		t.Error("\"newest\" is a version")
	}
}
