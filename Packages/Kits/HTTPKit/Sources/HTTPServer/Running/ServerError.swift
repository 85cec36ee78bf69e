public import Capabilities
import Glibc

/// Why the server could not start.
public struct ServerError: Failure {
    /// The stable reason, to be compared with `==`.
    public let kind: Kind
    /// What happened and what to do next.
    public let message: String
    public let cause: (any Error)?

    init(_ kind: Kind, _ message: String, cause: (any Error)? = nil) {
        self.kind = kind
        self.message = message
        self.cause = cause
    }

    public var code: String { kind.description }

    public var exit: ExitCode { kind == .routes ? .failed : .usage }

    /// A stable reason for a failure; new ones may be added.
    public typealias Kind = FailureKind<ServerError>

    static func listen(_ address: String, _ number: Int32) -> ServerError {
        let advice = number == EADDRINUSE ? "; stop the program that listens there, or choose another port" : ""
        return ServerError(.listen, "cannot listen at \(address): \(SystemError(number))\(advice)")
    }
}

/// The reasons of a `ServerError`.
extension FailureKind<ServerError> {
    /// It could not listen at an address: in use, not of this machine, or not allowed.
    public static var listen: Self { "server.listen" }
    /// The configuration is contradictory.
    public static var configuration: Self { "server.configuration" }
    /// The routes conflict, which is an error in the program.
    public static var routes: Self { "server.routes" }
}
