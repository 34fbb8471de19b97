# Processes of the cluster. Each has a pid file, and a mark in its environment by which it is known
# to be ours even when a pid has been given to somebody else meanwhile.

mark=TRAINYARD_CLUSTER

# start NAME COMMAND...: runs a command that outlives this script.
start() {
    local name=$1
    shift
    mkdir -p "$log" "$pids"
    # 8 and 9 are locks of those who call us.
    env "$mark=$run" setsid "$@" >>"$log/$name.log" 2>&1 </dev/null 8>&- 9>&- &
    echo $! >"$pids/$name"
    disown
}

is_ours() { grep -qzsxF "$mark=$run" "/proc/$1/environ"; }

# A process that has ended and waits to be noticed has no environment, and counts as gone.
is_running() { [ -e "$pids/$1" ] && is_ours "$(cat "$pids/$1")"; }

# It loses its environment first, and its sockets when the last of its threads is over.
is_gone() {
    ! is_ours "$1" || return 1
    [ -n "$(head -c 1 "/proc/$1/environ" 2>/dev/null | tr '\0' ' ')" ] ||
        ! grep -qsE '^State:\s+[^ZX]|^Threads:\s+([2-9]|1[0-9])' "/proc/$1/status"
}

# Whatever listens to no polite word listens to this one; what a cluster has on disk is not kept.
kill_ours() {
    is_ours "$1" && kill -KILL "$1" 2>/dev/null
    until_true 60 "process $1 ends" is_gone "$1"
}

# stop NAME...
stop() {
    local name pid
    for name in "$@"; do
        [ -e "$pids/$name" ] || continue
        pid=$(cat "$pids/$name")
        kill_ours "$pid"
        rm -f "$pids/$name"
    done
}

# Every process with our mark, in whatever folder its cluster is: `PID FOLDER` a line.
marked_processes() {
    grep -aszHo "^$mark=.*" /proc/[0-9]*/environ | tr '\0' '\n' | sed -n "s|^/proc/\([0-9]*\)/environ:$mark=|\1 |p"
}
