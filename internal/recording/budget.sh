
# price parses $groups: for each event the number of the group that it is disarmed with, the
# maximum cost of a hit in nanoseconds, and the functions. Group 0 has the runtime's events.
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

# look disarms groups until the cost of the others is within the budget, the most expensive
# first. The cost is computed from the kernel's count of hits since the last look.
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

# hottest sets hot to the most expensive group. The runtime's comes last, because without it no
# call can be timed.
# shellcheck disable=SC2154
hottest() {
	hot=0
	most=-1
	for group in $armed; do
		eval "load=\$load_$group"
		if [ "$group" != 0 ] && [ "$load" -gt "$most" ]; then hot=$group most=$load; fi
	done
}

# take_out disarms the group $hot for good. It notes and reports that first, because a signal may
# end the run meanwhile.
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
