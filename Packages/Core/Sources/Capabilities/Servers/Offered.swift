public import JSON

/// The answer to a request that not every server understands.
///
/// ```swift
/// switch try await server.usage(by: .day) {
/// case .value(let sums): show(sums)
/// case .notOffered: hide()                       // the server has no such route; nothing is wrong with it
/// }
/// ```
public enum Offered<Value: Sendable>: Sendable {
    /// The server has it.
    case value(Value)
    /// The server has no such route. What was asked for may well exist there.
    case notOffered

    /// Nil if the server does not offer it.
    public var value: Value? { if case .value(let value) = self { value } else { nil } }

    /// Whether the server offers it.
    public var isOffered: Bool { value != nil }

    /// The same answer with another value.
    public func map<Other: Sendable>(_ change: (Value) throws -> Other) rethrows -> Offered<Other> {
        switch self {
        case .value(let value): .value(try change(value))
        case .notOffered: .notOffered
        }
    }

    /// The value, for a caller that cannot do without it.
    ///
    /// - Parameter feature: what is missing, in the plural, such as `tool servers`.
    /// - Throws: `AgentServerError` `.notOffered`.
    public func required(_ feature: String, of server: ServerID) throws(AgentServerError) -> Value {
        guard case .value(let value) = self else { throw .notOffered(feature, by: server) }
        return value
    }
}

extension Offered: Equatable where Value: Equatable {}
extension Offered: Hashable where Value: Hashable {}

/// Rows of a list, which a server may have more of.
public struct AgentList<Row: Sendable>: Sendable {
    /// The rows that were read, in the order of the server.
    public var rows: [Row]
    /// Whether the server has more rows than were read.
    public var isCut: Bool

    /// By default the list is complete.
    public init(_ rows: [Row], isCut: Bool = false) {
        self.rows = rows
        self.isCut = isCut
    }
}

extension AgentList: Equatable where Row: Equatable {}
extension AgentList: Hashable where Row: Hashable {}

/// What callers of an agent server may have to react to, whichever way the server is reached. Other errors are those of
/// the implementation.
public struct AgentServerError: Failure, Hashable {
    /// The stable reason, compared with `==`.
    public let kind: Kind
    /// What the error is about; nil for a feature that the server does not have.
    public let subject: AgentSubject?
    public let message: String

    public var code: String { kind.description }
    public var exit: ExitCode { [.notFound, .notOffered].contains(kind) ? .usage : .failed }
    public var details: JSONObject { subject.map { ["subject": .string($0.rawValue)] } ?? [:] }

    /// A stable reason for a failure; new ones may be added.
    public typealias Kind = FailureKind<AgentServerError>

    /// The server offers such things, but not this one.
    ///
    /// - Parameter told: the server's own words, for something that the caller named in another way than by its id.
    public static func notFound(
        _ subject: AgentSubject, _ id: String, at server: ServerID, told: String? = nil
    ) -> AgentServerError {
        let plain = "\(name(of: server)) has no \(subject.words) \(shown(id)); it may have been removed"
        return AgentServerError(
            kind: .notFound, subject: subject, message: told.map { "\(name(of: server)): \($0)" } ?? plain)
    }

    /// Something runs there, such as a turn of a session that is to be deleted.
    public static func busy(_ subject: AgentSubject, _ id: String, at server: ServerID) -> AgentServerError {
        AgentServerError(
            kind: .busy, subject: subject,
            message: "the \(subject.words) \(shown(id)) of \(name(of: server)) is in use; wait for it or stop it")
    }

    /// It is no longer what the caller had read.
    public static func changed(_ subject: AgentSubject, _ id: String, at server: ServerID) -> AgentServerError {
        AgentServerError(
            kind: .changed, subject: subject,
            message: "the \(subject.words) \(shown(id)) of \(name(of: server)) has changed; read it again first")
    }

    /// It is larger than what is read at once.
    public static func tooLarge(_ subject: AgentSubject, _ id: String, at server: ServerID) -> AgentServerError {
        AgentServerError(
            kind: .tooLarge, subject: subject,
            message: "the \(subject.words) \(shown(id)) of \(name(of: server)) is larger than "
                + "\(ByteCount(AgentFileContent.most).words); read it in parts")
    }

    /// The server has no such feature.
    public static func notOffered(_ feature: String, by server: ServerID) -> AgentServerError {
        AgentServerError(
            kind: .notOffered, subject: nil,
            message: "\(name(of: server)) offers no \(feature); use a newer gateway, such as 'martlet gateway serve'")
    }

    private static func name(of server: ServerID) -> String { PlainText.escape(server.name, limit: 100) }
    private static func shown(_ id: String) -> String { PlainText.escape(id, limit: 100).quotedForMessage }
}

/// The reasons of an `AgentServerError`.
extension FailureKind<AgentServerError> {
    /// There is no such project, session, file or other thing at the server.
    public static var notFound: Self { "agent.not-found" }
    /// Something runs there and has to end first.
    public static var busy: Self { "agent.busy" }
    /// It has changed since the caller read it.
    public static var changed: Self { "agent.changed" }
    /// It is larger than what is read at once.
    public static var tooLarge: Self { "agent.too-large" }
    /// The server does not have this feature.
    public static var notOffered: Self { "agent.not-offered" }
}

/// What an agent server has.
public enum AgentSubject: String, Sendable, Hashable, CaseIterable {
    case project, session, approval, file, model
    /// A source of tools.
    case toolServer = "server"
    case tool

    var words: String {
        switch self {
        case .approval: "open question"
        case .toolServer: "tool server"
        default: rawValue
        }
    }

    /// The subject that a gateway names in an error code, such as `session_not_found`.
    public init?(errorCode: String) {
        if errorCode == "unknown_tool" {
            self = .tool
            return
        }
        let ending = "_not_found"
        guard errorCode.hasSuffix(ending) else { return nil }
        self.init(rawValue: String(errorCode.dropLast(ending.count)))
    }
}
