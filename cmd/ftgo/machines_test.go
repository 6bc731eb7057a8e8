package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// measuredBefore are a network and ftgo for a test without other machines: what runs "on" a host is told its
// name, and ftgo there has measured before. Its flags are read by the real one.
var measuredBefore = map[string]string{
	"ssh": `FAKE_HOST=$1; export FAKE_HOST; shift; case $1 in deploy) : >"$FAKES/deployed"; exit ;; esac; exec sh -c "$*"`,
	"ftgo": `case "$1 $FAKE_HOST" in
"probe "?*|"count "?*)
	set -- "$@" -h
	for arg; do shift; [ "$arg" = -p ] && arg=-q; [ "$arg" = shop ] && arg=./shop; set -- "$@" "$arg"; done
	"$FTGO" "$@" >/dev/null || exit
	age=old
	[ ! -e "$FAKES/deployed" ] || age=new
	file=; next=
	for arg; do [ "$next" != -w ] || file=$arg; next=$arg; done
	if [ -n "$file" ]; then cat "$FAKES/$age-$FAKE_HOST" >"$file"; else cat "$FAKES/$age-$FAKE_HOST"; fi ;;
"script "*) echo "cat $FAKES/recording" >record.sh ;;
*) exec "$FTGO" "$@" ;;
esac`,
}

// onMachines runs the shell commands of docs/many-machines.md, as a wording has them, and tells what they
// print, and what is shown behind them.
func onMachines(t *testing.T, dir string, env []string, wording *strings.Replacer, ran func(script, out, shown string)) {
	t.Helper()
	b := readFile(t, filepath.Join(fixture.Root(), "docs", "many-machines.md"))
	run := func(script string) string {
		cmd := exec.Command("sh", "-eu", "-c", wording.Replace(script))
		cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
		r := outcome(cmd)
		if r.code != 0 {
			t.Errorf("%s\nstatus %d\n%s", script, r.code, r.stderr)
		}
		return r.stdout
	}
	blocks := fenced.FindAllStringSubmatch(b, -1)
	scripts := 0
	for i, block := range blocks {
		switch {
		case block[1] == "sh":
			scripts++
			out, shown := run(block[2]), ""
			if i+1 < len(blocks) && blocks[i+1][1] == "" {
				shown = blocks[i+1][2]
			}
			ran(block[2], out, shown)
		case block[1] == "yaml":
			_, command, found := strings.Cut(block[2], "cmd: ")
			command, _, _ = strings.Cut(command, "\n")
			if !found {
				t.Fatalf("no command in\n%s", block[2])
			}
			command = strings.ReplaceAll(command, "/var/tmp/ftgo.json", "ansible.json")
			ran(command, run("ssh web2 \""+command+"\"\nftgo report ansible.json"), "")
		}
	}
	if scripts < 6 {
		t.Errorf("%d scripts", scripts)
	}
}

// TestManyMachines runs the shell commands of docs/many-machines.md, and compares what they print with what is
// shown.
func TestManyMachines(t *testing.T) {
	dir, bin := t.TempDir(), withStandIns(t, measuredBefore)
	hosts := []string{"web1", "web2", "web3"}
	for i, host := range hosts {
		old := []behaviour{{"main.get", 1000 + 5*i*(i-1), 76e3, 2}, {"main.put", 200, 12e3, 0}}
		now := []behaviour{{"main.get", 1005, 84e3, 2}, {"main.put", 200, 12e3, 0}}
		for age, text := range map[string]string{"old": ranWith(t, uint64(i), host, old...), "new": ranWith(t, uint64(i+10), host, now...)} {
			fixture.Write(t, filepath.Join(bin, age+"-"+host), text)
		}
	}
	fixture.Write(t, filepath.Join(bin, "recording"), madeUp)
	env := []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "FAKES=" + bin, "FTGO=" + built(t), "FAKE_HOST=", "TZ=UTC"}
	onMachines(t, dir, env, strings.NewReplacer("15 seconds", "2 seconds"), func(script, out, shown string) {
		if shown != "" && out != shown {
			t.Errorf("%s\nprints\n%s\nthe page says\n%s", script, out, shown)
		}
	})
}
