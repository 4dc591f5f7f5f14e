//! Divides the available memory so that it suffices in the worst case.
//!
//! ```text
//! server + bodies + expansions × (memory + stack) + sessions × (memory + reserve)  ≤  what there is
//! ```
//!
//! Settings that the operator leaves out are derived from the memory of the container, or of the machine. The
//! operator's own settings are kept. If they need too much memory, the service does not start.

use common::memory::body_bytes;

use crate::process::STACK_BYTES;

const MIB: u64 = 1 << 20;

/// The server without bodies, and the warm Python: 65 MiB under load.
const SERVER: u64 = 128 * MIB;
/// Extra memory of a Python process beyond the limit of its templates, for the report of an exhausted limit.
const RESERVE: u64 = 48 * MIB;
/// More at the same time than this would only wait for each other.
const MOST_AT_ONCE: usize = 16;
/// With fewer at the same time than this, smaller limits per process serve better.
const FEW_AT_ONCE: usize = 3;
/// Memory of an expansion and of its Python templates. The first pair that fits is used.
const SIZES: [(u64, u64); 4] = [
    (512 * MIB, 256 * MIB),
    (256 * MIB, 256 * MIB),
    (192 * MIB, 128 * MIB),
    (128 * MIB, 128 * MIB),
];

/// The settings of the operator.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemorySettings {
    pub expansions: Option<usize>,
    pub expansion_bytes: Option<u64>,
    pub sessions: Option<usize>,
    pub template_bytes: Option<u64>,
    pub body_bytes: Option<u64>,
}

/// The division of the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    pub available_bytes: u64,
    pub body_bytes: u64,
    /// Expansions at the same time, and the memory of each.
    pub expansions: usize,
    pub expansion_bytes: u64,
    /// Python processes at the same time, and the memory of the templates in each.
    pub sessions: usize,
    pub template_bytes: u64,
}

/// The memory does not suffice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is not enough memory: {0}; lower --max-expansions, --expansion-memory, --max-sessions, --template-memory or --max-body-memory, or give the service more memory"
)]
pub struct TooLittle(Plan);

impl Plan {
    pub fn new(available_bytes: u64, settings: MemorySettings) -> Result<Self, TooLittle> {
        let plans = SIZES.map(|size| Self::of_size(available_bytes, settings, size));
        let enough = |plan: &&Plan| plan.adds_up() && plan.expansions >= FEW_AT_ONCE;
        let last = plans[SIZES.len() - 1];
        let plan = plans.iter().find(enough).copied();
        let plan = plan.or_else(|| plans.iter().rev().find(|plan| plan.adds_up()).copied());
        plan.ok_or(TooLittle(last))
    }

    fn of_size(
        available_bytes: u64,
        settings: MemorySettings,
        (expansion, template): (u64, u64),
    ) -> Self {
        let mut plan = Self {
            available_bytes,
            // Answers count among the bodies too.
            body_bytes: settings
                .body_bytes
                .unwrap_or_else(|| body_bytes(available_bytes)),
            expansions: settings.expansions.unwrap_or(0),
            expansion_bytes: settings.expansion_bytes.unwrap_or(expansion),
            sessions: settings.sessions.unwrap_or(0),
            template_bytes: settings.template_bytes.unwrap_or(template),
        };
        let left = available_bytes.saturating_sub(plan.needed_bytes());
        let fit = |unit: u64| {
            let fit = usize::try_from(left / unit.max(1)).unwrap_or(MOST_AT_ONCE);
            fit.clamp(1, MOST_AT_ONCE)
        };
        let (expansion, session) = (plan.of_one_expansion(), plan.of_one_session());
        match (settings.expansions, settings.sessions) {
            (None, None) => {
                plan.expansions = fit(expansion + session);
                plan.sessions = plan.expansions;
            }
            (None, Some(_)) => plan.expansions = fit(expansion),
            (Some(_), None) => plan.sessions = fit(session).min(plan.expansions),
            (Some(_), Some(_)) => {}
        }
        plan
    }

    fn of_one_expansion(&self) -> u64 {
        self.expansion_bytes + STACK_BYTES as u64
    }

    fn of_one_session(&self) -> u64 {
        self.template_bytes + RESERVE
    }

    /// The total in the worst case.
    pub fn needed_bytes(&self) -> u64 {
        let expansions = self.of_one_expansion() * self.expansions as u64;
        let sessions = self.of_one_session() * self.sessions as u64;
        SERVER + self.body_bytes + expansions + sessions
    }

    fn adds_up(&self) -> bool {
        self.needed_bytes() <= self.available_bytes
    }
}

impl std::fmt::Display for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} expansions of {} MiB, {} Python processes of {} MiB, {} MiB of bodies and {} MiB of the server's own need {} of {} MiB",
            self.expansions,
            self.of_one_expansion() / MIB,
            self.sessions,
            self.of_one_session() / MIB,
            self.body_bytes / MIB,
            SERVER / MIB,
            self.needed_bytes() / MIB,
            self.available_bytes / MIB,
        )
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GIB: u64 = 1 << 30;

    #[test]
    fn more_memory_serves_more_at_once() {
        let at_once = |available| {
            Plan::new(available, MemorySettings::default())
                .unwrap()
                .expansions
        };
        let all = [GIB, 2 * GIB, 4 * GIB, 8 * GIB, 64 * GIB].map(at_once);
        assert_eq!(all, [2, 3, 3, 8, 16]);
    }

    #[test]
    fn what_cannot_add_up_is_refused_with_its_numbers() {
        let settings = MemorySettings {
            sessions: Some(8),
            template_bytes: Some(170 * MIB),
            ..MemorySettings::default()
        };
        let error = Plan::new(GIB, settings).unwrap_err().to_string();
        assert!(
            error.contains("8 Python processes of 218 MiB") && error.contains("of 1024 MiB"),
            "{error}"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_plan_adds_up_and_keeps_what_was_set(
            available in 0..128 * GIB,
            expansions in prop::option::of(1usize..40),
            sessions in prop::option::of(1usize..40),
            template in prop::option::of(32 * MIB..2 * GIB),
            expansion in prop::option::of(32 * MIB..2 * GIB),
        ) {
            let settings = MemorySettings {
                expansions,
                expansion_bytes: expansion,
                sessions,
                template_bytes: template,
                body_bytes: None,
            };
            if let Ok(plan) = Plan::new(available, settings) {
                prop_assert!(plan.needed_bytes() <= available);
                prop_assert!(plan.expansions > 0 && plan.sessions > 0);
                prop_assert_eq!(expansions.unwrap_or(plan.expansions), plan.expansions);
                prop_assert_eq!(sessions.unwrap_or(plan.sessions), plan.sessions);
                prop_assert_eq!(template.unwrap_or(plan.template_bytes), plan.template_bytes);
                prop_assert_eq!(expansion.unwrap_or(plan.expansion_bytes), plan.expansion_bytes);
            }
        }
    }
}
