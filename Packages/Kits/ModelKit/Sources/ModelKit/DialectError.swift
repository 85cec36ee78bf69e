public import Capabilities
public import JSON

/// Why an answer of a model is none.
public struct DialectError: Failure, Hashable {
    /// The stable reason, to be compared with `==`.
    public let kind: Kind
    public let message: String
    /// The server's own words, where it has said something.
    public let refusal: ServerRefusal?

    public init(_ kind: Kind, _ message: String, refusal: ServerRefusal? = nil) {
        self.kind = kind
        self.message = message
        self.refusal = refusal
    }

    public var code: String { kind.description }

    public var exit: ExitCode {
        switch kind {
        case .cut: .unreachable
        case .unsupported: .usage
        default: .failed
        }
    }

    public var details: JSONObject {
        var details: JSONObject = [:]
        if let type = refusal?.type { details["type"] = .string(type) }
        if let code = refusal?.code { details["server_code"] = .string(code) }
        return details
    }

    /// A stable reason for a failure; new ones may be added.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The dotted form for programs: `model.cut`.
        public let description: String

        private init(_ name: String) {
            description = "model.\(name)"
        }

        /// The stream ended before the server said that it was all.
        public static let cut = Kind("cut")
        /// The answer has neither text nor calls.
        public static let empty = Kind("empty")
        /// The server said inside of its answer that it failed.
        public static let failed = Kind("failed")
        /// What came is not what the dialect says.
        public static let malformed = Kind("malformed")
        /// More than is taken: text, calls, or one event.
        public static let tooLarge = Kind("too-large")
        /// The request asks for something that this dialect has no words for.
        public static let unsupported = Kind("unsupported")
    }
}
