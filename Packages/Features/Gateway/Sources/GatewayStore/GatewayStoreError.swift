public import Capabilities

/// Why the gateway's records could not be read or changed.
///
/// Errors of the database itself are a `StorageError`.
public struct GatewayStoreError: Failure {
    /// The stable reason; compare it with `==`.
    public let kind: Kind
    /// A message for the user: what happened and what to do next.
    public let message: String

    public var code: String { kind.description }
    public var exit: ExitCode { [.notFound, .invalid].contains(kind) ? .usage : .failed }

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// A stable reason for a failure; new ones may be added.
    public typealias Kind = FailureKind<GatewayStoreError>
}

/// The reasons of a `GatewayStoreError`.
extension FailureKind<GatewayStoreError> {
    /// There is no such project or session.
    public static var notFound: Self { "gateway.not-found" }
    /// A turn of the session is running, in this process or another.
    public static var busy: Self { "gateway.busy" }
    /// A turn was ended, or considered dead, before it finished.
    public static var leaseLost: Self { "gateway.lease-lost" }
    /// The values to store are invalid; the message says why.
    public static var invalid: Self { "gateway.invalid" }
}

extension GatewayStoreError {
    static func noProject(_ id: String) -> GatewayStoreError {
        GatewayStoreError(.notFound, "there is no project \(name(id)); 'martlet gateway project list' lists them")
    }

    static func several(_ name: String, _ ids: [String]) -> GatewayStoreError {
        GatewayStoreError(
            .invalid,
            "\(ids.count) projects have the name \(Self.name(name)); use an id instead: "
                + ids.joined(separator: ", "))
    }

    /// No session has this id.
    public static func noSession(_ id: String) -> GatewayStoreError {
        GatewayStoreError(.notFound, "there is no session \(name(id)); 'martlet gateway session list' lists them")
    }

    static func clientExists(_ name: String) -> GatewayStoreError {
        GatewayStoreError(
            .invalid,
            "there is already a token \(Self.name(name)); use another name, or revoke the old token")
    }

    static let tokenExists = GatewayStoreError(
        .invalid, "another client already has this token; each client needs its own")

    /// No client has this name. The message suggests a similar one of those that are known.
    public static func noClient(_ name: String, known: [String]) -> GatewayStoreError {
        GatewayStoreError(
            .notFound,
            "there is no token \(Self.name(name))\(Suggestion.text(for: name, among: known)); "
                + "'martlet gateway token list' lists them")
    }

    static func busy(_ session: String) -> GatewayStoreError {
        GatewayStoreError(.busy, "a turn of session \(name(session)) is running; wait for it or stop it")
    }

    static func leaseLost(_ session: String) -> GatewayStoreError {
        GatewayStoreError(.leaseLost, "this turn of session \(name(session)) has already ended; start a new one")
    }

    /// Escapes an id, since ids come from clients.
    private static func name(_ id: String) -> String { PlainText.escape(id).quotedForMessage }
}
