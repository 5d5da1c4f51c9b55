#!/bin/sh
# Instructions that the interpreter of schedules executes for a message, and the same calls written
# by hand: the repeatable figure beside the times of `cargo bench --bench interpreter`.
#
#   scripts/count_instructions.sh [CASE ...]
#
# Each way runs twice under valgrind with different numbers of exchanges, so that what the start of
# the program costs drops out. Needs cargo and valgrind.
set -eu

messages=1024
few=4
many=24

fail() {
    echo "count_instructions: $*" >&2
    exit 1
}

cd "$(dirname "$0")/.."
command -v cargo >/dev/null || fail "cargo is missing: https://rustup.rs"
command -v valgrind >/dev/null || fail "valgrind is missing (Debian: apt-get install valgrind)"

built=$(cargo bench --color never --bench interpreter --no-run 2>&1) || fail "$built"
bench=$(printf '%s\n' "$built" | sed -n 's/.*Executable benches\/interpreter\.rs (\(.*\))$/\1/p')
[ -x "$bench" ] || fail "no executable in what cargo said: $built"

# Instructions of N exchanges of a case.
instructions() {
    log=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null \
        "$bench" --count "$1" "$2" "$3" 2>&1) || fail "$log"
    count=$(printf '%s\n' "$log" | sed -n 's/.*Collected : \([0-9]*\).*/\1/p')
    [ -n "$count" ] || fail "no count in what valgrind said: $log"
    echo "$count"
}

# Instructions for each message.
each() {
    less=$(instructions "$1" "$2" "$few")
    more=$(instructions "$1" "$2" "$many")
    awk "BEGIN { print ($more - $less) / (($many - $few) * $messages) }"
}

[ $# -gt 0 ] || set -- $("$bench" --cases)
printf '%-20s %11s %8s %11s\n' "instructions/message" interpreter "by hand" difference
for case in "$@"; do
    interpreter=$(each interpreter "$case")
    hand=$(each by-hand "$case")
    awk "BEGIN { printf \"%-20s %11.1f %8.1f %11.1f\n\", \"$case\", $interpreter, $hand, $interpreter - $hand }"
done
