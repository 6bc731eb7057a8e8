#!/bin/sh
# Records calls of 1 function at 11 places, for ftgo report.
# Made by ftgo '$HOME' \ `id`; sh SCRIPT -h shows its usage.
# shellcheck disable=SC2016,SC2034,SC2317,SC2329 # quotes are meant, traps call functions

binary='/opt/it'\''s `here`/server'
shown='/opt/it'\''s `here`/server'
size=12345
sha256=0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f
seconds='1.5'
buffer_kb=64
nonce=0123456789abcd
places=11
append=1
arrays=1
budget=2.5
share=25000
cost_e0_0123456789abcd=1200
cost_r1_0123456789abcd=10000
events='
e0_0123456789abcd
r1_0123456789abcd'

probes() {
	at e0_0123456789abcd ' sp=%sp:s64 w=+0(%ax):x64[2]' 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x8 \
		0x9
	at r1_0123456789abcd ' sp=$stack:s64' 0x10
	at r1_0123456789abcd ' sp=+8(%sp):s64' 0x20
	filter e0_0123456789abcd 'sp > 1'
}

header() {
	cat <<'END_0123456789abcd'
# ftgo-recording 5 0123456789abcd
# about {"made":"'$HOME' \\ `id`","command":"","binary":{"path":"/opt/it's `here`/server","size":12345,"sha256":"0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f"},"patterns":null,"processor":"x86-64","plan":{"mode":0,"features":{"Append":false,"PushEmulated":false,"Arrays":false,"RecordTGID":false,"EventFork":false,"EventPID":false,"Memory":false,"Instances":false,"ExactHits":false},"funcs":[{"Name":"it's.`f`","Addr":0,"Size":0,"ABI":0}],"events":[{"name":"e0_0123456789abcd","args":[{"Name":"sp","Fetch":"%sp","Type":"s64"},{"Name":"w","Fetch":"+0(%ax)","Type":"x64[2]"}],"filter":"sp \u003e 1","fields":{"SP":0,"G":0,"Goid":0,"Hi":0,"Lo":0,"Flags":0,"Old":0,"New":0,"WaitReason":0,"Creator":0,"CreatorGoid":0,"Start":0,"Stack":0,"Values":0},"sites":[{"kind":0,"addr":0,"func":0,"cond":0},{"kind":0,"addr":0,"func":0,"cond":0},{"kind":0,"addr":0,"func":0,"cond":0},{"kind":0,"addr":0,"func":0,"cond":0},{"kind":0,"addr":0,"func":0,"cond":0},{"kind":0,"addr":0,"func":0,"cond":0},{"kind":0,"addr":0,"func":0,"cond":0},{"kind":0,"addr":0,"func":0,"cond":0},{"kind":0,"addr":0,"func":0,"cond":0}]},{"name":"r1_0123456789abcd","args":[{"Name":"sp","Fetch":"%sp","Type":"s64"}],"fields":{"SP":0,"G":0,"Goid":0,"Hi":0,"Lo":0,"Flags":0,"Old":0,"New":0,"WaitReason":0,"Creator":0,"CreatorGoid":0,"Start":0,"Stack":0,"Values":0},"sites":[{"kind":0,"addr":0,"func":0,"cond":0,"fetch":["$stack"]},{"kind":0,"addr":0,"func":0,"cond":0,"fetch":["+8(%sp)"]}]}]}}
END_0123456789abcd
}

# What follows is the same in all scripts of ftgo. The order in which probes are removed
# matters: to remove one that is enabled in any instance can crash the kernel.
set -u

usage() {
	cat <<END
usage: sh SCRIPT [-d SECONDS] [-b BINARY] [-w FILE] [-f] [-- PROGRAM ARGS...]

Records calls of functions in $shown, as root, until Ctrl-C, for SECONDS, or until
PROGRAM ends. The recording, for ftgo report, goes to standard output or to FILE.
-b BINARY says where the binary is on this machine. -f goes on where nothing can tell
that it is the right one, and on kernels before 4.0.
END
}

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

# die STATUS TEXT ends the script.
die() {
	code=$1
	shift
	say "$*"
	exit "$code"
}

# check ends the script if the file is not the binary that the probes are for: a breakpoint in
# the middle of an instruction corrupts the program.
check() {
	bytes=$(wc -c <"$file")
	[ "$((bytes))" -eq "$size" ] || die 1 "$shown has $((bytes)) bytes, and the binary that this script is for has $size: it is another build"
	if sum=$(sha256sum <"$file" 2>/dev/null) && [ -n "$sum" ]; then
		[ "${sum%% *}" = "$sha256" ] || die 1 "$shown is not the binary that this script is for: SHA-256 differs"
	elif [ -z "$forced" ]; then
		die 1 "no sha256sum is here to tell whether $shown is the right binary; -f goes by its size"
	fi
}

