# While a suite runs, its cluster is nobody else's. It holds a lock; whoever was started by it may do
# anything, others may look.

suite_lock=$place/suite.lock

leave_suites_alone() {
    [ ! -e "$suite_lock" ] || flock --nonblock "$suite_lock" true || is_within_suite ||
        fail "a suite is at work on the cluster; wait until it ends (it holds $suite_lock)"
}

# Whether one of those who started us has the lock open.
is_within_suite() {
    local pid=$$
    while ((pid > 1)); do
        [ -z "$(find -L "/proc/$pid/fd" -samefile "$suite_lock" 2>/dev/null)" ] || return 0
        pid=$(sed -n 's/^PPid:\t//p' "/proc/$pid/status")
    done
    return 1
}
