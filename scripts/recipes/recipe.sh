# shellcheck shell=sh
# What recipes have in common: their arguments, and ftgo with a filter behind it. They
# source it with these variables set:
#
#   functions  what is probed, a line each; empty where the user names functions
#   filter     an awk program that the data goes through, or empty
#   missing    what the program does not do, if it has none of the functions
#   values     letters of flags with a value, if they are others than ftgo's
#
# and with own_flag, a function that is given each flag of the user's, and its value: it
# succeeds if the flag is the recipe's, and ftgo is not to see it. Then the positional
# parameters are those of the ftgo command, and "run trace --format ... "$@"" ends the recipe.

recipe=${0##*/}
ftgo=${FTGO:-ftgo}
output=''

complain() {
	echo "$recipe: $1 (see $recipe -h)" >&2
	exit 2
}

about() {
	sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
	cat <<-END

		-p PID, -d SECONDS, -n CALLS, -w FILE, -q and what else the ftgo command takes are
		handed to it; with two dashes as --FLAG=VALUE. -- PROGRAM ARGS starts the program, which
		may then stand for BINARY, too. \$FTGO is ftgo, if it is not in \$PATH. Needs root.
	END
}

[ $# -gt 0 ] || {
	about >&2
	exit 2
}

# Arguments go from the front to the end: first flags and BINARY, then functions, then the
# program's.
left=$# target='' given=0
while [ "$left" -gt 0 ]; do
	arg=$1 words=1
	case $arg in
	-h | --help)
		about
		exit 0
		;;
	--) break ;;
	-["${values-pdintxowD}"]) words=2 ;;
	# A value that may be left out, as ftgo reads it.
	-s | --stack) case ${2-} in '' | *[!0-9]*) ;; *) words=2 ;; esac ;;
	esac
	[ "$words" -le "$left" ] || complain "$arg needs a value"
	value=''
	[ $words -eq 1 ] || value=$2
	shift $words
	left=$((left - words))
	case $arg in
	-p* | --pid=*) target=$arg ;;
	-w) output=$value ;;
	-w?*) output=${arg#-w} ;;
	esac
	case $arg in
	-*) if own_flag "$arg" "$value"; then continue; fi ;;
	*)
		[ -n "$target" ] || target=$arg
		given=$((given + 1))
		;;
	esac
	case $arg in -w*) continue ;; esac
	set -- "$@" "$arg"
	[ $words -eq 1 ] || set -- "$@" "$value"
done
if [ -n "$functions" ]; then
	[ -n "$target" ] || [ "$left" -gt 1 ] || complain 'no BINARY and no -p PID'
	[ -n "$target" ] || set -- "$@" "$2"
	set -f
	IFS='
'
	# shellcheck disable=SC2086 # a word each line
	set -- "$@" $functions
	unset IFS
	set +f
elif [ -z "$target" ]; then
	complain 'no BINARY and no -p PID'
fi
while [ "$left" -gt 0 ]; do
	set -- "$@" "$1"
	shift
	left=$((left - 1))
done

# run ends the recipe with ftgo's status, once all is written. ftgo runs in the background
# so that the shell hears signals: it hands them on, but for that of Ctrl-C, which ftgo
# hears itself.
run() {
	command -v "$ftgo" >/dev/null || {
		echo "$recipe: no $ftgo in \$PATH; \$FTGO may say where it is" >&2
		exit 1
	}
	child='' ended='' again=1
	trap 'again=1' INT
	trap 'again=1 ended=1; [ -z "$child" ] || kill -TERM "$child" 2>/dev/null' TERM HUP
	exec 3<&0
	command=$1
	shift
	if [ -n "$filter" ]; then
		dir=$(mktemp -d)
		trap 'rm -rf "$dir"' EXIT
		mkfifo "$dir/lines"
		if [ -n "$output" ]; then
			awk -F '\t' -v columns="${columns-}" "$filter" <"$dir/lines" >"$output" &
			# It is the shell that opens the pipe: awk would wait for an ftgo that fails before.
			"$ftgo" "$command" -w /dev/fd/4 "$@" <&3 3<&- 4>"$dir/lines" &
		else
			awk -F '\t' -v columns="${columns-}" "$filter" <"$dir/lines" &
			"$ftgo" "$command" "$@" <&3 3<&- >"$dir/lines" &
		fi
	else
		"$ftgo" "$command" ${output:+-w "$output"} "$@" <&3 3<&- &
	fi
	child=$!
	[ -z "$ended" ] || kill -TERM "$child"
	while [ -n "$again" ]; do
		again='' status=0
		wait "$child" || status=$?
	done
	[ "$status" -ne 3 ] || [ -z "$missing" ] || echo "$recipe: if that is not linked in, the program $missing" >&2
	wait
	exit "$status"
}
