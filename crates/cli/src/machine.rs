//! What the machine says about memory.

/// The most memory this process has held, in bytes.
pub(crate) fn peak_rss_bytes() -> u64 {
    kilobytes(&read("/proc/self/status"), "VmHWM:").unwrap_or(0)
}

/// What this machine is called.
pub(crate) fn host_name() -> String {
    store::Owner::this_process(0).host
}

/// How many bytes of memory can be had: what the system says is free, or what the container we are
/// in leaves, whichever is less.
pub(crate) fn available_memory() -> u64 {
    let free = kilobytes(&read("/proc/meminfo"), "MemAvailable:").unwrap_or(u64::MAX);
    free.min(left_in_container().unwrap_or(u64::MAX))
}

/// The container's limit less what it uses. Files it has read and may forget do not count as used.
fn left_in_container() -> Option<u64> {
    let groups = read("/proc/self/cgroup");
    let of = |prefix: &str| groups.lines().find_map(|line| line.split_once(prefix)).map(|it| it.1);
    let (folder, limit, used, forgettable) = match of(":memory:") {
        Some(group) => (
            format!("/sys/fs/cgroup/memory{group}"),
            "memory.limit_in_bytes",
            "memory.usage_in_bytes",
            "total_inactive_file",
        ),
        None => {
            let group = of("::").unwrap_or("/");
            (format!("/sys/fs/cgroup{group}"), "memory.max", "memory.current", "inactive_file")
        }
    };
    let number = |name: &str| read(&format!("{folder}/{name}")).trim().parse::<u64>().ok();
    let stat = read(&format!("{folder}/memory.stat"));
    let forgettable =
        stat.lines().find_map(|line| line.strip_prefix(forgettable)?.trim().parse::<u64>().ok());
    let used = number(used)?.saturating_sub(forgettable.unwrap_or(0));
    Some(number(limit)?.saturating_sub(used))
}

/// A line such as `MemAvailable:   123 kB`, in bytes.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()? * 1024)
}

/// A file of the system, empty where it is not there.
fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_says_something_sensible() {
        assert!(peak_rss_bytes() > 1 << 20);
        assert!((1 << 20..1 << 50).contains(&available_memory()));
        assert_eq!(kilobytes("A:  5 kB\nB: 7 kB\n", "B:"), Some(7 << 10));
    }
}