# find_tracefs sets T to the directory of tracefs, and mounts it if needed.
find_tracefs() {
	for T in /sys/kernel/tracing /sys/kernel/debug/tracing; do
		[ ! -e "$T/trace_clock" ] || return 0
	done
	T=/sys/kernel/tracing
	if mount -t tracefs tracefs $T 2>/dev/null; then
		mounted=$T
	elif mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null; then
		mounted=/sys/kernel/debug
		T=$mounted/tracing
	fi
	[ -e "$T/trace_clock" ] || die 4 "tracefs is not mounted, and can't be: are you root?"
}

# allow ends the script if the kernel lacks a feature that the probes need.
allow() {
	release=$(uname -r)
	[ -e "$T/uprobe_events" ] || die 4 "kernel $release has no uprobe_events (CONFIG_UPROBE_EVENTS)"
	[ -w "$T/uprobe_events" ] || die 4 "$T/uprobe_events may not be written: are you root?"
	[ -e "$T/set_event_pid" ] || [ -e "$T/events/sched/sched_switch/trigger" ] ||
		die 4 "kernel $release does not record probes in instances (before Linux 3.14)"
	case $release in [0-3].*) [ -n "$forced" ] || die 4 "uprobes of kernels before 4.0 can hang the traced program; -f goes on" ;; esac
	[ "$append" = 0 ] || grep -q 'uprobe_events.*append' "$T/README" 2>/dev/null ||
		die 4 "kernel $release has one place for each probe event (before Linux 5.4): make the script with --kernel $release"
	[ "$arrays" = 0 ] || grep -q '<array-size>' "$T/README" 2>/dev/null ||
		die 4 "kernel $release fetches no arrays (before Linux 4.20): make the script with --kernel $release"
}

# own_name sets name to ftgo_<pid>_<start time>_1, from which ftgo clean sees whether the run is
# dead. In a container it adds the PID namespace.
own_name() {
	stat=$(cat "/proc/$$/stat")
	# shellcheck disable=SC2086 # its words
	set -- ${stat##*)}
	name=ftgo_$$_${20}_1
	space=$(readlink /proc/self/ns/pid 2>/dev/null) || space=
	space=${space#*'['}
	space=${space%']'}
	case $space in '' | 4026531836) ;; *) name=${name}_ns$space ;; esac
}

# now sets ns to CLOCK_MONOTONIC in nanoseconds, without starting a process. If /proc/timer_list
# is not readable, it takes the uptime, and fails.
now() {
	ns=
	{ read -r _ && read -r _ && read -r _ _ ns _; } 2>/dev/null </proc/timer_list
	[ -z "$ns" ] || return 0
	read -r up _ </proc/uptime
	ns=${up%.*}${up#*.}0000000
	return 1
}

# sample LABEL writes readings of the two clocks, several because any one may be interrupted.
# The ring buffers must not be in use meanwhile: a shell reads byte by byte, and the kernel
# formats the statistics again for each byte.
sample() {
	for _ in 1 2 3 4 5 6 7 8 9; do
		now
		before=$ns
		while read -r a b ticks; do
			[ "$a $b" != 'now ts:' ] || break
		done <"$I/per_cpu/cpu0/stats"
		now
		case $ticks in '' | *[!0-9.]*) continue ;; esac
		echo "# clock $1 $before $ticks $ns"
	done
}

# wall writes the difference between the time of day and CLOCK_MONOTONIC.
wall() {
	offset=$(sed -n '/^ clock 1:/,/offset/s/.*offset: *\([0-9]*\) nsecs.*/\1/p;/^ clock 2:/q' /proc/timer_list 2>/dev/null)
	now || offset=
	[ -n "$offset" ] || offset=$(($(date +%s) * 1000000000 - ns))
	echo "# wall $offset"
}

# choose_clock sets the trace clock of the instance to the best one that the kernel has.
choose_clock() {
	offered=" $(tr -d '[]' <"$I/trace_clock") "
	clock=local
	for c in global mono; do
		case $offered in *" $c "*) clock=$c ;; esac
	done
	# The kernel prints cycles in full, but the times of other clocks in microseconds.
	case $offered in *' x86-tsc '*)
		if now && grep -qw tsc /sys/devices/system/clocksource/clocksource0/available_clocksource; then clock=x86-tsc; fi
		;;
	esac
	echo "$clock" >"$I/trace_clock"
}

