package main

import (
	"maps"
	"os"
	"path/filepath"
	"testing"
)

// standIns are commands that pages show beside ftgo, for tests without a daemon, a cluster or other machines. They
// refuse what they do not know, and run the rest here.
var standIns = map[string]string{
	"sudo": `exec "$@"`,
	"parallel": `[ "$1 $2 $4" = "-j 0 :::" ] || exit 255
run=$3 all=; shift 4
for arg; do sh -c "$(printf '%s\n' "$run" | sed "s/{}/$arg/g")" & all="$all $!"; done
for one in $all; do wait "$one" || exit; done`,
	// docker has the images in $IMAGES.
	"docker": `set -e
[ "$1" = run ]; shift
new=-mpf
net= grant= confine= write=rw volumes= privileged=
while :; do
	case $1 in
	--rm | -it) ;;
	--pid=host) new=-m ;;
	--network=none) net=-n ;;
	--read-only) write=ro ;;
	--privileged) privileged=1 ;;
	--cap-drop=ALL) grant=-all,+sys_chroot ;; # what follows is for chroot
	--cap-add=*) grant=$grant,+$(echo "${1#*=}" | tr A-Z a-z) ;;
	--security-opt=no-new-privileges) confine=--no-new-privs ;;
	--security-opt) shift; case $1 in apparmor=unconfined | label=disable) ;; *) exit 125 ;; esac ;;
	-v) shift; volumes="$volumes $1" ;;
	-*) echo "docker: unknown option $1" >&2; exit 125 ;;
	*) break ;;
	esac
	shift
done
root=$IMAGES/$1; shift
[ -n "$privileged$grant" ] || { echo "docker: what it grants by itself is not known here" >&2; exit 125; }
[ -z "$grant" ] || confine="setpriv $confine --inh-caps=-all --ambient-caps=-all --bounding-set=$grant"
# shellcheck disable=SC2086
exec unshare $new $net sh -ec 'root=$1 write=$2 volumes=$3 confine=$4; shift 4
mkdir -p "$root/proc" "$root/sys" "$root/dev"
for v in $volumes; do case $v in *:/sys/*) ;; *) mkdir -p "$root${v#*:}" ;; esac; done
mount --bind "$root" "$root"
mount -t proc none "$root"/proc
mount -t sysfs -o "$write" none "$root"/sys
mount --bind /dev "$root"/dev
for v in $volumes; do mount --rbind "${v%%:*}" "$root${v#*:}"; done
mount -o "remount,bind,$write" "$root"
exec $confine chroot "$root" "$@"' sh "$root" "$write" "$volumes" "$confine" /usr/bin/ftgo "$@"`,
	"podman": `exec docker "$@"`,
	// kubectl runs a debug container, to which a node gives everything but its tracefs.
	"kubectl": `set -e
case "$1 $2 $3 $4 $5 $6 $7" in
"debug node/NODE -it --profile=sysadmin --image=REGISTRY/ftgo -- /usr/bin/ftgo") shift 7; exec docker run -it --privileged --pid=host ftgo "$@" ;;
esac
echo "kubectl: unknown: $*" >&2; exit 1`,
}

// withStandIns is a folder for PATH with ftgo, stand-ins, and other scripts by their names.
func withStandIns(t *testing.T, others map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	scripts := maps.Clone(standIns)
	maps.Copy(scripts, others)
	for name, script := range scripts {
		noError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	}
	if err := os.Symlink(built(t), filepath.Join(dir, "ftgo")); err != nil && others["ftgo"] == "" {
		t.Fatal(err)
	}
	return dir
}
