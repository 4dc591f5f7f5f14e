//! How much memory there is, and how much of it request bodies may use.
//!
//! Not the crate `sysinfo`: it reads much more of the system than the one file that is needed.

use std::path::{Path, PathBuf};

const MIB: u64 = 1 << 20;
/// The limits of [`body_bytes`]. The minimum holds a largest body, and leaves a quarter for small ones.
const BODIES: (u64, u64) = (96 * MIB, 512 * MIB);

/// The default limit for the bytes of all bodies, for a service with this much memory: an eighth. The parsed values of
/// a body take several times its size.
#[must_use]
pub fn body_bytes(available_bytes: u64) -> u64 {
    (available_bytes / 8).clamp(BODIES.0, BODIES.1)
}

/// The memory that this process and its children may use: the smallest limit of the machine and of its control groups
/// (version 1 or 2). The largest number if none of them can be read.
#[must_use]
pub fn available_bytes() -> u64 {
    let machine = std::fs::read_to_string("/proc/meminfo");
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limits = groups.lines().flat_map(limit_files);
    let limits = limits.filter_map(|file| std::fs::read_to_string(file).ok()?.trim().parse().ok());
    let machine = machine.ok().and_then(|text| total(&text));
    limits.chain(machine).min().unwrap_or(u64::MAX)
}

/// `MemTotal:       24684096 kB`.
fn total(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// The files with the limits for a line of `/proc/self/cgroup`: of its group, and of the groups around it. A container
/// may see its own group as the outermost.
fn limit_files(line: &str) -> Vec<PathBuf> {
    let mut parts = line.splitn(3, ':').skip(1);
    let (Some(controllers), Some(group)) = (parts.next(), parts.next()) else {
        return Vec::new();
    };
    let (root, file) = match controllers {
        "" => ("/sys/fs/cgroup", "memory.max"),
        _ if controllers.split(',').any(|name| name == "memory") => {
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
        }
        _ => return Vec::new(),
    };
    let group = Path::new(group.trim_start_matches('/'));
    let groups = group.ancestors();
    groups
        .map(|group| Path::new(root).join(group).join(file))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_take_an_eighth_within_bounds() {
        let shares =
            [256, 1024, 2048, 64 * 1024].map(|mebibytes| body_bytes(mebibytes * MIB) / MIB);
        assert_eq!(shares, [96, 128, 256, 512]);
    }

    #[test]
    fn the_limits_of_a_group_are_those_of_all_around_it() {
        assert_eq!(
            limit_files("0::/a/b"),
            [
                "/sys/fs/cgroup/a/b/memory.max",
                "/sys/fs/cgroup/a/memory.max",
                "/sys/fs/cgroup/memory.max"
            ]
            .map(PathBuf::from)
        );
        assert_eq!(
            limit_files("4:memory:/"),
            [PathBuf::from("/sys/fs/cgroup/memory/memory.limit_in_bytes")]
        );
        assert_eq!(limit_files("8:pids:/a"), Vec::<PathBuf>::new());
    }
}
