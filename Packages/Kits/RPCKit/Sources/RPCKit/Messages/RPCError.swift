public import Capabilities
public import JSON

/// An error as it is sent to the other side.
public struct RPCError: Error, Sendable, Hashable {
    /// A number that the protocol defines.
    public let code: Int
    /// What happened, for people.
    public let message: String
    /// More about it: any value.
    public let data: JSON?

    /// An error to send, or one that has come.
    public init(_ code: Int, _ message: String, data: JSON? = nil) {
        self.code = code
        self.message = message
        self.data = data
    }

    /// The text is not JSON.
    public static let parseError = -32700
    /// The value is not a request.
    public static let invalidRequest = -32600
    /// There is no such method.
    public static let methodNotFound = -32601
    /// The method cannot take these parameters.
    public static let invalidParams = -32602
    /// The method has failed.
    public static let internalError = -32603

    /// The error that a peer gets for a method that nobody offers.
    public static func noMethod(_ method: String) -> RPCError {
        RPCError(methodNotFound, "there is no method \(PlainText.escape(method))")
    }

    var json: JSON {
        var members: JSONObject = ["code": .int(code), "message": .string(message)]
        members["data"] = data
        return .object(members)
    }

    /// Reads an error. What a peer leaves out or misspells is made up for, since its message matters.
    init(_ json: JSON) {
        code = json["code"]?.int ?? json["code"]?.double.flatMap { Int(exactly: $0) } ?? Self.internalError
        message = json["message"]?.string ?? json.string ?? json.text()
        data = json["data"]
    }
}

/// Why a call has no result.
public struct RPCFailure: Failure, Hashable {
    /// The stable reasons.
    public enum Kind: String, Sendable {
        /// The peer answered with an error.
        case refused
        /// The connection ended.
        case closed
        /// The peer did not answer in time.
        case timedOut = "timed-out"
        /// A limit of ours was exceeded, which the message names.
        case limit
        /// What came is not JSON-RPC.
        case malformed
        /// The peer wants a credential, or another one.
        case denied
        /// The peer no longer knows what was agreed on, and has not looked at the request.
        case forgotten
    }

    /// The reason.
    public let kind: Kind
    public let message: String
    /// The error of the peer, if it sent one.
    public let error: RPCError?

    /// A failure with a sentence for a person.
    public init(_ kind: Kind, _ message: String, error: RPCError? = nil) {
        self.kind = kind
        self.message = message
        self.error = error
    }

    public var code: String { "rpc.\(kind.rawValue)" }

    public var exit: ExitCode {
        switch kind {
        case .refused, .limit, .malformed: .failed
        case .denied: .denied
        case .closed, .timedOut, .forgotten: .unreachable
        }
    }

    public var details: JSONObject {
        guard let error else { return [:] }
        var details: JSONObject = ["rpcCode": .int(error.code)]
        details["data"] = error.data
        return details
    }
}
