public import Capabilities

/// Why the history could not be read, changed or imported.
///
/// Errors of the database itself are `StorageError`.
public struct HistoryError: Failure {
    /// The stable reason, to be compared with `==`.
    public let kind: Kind
    /// A sentence for a person: what happened and what to do next.
    public let message: String
    public let cause: (any Error)?

    public var code: String { kind.description }
    public var exit: ExitCode { [.notFound, .ambiguous].contains(kind) ? .usage : .failed }

    init(_ kind: Kind, _ message: String, cause: (any Error)? = nil) {
        self.kind = kind
        self.message = message
        self.cause = cause
    }

    /// A stable reason for a failure; new ones may be added.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The dotted form for programs: "history.not-found".
        public let description: String

        private init(_ description: String) {
            self.description = description
        }

        /// There is no such conversation or message.
        public static let notFound = Kind("history.not-found")
        /// Several conversations match.
        public static let ambiguous = Kind("history.ambiguous")
        /// The imported document is not valid; the message says where.
        public static let invalid = Kind("history.invalid")
        /// A stored message cannot be read.
        public static let damaged = Kind("history.damaged")
        /// An answer arrived but could not be stored.
        public static let notSaved = Kind("history.not-saved")
    }
}

extension HistoryError {
    static func missing(_ id: ConversationID) -> HistoryError {
        HistoryError(
            .notFound, "there is no conversation \(PlainText.escape(id.rawValue)); 'martlet chat list' shows all")
    }

    static func missing(_ id: MessageID) -> HistoryError {
        HistoryError(.notFound, "the conversation has no message \(id.rawValue); show it to see its messages")
    }
}
