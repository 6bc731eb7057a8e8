# Adds up calls by what they were of and by who called. A call is a line, with tabs between
# its fields: first what it was of, then numbers, whose titles are the variable columns; its
# stack stands below it, indented. The most frequent come first.

function add(  i) {
	if (!called) return
	key = what stack
	if (!(key in calls)) keys[++n] = key
	calls[key]++
	for (i in numbers) sums[key, i] += numbers[i]
	called = 0
}

/^ / {
	stack = stack "\n" $0
	next
}

{
	add()
	called = 1
	what = $1
	stack = ""
	for (i = 2; i <= NF; i++) numbers[i] = $i
}

END {
	add()
	width = split(columns, title, " ")
	printf "%8s", "CALLS"
	for (i = 1; i <= width; i++) printf " %10s", title[i]
	print ""
	for (; n > 0; n--) {
		most = 1
		for (i = 2; i <= n; i++) if (calls[keys[i]] > calls[keys[most]]) most = i
		key = keys[most]
		for (i = most; i < n; i++) keys[i] = keys[i + 1]
		printf "%8d", calls[key]
		for (i = 1; i <= width; i++) printf " %10d", sums[key, i + 1]
		print "  " key
	}
}
