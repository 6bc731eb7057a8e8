
# look ends the run if the probes took more than the budget since the last look. Their cost is
# the kernel's count of hits times the usual cost of a hit.
# shellcheck disable=SC2154 # eval sets cost
look() {
	now
	elapsed=$(((ns - looked) / 1000))
	looked=$ns
	last=$spent
	spent=0
	while read -r _ _ event hits; do
		[ -z "$event" ] || eval "cost=\$cost_$event"
		[ -z "$event" ] || spent=$((spent + hits * cost))
	done <<END
$(profile look)
END
	if [ "$spent" -lt "$last" ]; then spent=$last; fi # places were missing
	[ $((spent - last)) -le $((elapsed * share / 1000)) ] || {
		say "the recording ends, because the probes took more than the budget of $budget% of a CPU"
		exit 0
	}
}

# await PID waits for a child to end and sets status. It calls look when watch_over signals that.
await() {
	while :; do
		due=
		wait "$1"
		status=$?
		if [ -z "$due" ] || [ "$status" -le 128 ]; then return 0; fi
		look
	done
}

forced=
output=
mounted=
reader=
window=
spent=0
reading=
worker=
watcher=
while getopts b:d:fhw: option; do
	case $option in
	b) binary=$OPTARG shown=$OPTARG ;;
	d) seconds=$OPTARG ;;
	f) forced=1 ;;
	w) output=$OPTARG ;;
	h) usage && exit ;;
	*) usage >&2 && exit 2 ;;
	esac
done
shift $((OPTIND - 1))
case $seconds in *[!0-9.]* | *.*.* | .) die 2 "-d $seconds: not a number of seconds" ;; esac
[ $# -eq 0 ] || command -v "$1" >/dev/null || die 2 "no program $1"
if [ ! -f "$binary" ] || [ ! -r "$binary" ]; then die 2 "no file $shown (-b says where it is)"; fi

# From here on the script uses the open file, even if its name is changed.
exec 7>&1 8<&0 9<"$binary"
file=/proc/$$/fd/9
check
if [ -n "$output" ]; then
	# shellcheck disable=SC3013 # dash and busybox have -ef; without it this check does nothing
	if [ "$output" -ef "$file" ] 2>/dev/null; then die 2 "-w $output: is the binary"; fi
	if ! (umask 077 && : >>"$output") || ! exec >"$output"; then die 1 "$output can't be written"; fi
fi

own_name
trap finish EXIT
trap 'exit 0' HUP INT TERM PIPE
[ "$share" = 0 ] || trap 'due=1' USR1
T=/sys/kernel/tracing
I=$T/instances/$name
find_tracefs
I=$T/instances/$name
allow
mkdir "$I" || die 4 "no instance can be made in $T/instances: are you root?"
plain
choose_clock
size_buffers
[ ! -e "$I/options/record-tgid" ] || echo 1 >"$I/options/record-tgid"
first=$(noted)
began=$(sample first)
probes
began="$began
$(sample armed)"
header && cat <<END || read_by_program || die 1 "the recording can't be written: is the disk full?"
# kernel $(uname -r)
# host $(printf %s "$(uname -n)" | tr '\n\r' '??')
# path $(printf %s "$shown" | tr '\n\r' '??')
# program $(printf %s "$*" | tr '\n\r' '??')
# trace-clock $clock
# buffer-kb $buffer_kb
$(wall)
$began
# began $nonce
END
(
	trap '' HUP INT TERM
	LC_ALL=C
	export LC_ALL
	exec sed -n "/tracing_mark_write: ended_$nonce/q;p" "$I/trace_pipe"
) 7>&- 8<&- 9<&- &
reader=$!
limit=-1
if [ $# -gt 0 ] && [ -n "$seconds" ]; then
	limit=${seconds%%.*}
	while [ "${limit#0}" != "$limit" ]; do limit=${limit#0}; done # else it is octal
	limit=$((${limit:-0} + 1))
fi
(
	trap '' HUP INT TERM
	trap - PIPE
	watch_over "$limit"
) </dev/null >/dev/null 2>&1 7>&- 8<&- 9<&- &
watcher=$!
check
now
looked=$ns
arm
window=$(moment from)
if [ $# -gt 0 ]; then
	say "probing $places places until $1 ends"
	if [ -n "$output" ]; then "$@" <&8 >&7 7>&- 8<&- 9<&- & else "$@" <&8 >&2 7>&- 8<&- 9<&- & fi
	worker=$!
elif [ -n "$seconds" ]; then
	say "probing $places places for $seconds s"
	sleep "$seconds" 7>&- 8<&- 9<&- >/dev/null &
	worker=$!
else
	say "probing $places places, Ctrl-C to end"
	await "$reader"
	reading=$status
	exit 0
fi
await "$worker"
worker=
exit "$status"
