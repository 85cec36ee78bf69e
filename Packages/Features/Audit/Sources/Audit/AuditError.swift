public import Capabilities

/// Why the audit log could not be sealed or read.
///
/// Errors of the database itself are a `StorageError`.
public struct AuditError: Failure {
    /// The stable reason; compare it with `==`.
    public let kind: Kind
    /// What happened and what to do next.
    public let message: String

    public var code: String { kind.description }
    public var exit: ExitCode {
        switch kind {
        case .noKey: .denied
        case .mark: .usage
        default: .failed
        }
    }

    private init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// A stable reason for a failure; new ones may be added.
    public typealias Kind = FailureKind<AuditError>

    static let noKey = AuditError(
        .noKey,
        "the key that sealed the audit log is not in the vault (\(SealKey.name)); restore the vault from a backup, or "
            + "move audit.db away to begin a new log")

    static let mark = AuditError(
        .mark, "invalid --contains: it needs a number, a colon and a digest, as 'martlet audit verify' prints them")

    static func noEnd(_ path: String) -> AuditError {
        AuditError(
            .noEnd,
            "\(PlainText.escape(path)) does not say where the log ends, because somebody has changed it; restore it "
                + "from a backup, or move it away to begin a new log")
    }
}

/// The reasons of an `AuditError`.
extension FailureKind<AuditError> {
    /// The key of the seals is not there.
    public static var noKey: Self { "audit.no-key" }
    /// The entry to look for is not named as `audit.verify` prints it.
    public static var mark: Self { "audit.mark" }
    /// The record of where the log ends is missing.
    public static var noEnd: Self { "audit.no-end" }
}
