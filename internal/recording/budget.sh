
# price takes from $groups, for each event, the number of the group that it is disarmed with,
# what a hit takes at most, in nanoseconds, and the functions. Group 0 is the runtime's.
# shellcheck disable=SC2034 # eval uses them
price() {
	armed=
	while read -r event group cost names; do
		eval "group_$event=\$group cost_$event=\$cost"
		case " $armed " in *" $group "*) continue ;; esac
		armed="$armed $group"
		eval "last_spent_$group=0 last_hits_$group=0 names_$group=\$names"
	done <<END
$groups
END
	now
	looked=$ns
}

# look takes the probes out that take too much, by the kernel's count of their hits since
# the last look: those that take most first, until the others have no more than they may.
# shellcheck disable=SC2154 # eval sets them
look() {
	now
	elapsed=$(((ns - looked) / 1000))
	looked=$ns
	for group in $armed; do eval "spent_$group=0 hits_$group=0"; done
	while read -r _ _ event hits; do
		group=
		[ -z "$event" ] || eval "group=\${group_$event-} cost=\${cost_$event-}"
		case " $armed " in *" ${group:-none} "*) eval "spent_$group=\$((spent_$group + hits * cost)) hits_$group=\$((hits_$group + hits))" ;; esac
	done <<END
$(profile look)
END
	over=$((-elapsed * share / 1000))
	for group in $armed; do
		eval "spent=\$spent_$group hits=\$hits_$group last_spent=\$last_spent_$group last_hits=\$last_hits_$group"
		if [ "$spent" -lt "$last_spent" ]; then spent=$last_spent hits=$last_hits; fi # places were missing
		eval "last_spent_$group=$spent last_hits_$group=$hits load_$group=$((spent - last_spent)) gained_$group=$((hits - last_hits))"
		over=$((over + spent - last_spent))
	done
	while [ "$over" -gt 0 ] && [ -n "$armed" ]; do
		hottest
		eval "over=\$((over - load_$hot))"
		take_out
	done
}

# hottest finds the group that takes most. The runtime's goes last, since without it nothing can
# be timed.
# shellcheck disable=SC2154
hottest() {
	hot=0
	most=-1
	for group in $armed; do
		eval "load=\$load_$group"
		if [ "$group" != 0 ] && [ "$load" -gt "$most" ]; then hot=$group most=$load; fi
	done
}

# take_out disarms the group $hot for good. That is noted and said first: a signal may end the run
# meanwhile.
# shellcheck disable=SC2154
take_out() {
	eval "rate=\$((gained_$hot * 1000000 / (elapsed + 1))) names=\$names_$hot"
	of=
	others=
	for event in $events; do
		eval "group=\$group_$event"
		[ "$group" != "$hot" ] || of="$of $event"
	done
	for group in $armed; do
		[ "$group" = "$hot" ] || others="$others $group"
	done
	armed=$others
	disarmed="$disarmed# disarmed $(ticks) $rate$of
"
	say "$names: disarmed after $rate hits a second, for the budget of $budget%"
	for event in $of; do
		[ ! -e "$I/events/$name/$event" ] || echo 0 >"$I/events/$name/$event/enable"
	done
}

# await waits for a child to end, with $status, and looks when watch_over says that it is time to.
await() {
	while :; do
		due=
		wait "$1"
		status=$?
		if [ -z "$due" ] || [ "$status" -le 128 ]; then return 0; fi
		look
	done
}
