/// What a check of the audit log found.
public struct AuditVerdict: Sendable, Hashable {
    /// The number of entries, with those that only say how another one ended.
    public var entries = 0
    /// The number of the newest entry; 0 for none.
    public var newest = 0
    /// The digest of the newest entry, which depends on all entries before it.
    public var digest = ""
    /// Every entry up to this number is covered by a seal that only this user's key can make; 0 for none.
    public var sealedThrough = 0
    /// Whether the key was there, so that the seals could be checked.
    public var isKeyKnown = false
    /// The entries that were written without the key. A later seal covers them from then on.
    public var unsealed: [ClosedRange<Int>] = []
    /// The number of entries of which the content was removed, as the log says.
    public var erased = 0
    /// What differs from what was written, up to a limit. Empty if the log is whole.
    public var problems: [AuditProblem] = []

    /// Nothing was found yet.
    public init() {}
}

/// Something in the audit log that is not what was written.
public struct AuditProblem: Sendable, Hashable {
    /// What was done to the log.
    public enum Kind: String, Choice, Hashable {
        /// The entry is not what was written there: it was changed, exchanged with another or inserted.
        case changed
        /// Entries are missing.
        case removed
        /// The end is missing.
        case cut
        /// The seal of the entry is not one of this user's key.
        case seal
        /// The content of the entry is missing, and no entry says that it was removed.
        case erased
    }

    /// What was done to the log.
    public var kind: Kind
    /// The number of the first entry concerned.
    public var number: Int
    /// What differs, as a sentence.
    public var message: String

    /// A finding at an entry.
    public init(_ kind: Kind, at number: Int, _ message: String) {
        self.kind = kind
        self.number = number
        self.message = message
    }
}
