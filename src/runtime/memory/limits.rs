//! How much memory there is: the machine's, or less where a cgroup says so.

use std::fs::read_to_string;
use std::path::{Path, PathBuf};

use once_cell::sync::Lazy;

/// Bytes that this process can have at most.
pub fn total() -> usize {
    static TOTAL: Lazy<usize> = Lazy::new(|| machine("MemTotal:").min(cgroup_limit().unwrap_or(usize::MAX)));
    *TOTAL
}

/// Bytes that are free now.
pub fn free() -> usize {
    let in_cgroup = cgroup().and_then(|group| {
        let used = number(&group.join("memory.current"))?;
        Some(cgroup_limit()?.saturating_sub(used))
    });
    machine("MemAvailable:").min(in_cgroup.unwrap_or(usize::MAX)).min(total())
}

/// A line of /proc/meminfo in bytes; without one there is no limit to know.
fn machine(line: &str) -> usize {
    let parse = |text: &str| -> Option<usize> {
        let rest = text.lines().find_map(|found| found.strip_prefix(line))?;
        rest.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()?.checked_mul(1024)
    };
    read_to_string("/proc/meminfo").ok().as_deref().and_then(parse).unwrap_or(usize::MAX)
}

/// The least `memory.max` from this process's cgroup up (version 2), or version 1's limit.
fn cgroup_limit() -> Option<usize> {
    let unified = cgroup().and_then(|group| {
        group.ancestors().take_while(|path| path.starts_with(ROOT)).filter_map(|path| number(&path.join(MAX))).min()
    });
    // Version 1 writes a number near 2^63 where there is no limit.
    let first = number(Path::new("/sys/fs/cgroup/memory/memory.limit_in_bytes")).filter(|limit| *limit < 1 << 60);
    unified.or(first)
}

const ROOT: &str = "/sys/fs/cgroup";
const MAX: &str = "memory.max";

fn cgroup() -> Option<PathBuf> {
    let text = read_to_string("/proc/self/cgroup").ok()?;
    let path = text.lines().find_map(|line| line.strip_prefix("0::/"))?;
    Some(Path::new(ROOT).join(path))
}

fn number(file: &Path) -> Option<usize> {
    read_to_string(file).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_machine_has_memory() {
        assert!(super::total() > 16 << 20);
        assert!(super::total() < 1 << 60);
        assert!(super::free() <= super::total());
    }
}
