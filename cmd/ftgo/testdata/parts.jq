# For scripts that compare the parts of the time of calls, nanoseconds running, runnable and waiting, with the program's own.

# truth has them by function, from lines of a name and three numbers, as testdata/sched writes them.
def truth: split("\n") | map(select(. != "") | split(" ") | {name: .[0], parts: (.[1:] | map(tonumber))})
  | group_by(.name) | map({key: .[0].name, value: map(.parts)}) | from_entries;

def median: sort | .[length / 2 | floor];

# parts are those of a line, which are to add up to a sum.
def parts(sum): . as $line | (.sched // error("nothing divided: \($line)") | [.running, .runnable, .waiting])
  | if any(.[]; . < 0) or add != ($line | sum) then error("does not add up: \($line)") else . end;

# compared has what is wrong with what was seen of calls: the median difference of each part is to be less than a tenth of what
# the calls took, as a single-stepped hit takes 20 µs in some virtual machines, and is no waiting. Calls may have been kept from
# running for longer than they know: a thread whose time is up loses the CPU where a probe is hit, before that is recorded.
def compared($name; $got; $want): if ($got | length) != ($want | length) then error("\($name): \($got | length) calls have returned, want \($want | length)") else
  ($want | map(add) | median) as $took | range(3) as $k
  | ([range($want | length) | $want[.][$k] - $got[.][$k] | if $k != 1 then fabs else . end] | median) as $off
  | select($off > $took * 0.1) | "\($name): \(["running", "runnable", "waiting"][$k]) is off by \($off) ns of \($took)" end;
