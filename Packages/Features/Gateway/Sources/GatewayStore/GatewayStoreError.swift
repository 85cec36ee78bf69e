public import Capabilities

/// Why the gateway's records could not be read or changed.
///
/// What the database itself refuses is a `StorageError`.
public struct GatewayStoreError: Failure {
    /// The stable reason, to be compared with `==`.
    public let kind: Kind
    /// A sentence for a person: what happened and what to do next.
    public let message: String

    public var code: String { kind.description }
    public var exit: ExitCode { [.notFound, .invalid].contains(kind) ? .usage : .failed }

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// A stable reason for a failure; new ones may be added.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The dotted form for programs: "gateway.busy".
        public let description: String

        private init(_ description: String) {
            self.description = description
        }

        /// There is no such project or session.
        public static let notFound = Kind("gateway.not-found")
        /// A turn of the session runs, in this process or another.
        public static let busy = Kind("gateway.busy")
        /// A turn was ended, or taken for dead, before it was done.
        public static let leaseLost = Kind("gateway.lease-lost")
        /// What was to be stored makes no sense; the message says why.
        public static let invalid = Kind("gateway.invalid")
    }
}

extension GatewayStoreError {
    static func noProject(_ id: String) -> GatewayStoreError {
        GatewayStoreError(.notFound, "there is no project \(name(id)); 'martlet gateway project list' shows them")
    }

    static func several(_ name: String, _ ids: [String]) -> GatewayStoreError {
        GatewayStoreError(
            .invalid,
            "\(ids.count) projects are called \(Self.name(name)); name one by its id: "
                + ids.joined(separator: ", "))
    }

    /// No session has this id.
    public static func noSession(_ id: String) -> GatewayStoreError {
        GatewayStoreError(.notFound, "there is no session \(name(id)); 'martlet gateway session list' shows them")
    }

    static func clientExists(_ name: String) -> GatewayStoreError {
        GatewayStoreError(
            .invalid,
            "there is a token \(Self.name(name)) already; give the new one another name, or revoke the old one")
    }

    static let tokenExists = GatewayStoreError(
        .invalid, "another client has this token already; each needs its own")

    public static func noClient(_ name: String, known: [String]) -> GatewayStoreError {
        GatewayStoreError(
            .notFound,
            "there is no token \(Self.name(name))\(Suggestion.text(for: name, among: known)); "
                + "'martlet gateway token list' shows them")
    }

    static func busy(_ session: String) -> GatewayStoreError {
        GatewayStoreError(.busy, "a turn of session \(name(session)) is running; wait for its end or stop it")
    }

    static func leaseLost(_ session: String) -> GatewayStoreError {
        GatewayStoreError(.leaseLost, "this turn of session \(name(session)) has ended already; begin another one")
    }

    /// Ids come from clients.
    private static func name(_ id: String) -> String { PlainText.escape(id).quotedForMessage }
}
