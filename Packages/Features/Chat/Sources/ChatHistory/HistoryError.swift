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
    public typealias Kind = FailureKind<HistoryError>
}

/// The reasons of a `HistoryError`.
extension FailureKind<HistoryError> {
    /// There is no such conversation or message.
    public static var notFound: Self { "history.not-found" }
    /// Several conversations match.
    public static var ambiguous: Self { "history.ambiguous" }
    /// The imported document is not valid; the message says where.
    public static var invalid: Self { "history.invalid" }
    /// A stored message cannot be read.
    public static var damaged: Self { "history.damaged" }
    /// An answer arrived but could not be stored.
    public static var notSaved: Self { "history.not-saved" }
}

extension HistoryError {
    static func missing(_ id: ConversationID) -> HistoryError {
        HistoryError(
            .notFound, "there is no conversation \(PlainText.escape(id.rawValue)); 'martlet chat list' shows all")
    }

    static func taken(_ id: ConversationID) -> HistoryError {
        HistoryError(
            .invalid,
            "another conversation has the letters at the end of \(PlainText.escape(id.rawValue)); choose another id")
    }

    /// A deleted conversation gets no messages.
    public static func deleted(_ id: ConversationID) -> HistoryError {
        HistoryError(
            .notFound,
            "the conversation \(PlainText.escape(id.rawValue)) was deleted; 'martlet chat restore \(id.tag)' restores it"
        )
    }

    static func missing(_ id: MessageID) -> HistoryError {
        HistoryError(.notFound, "the conversation has no message \(id.rawValue); show it to see its messages")
    }
}
