//! Go's integer types.

/// Go's signed integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntKind {
    /// 64 bits here.
    Int,
    /// 8 bits.
    Int8,
    /// 16 bits.
    Int16,
    /// 32 bits; a rune.
    Int32,
    /// 64 bits.
    Int64,
}

impl IntKind {
    /// The type's name.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Int => "int",
            Self::Int8 => "int8",
            Self::Int16 => "int16",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
        }
    }
}

/// Go's unsigned integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UintKind {
    /// 64 bits here.
    Uint,
    /// 8 bits; a byte.
    Uint8,
    /// 16 bits.
    Uint16,
    /// 32 bits.
    Uint32,
    /// 64 bits.
    Uint64,
    /// 64 bits here.
    Uintptr,
}

impl UintKind {
    /// The type's name.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Uint => "uint",
            Self::Uint8 => "uint8",
            Self::Uint16 => "uint16",
            Self::Uint32 => "uint32",
            Self::Uint64 => "uint64",
            Self::Uintptr => "uintptr",
        }
    }
}
