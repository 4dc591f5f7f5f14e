//! What a template of a plan is for.

/// An action that a plan has a template for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// Makes the objects of an instance.
    Provision,
    /// Says how far an operation is.
    Status,
    /// Makes or edits the objects of a binding.
    Bind,
    /// Takes the edits of a binding back.
    Unbind,
    /// Names the live objects that the other templates see.
    Sources,
    /// Chooses the clusters that an instance may be in.
    ClusterSelector,
}

impl Action {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Provision,
        Self::Status,
        Self::Bind,
        Self::Unbind,
        Self::Sources,
        Self::ClusterSelector,
    ];

    /// The name in plans.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Provision => "provision",
            Self::Status => "status",
            Self::Bind => "bind",
            Self::Unbind => "unbind",
            Self::Sources => "sources",
            Self::ClusterSelector => "clusterSelector",
        }
    }

    /// The action of this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.name() == name)
    }

    /// Whether a plan must have a template for it.
    #[must_use]
    pub fn is_required(self) -> bool {
        !matches!(self, Self::Unbind | Self::ClusterSelector)
    }

    /// Whether a chart can be its template.
    #[must_use]
    pub fn takes_charts(self) -> bool {
        matches!(self, Self::Provision | Self::Bind)
    }
}
