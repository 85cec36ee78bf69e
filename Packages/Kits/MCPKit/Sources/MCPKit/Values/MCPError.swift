public import Capabilities
public import JSON
public import RPCKit

/// Why something with an MCP server failed.
public struct MCPError: Failure, Hashable {
    /// The stable reasons.
    public enum Kind: String, Sendable {
        /// The server answered with an error.
        case refused
        /// The server is gone, or was never there.
        case closed
        /// The server did not answer in time.
        case timedOut = "timed-out"
        /// A limit of ours was exceeded, which the message names.
        case limit
        /// What the server sent breaks the protocol.
        case malformed
        /// The server does not offer this, or speaks no revision that we do.
        case unsupported
        /// The server wants a credential, or another one.
        case denied
    }

    /// The reason.
    public let kind: Kind
    public let message: String
    /// The error of the server, if it sent one.
    public let error: RPCError?

    /// A failure with a sentence that names the server.
    public init(_ kind: Kind, _ message: String, error: RPCError? = nil) {
        self.kind = kind
        self.message = message
        self.error = error
    }

    init(_ failure: RPCFailure) {
        let kind: Kind =
            switch failure.kind {
            case .refused: .refused
            case .closed, .forgotten: .closed
            case .denied: .denied
            case .timedOut: .timedOut
            case .limit: .limit
            case .malformed: .malformed
            }
        self.init(kind, failure.message, error: failure.error)
    }

    public var code: String { "mcp.\(kind.rawValue)" }

    public var exit: ExitCode {
        switch kind {
        case .closed, .timedOut: .unreachable
        case .denied: .denied
        case .refused, .limit, .malformed, .unsupported: .failed
        }
    }

    public var details: JSONObject {
        guard let error else { return [:] }
        var details: JSONObject = ["rpcCode": .int(error.code)]
        details["data"] = error.data
        return details
    }

    /// The error codes that only modern servers use.
    enum Code {
        static let headerMismatch = -32020
        static let missingCapability = -32021
        static let unsupportedVersion = -32022
        static let urlElicitationRequired = -32042
        static let resourceNotFound = -32002
        static let modern = -32022 ... -32020
    }
}

/// A value of the protocol that cannot be read.
struct MCPMalformed: Error {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}
