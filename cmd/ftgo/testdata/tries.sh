# usage: sh tries.sh COMMAND...
# Runs a command until it succeeds and writes nothing, which tells of wrong times. A virtual CPU that its host takes away is running
# for the kernel, and not for the program's own clock. What ftgo does wrong it does each time. An emulated CPU is taken away
# at any instruction, and for longer than what is measured.
for try in 1 2 3 4 5 6 7 8 9 10 11 12; do
	"$@" >wrong || exit
	[ -s wrong ] || exit 0
	! grep -q 'QEMU TCG' /proc/cpuinfo || exit 0
done
cat wrong
exit 1