# plain sets the options of the instance to the format that ftgo report reads. A new instance
# has the options of the top level, which another user may have changed.
plain() {
	for option in latency-format raw hex bin fields stacktrace userstacktrace; do
		[ ! -e "$I/options/$option" ] || echo 0 >"$I/options/$option"
	done
	for option in context-info irq-info markers; do
		[ ! -e "$I/options/$option" ] || echo 1 >"$I/options/$option"
	done
}

# size_buffers sets the size of the ring buffers: buffer_kb or, if that is 0, up to 16 MB for
# each CPU, but at most a sixteenth of the available memory for all.
size_buffers() {
	least=$buffer_kb
	if [ "$buffer_kb" = 0 ]; then
		buffer_kb=16384
		available=$(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo)
		set -- "$I"/per_cpu/cpu*
		[ -z "$available" ] || [ $((available / 16 / $#)) -ge $buffer_kb ] || buffer_kb=$((available / 16 / $#))
		least=64
		[ $buffer_kb -ge $least ] || buffer_kb=$least
	fi
	# The kernel allocates the buffers of the top level when the first event is enabled. Before
	# 6.7, setting the size of an instance's buffers prevents that, and they stay a page small
	# for good. Disabling all events, even of an instance, allocates them, too.
	case $(cat "$T/buffer_size_kb") in *expanded*) echo 0 >"$I/events/enable" ;; esac
	# A size that the user has chosen is fixed. Otherwise try smaller buffers.
	until { echo "$buffer_kb" >"$I/buffer_size_kb"; } 2>/dev/null; do
		[ "$buffer_kb" -gt "$least" ] || die 4 "ring buffers of $buffer_kb KB for each CPU are not to be had"
		buffer_kb=$((buffer_kb / 2))
	done
}

# at EVENT ARGS OFFSET... defines an event at each OFFSET, with writes of less than 4 KB. It must
# append: any other write would remove the probes of all users.
at() {
	event=$1
	args=$2
	shift 2
	text=
	for offset; do
		line="p:$name/$event $file:$offset$args"
		[ $((${#text} + ${#line})) -lt 4000 ] || write_definitions
		text="$text$line
"
	done
	write_definitions
}

# write_definitions writes $text to uprobe_events.
write_definitions() {
	[ -z "$text" ] || printf '%s' "$text" >>"$T/uprobe_events" || {
		[ ! -r "$T/error_log" ] || tail -n 4 "$T/error_log" >&2
		die 4 "the kernel refuses the definition of event $event"
	}
	text=
}

# filter EVENT EXPR sets the filter of an event: the kernel records only hits for which EXPR holds.
filter() {
	printf '%s' "$2" >"$I/events/$name/$1/filter" || die 4 "the kernel refuses the filter of event $1"
}

# arm enables the events, the last of $events first.
arm() {
	backwards=
	for event in $events; do backwards="$event $backwards"; done
	for event in $backwards; do
		echo 1 >"$I/events/$name/$event/enable" || die 4 "the kernel refuses to enable event $event"
	done
}

# disarm disables the events.
disarm() {
	[ -d "$I/events/$name" ] || return 0
	for event in $events; do
		[ ! -e "$I/events/$name/$event" ] || echo 0 >"$I/events/$name/$event/enable"
	done
}

# end_reading writes a marker behind the last event, at which the reader ends. It writes it twice,
# because the sed of busybox reads a line ahead.
end_reading() { { echo "ended_$nonce" && echo "ended_$nonce"; } >"$I/trace_marker"; }

# read_by_program succeeds if standard output is a pipe or a socket. The program that reads it
# may have ended early.
read_by_program() { [ -p "/proc/$$/fd/1" ] || [ -S "/proc/$$/fd/1" ]; }

# whole succeeds if the recording was written to its end. $reading is the status of the reader.
# If the recording is a file, its last line shows it.
whole() {
	! read_by_program || return 0
	[ "$reading" = 0 ] || return 1
	[ ! -f "/proc/$$/fd/1" ] || [ "$(tail -n 1 "/proc/$$/fd/1")" = "# complete $nonce" ]
}

# profile LABEL writes the kernel's counts of hits. It tries again if places are missing, because
# other users removed probes while it read.
profile() {
	tries=0
	while [ "$tries" -lt 50 ]; do
		hits=$(sed -n "s|^ *$file \([^ ]*_$nonce\) *\([0-9]*\) *\$|# $1 \1 \2|p" "$T/uprobe_profile")
		[ "$(echo "$hits" | wc -l)" -ne "$places" ] || break
		tries=$((tries + 1))
	done
	[ -z "$hits" ] || echo "$hits"
}

# ticks writes the time by the trace clock. The ring buffers may be in use, because sed reads the
# statistics in one piece.
ticks() { sed -n 's/^now ts: *//p' "$I/per_cpu/cpu0/stats"; }

# moment LABEL writes the begin or end of the window: the clocks, and then all counters in one
# pass.
moment() {
	now
	before=$ns
	ticks=$(ticks)
	now
	echo "# clock $1 $before $ticks $ns"
	before=$ns
	profile "$1"
	now
	echo "# pass $1 $((ns - before))"
}

# lost writes how many events the ring buffers have lost.
lost() {
	lost=0
	for stats in "$I"/per_cpu/cpu*/stats; do
		while read -r a b c; do
			case "$a $b" in
			'overrun: '*) lost=$((lost + b)) ;;
			'commit overrun:' | 'dropped events:') lost=$((lost + c)) ;;
			esac
		done <"$stats"
	done
	echo "# lost $lost"
}

# noted writes the kernel's table of threads and their processes (since 4.13). The kernel sets an
# entry when it switches between threads. Until a new thread is first switched, the table, and
# so the lines of trace_pipe, may have the process of an earlier thread with the same ID.
noted() { cat "$T/saved_tgids" 2>/dev/null; }

# corrections writes the entries of the table that have changed since $first, before and after.
corrections() {
	last=$(noted)
	differ=$({ echo "$first" && echo "$last"; } | sort | uniq -u)
	{ echo "$differ" && echo "$first"; } | sort | uniq -d | sed -n 's/^[0-9]/# noted first &/p'
	{ echo "$differ" && echo "$last"; } | sort | uniq -d | sed -n 's/^[0-9]/# noted ended &/p'
}

# remove removes the instance of this run and, if no instance has them enabled, the events. Up to
# Linux 5.4.0 an instance can't be removed while any trace_pipe is read, even another one. Then
# it stays with all events disabled.
remove() {
	tries=0
	while [ -d "$I" ] && ! rmdir "$I" 2>/dev/null; do
		tries=$((tries + 1))
		[ "$tries" -gt 3 ] || {
			sleep 1
			continue
		}
		echo 0 >"$I/events/enable"
		say "instance $name stays, with nothing on in it, while somebody reads a trace_pipe: ftgo clean removes it then"
		break
	done
	for enabled in "$T/events/$name/enable" "$T"/instances/*/events/"$name/enable"; do
		[ -e "$enabled" ] || continue
		read -r value <"$enabled" || value='?'
		[ "$value" = 0 ] || [ ! -e "$enabled" ] || return 1
	done
	for event in "$T/events/$name"/*/; do
		[ ! -d "$event" ] || {
			event=${event%/}
			echo "-:$name/${event##*/}" >>"$T/uprobe_events"
		}
	done
	[ ! -d "$T/events/$name" ]
}

# watch_over LIMIT runs in the background. It ends the run after LIMIT seconds, or when the reader
# has ended, signals each second that look is due, and cleans up after a run that was killed.
watch_over() {
	left=$1
	while kill -0 $$ 2>/dev/null; do
		kill -0 "$reader" 2>/dev/null || kill -s PIPE $$
		[ "$left" != 0 ] || kill -s TERM $$
		left=$((left - 1))
		[ "$share" = 0 ] || kill -s USR1 $$
		sleep 1
	done
	disarm
	end_reading && sleep 1
	kill -s KILL "$reader"
	remove
}

# finish writes the end of the recording and removes the probes, when the script exits.
finish() {
	status=$?
	trap '' HUP INT TERM PIPE USR1
	trap - EXIT
	[ -z "$window" ] || window="$window
$(moment until)"
	disarm
	if [ -n "$worker" ]; then
		kill "$worker" 2>/dev/null
		(sleep 3 && kill -s KILL "$worker") >/dev/null 2>&1 7>&- 8<&- 9<&- &
		killer=$!
		wait "$worker" 2>/dev/null
		kill "$killer" 2>/dev/null
	fi
	if [ -n "$reader" ]; then
		end_reading || kill -s KILL "$reader"
		wait "$reader"
		reading=${reading:-$?}
		{
			echo "# ended $nonce"
			sample ended
			lost
			[ -z "$window" ] || echo "$window"
			profile profile
			corrections
			echo "# complete $nonce"
		} 2>/dev/null
		whole || {
			say "the recording is cut off: it can't be written, is the disk full?"
			[ "$status" != 0 ] || status=1
		}
	fi
	[ -z "$watcher" ] || kill -s KILL "$watcher"
	remove || {
		say "probes of $name are in use, and left: ftgo clean removes them"
		[ "$status" != 0 ] || status=1
	}
	[ -z "$mounted" ] || umount "$mounted" 2>/dev/null
	exit "$status"
}


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
