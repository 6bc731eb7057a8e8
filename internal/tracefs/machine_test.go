package tracefs

import (
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

func TestOlder(t *testing.T) {
	for _, c := range []struct {
		release string
		want    bool
	}{{"3.10.0-1160.el7.x86_64", true}, {"4.0.0", false}, {"4.4.155", false}, {"6.18.44-fc", false}, {"unknown", false}} {
		if got := (Machine{Release: c.release}).Older(4, 0); got != c.want {
			t.Errorf("%q older than 4.0: %v, want %v", c.release, got, c.want)
		}
	}
}

func TestChooseClock(t *testing.T) {
	for _, c := range []struct {
		offered string
		trusted bool
		want    string
	}{
		{"[local] global counter uptime perf mono mono_raw boot tai x86-tsc", true, "x86-tsc"},
		{"[local] global counter uptime perf mono mono_raw boot tai x86-tsc", false, "mono"},
		{"local [global] counter", true, "global"},
		{"[local]", true, "local"},
	} {
		m := Machine{Root: t.TempDir()}
		sources := map[bool]string{true: "tsc hpet acpi_pm\n", false: "hpet acpi_pm\n"}[c.trusted]
		fixture.Write(t, m.Root+clockSources, sources)
		if got, trusted := m.ChooseClock(c.offered); got != c.want || trusted != c.trusted {
			t.Errorf("of %q, with %q: %q, trusted %v; want %q", c.offered, sources, got, trusted, c.want)
		}
	}
}

func TestBufferKB(t *testing.T) {
	for _, c := range []struct {
		name, meminfo, online string
		want                  int
	}{
		{"plenty", "MemAvailable: 24000000 kB\n", "0-1", 16 << 10},
		{"many CPUs", "MemTotal: 99 kB\nMemAvailable:   33554432 kB\n", "0-255", 8 << 10},
		{"some are off", "MemAvailable: 33554432 kB\n", "0-130,133", 15887},
		{"little memory", "MemAvailable: 16384 kB\n", "0-3", 256},
		{"hardly any", "MemAvailable: 100 kB\n", "0", 64},
		{"before Linux 3.14", "MemTotal: 99 kB\n", "0", 16 << 10},
		{"no files", "", "", 16 << 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := Machine{Root: t.TempDir()}
			for file, text := range map[string]string{"/proc/meminfo": c.meminfo, "/sys/devices/system/cpu/online": c.online} {
				if text != "" {
					fixture.Write(t, m.Root+file, text)
				}
			}
			if got := m.BufferKB(); got != c.want {
				t.Errorf("%d KB, want %d", got, c.want)
			}
		})
	}
}

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
