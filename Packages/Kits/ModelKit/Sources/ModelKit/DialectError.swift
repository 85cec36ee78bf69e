public import Capabilities
public import JSON

/// Why there is no valid answer of a model.
public struct DialectError: Failure, Hashable {
    /// The stable reason, to be compared with `==`.
    public let kind: Kind
    public let message: String
    /// The server's own message, if there is one.
    public let refusal: ServerRefusal?

    /// - Parameter message: what happened and what to do next, in one sentence without a final stop.
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
    public typealias Kind = FailureKind<DialectError>
}

/// The reasons of a `DialectError`.
extension FailureKind<DialectError> {
    /// The stream ended before the server marked the end.
    public static var cut: Self { "model.cut" }
    /// The answer has neither text nor calls.
    public static var empty: Self { "model.empty" }
    /// The server reported a failure inside its answer.
    public static var failed: Self { "model.failed" }
    /// The response does not follow the dialect.
    public static var malformed: Self { "model.malformed" }
    /// A limit was exceeded: of text, calls, or one event.
    public static var tooLarge: Self { "model.too-large" }
    /// The request contains something that this dialect cannot express.
    public static var unsupported: Self { "model.unsupported" }
}

extension DialectError {
    package static func failed(_ refusal: ServerRefusal) -> DialectError {
        let words = refusal.message.isEmpty ? "it gave no reason" : refusal.message
        return DialectError(.failed, "the server failed while answering: \(words)", refusal: refusal)
    }

    package static func malformed(_ data: [UInt8]) -> DialectError {
        let words = PlainText.excerpt(String(decoding: data.prefix(100), as: UTF8.self))
        return DialectError(
            .malformed, "unexpected response from the server: “\(words)”; check its address and its log")
    }

    package static var cut: DialectError {
        DialectError(.cut, "the stream ended before the answer was complete; try again")
    }

    package static var empty: DialectError {
        DialectError(
            .empty, "the server's answer contains neither text nor tool calls; try again, or check the server's log")
    }

    /// For a part of a request that the server does not accept. `what` is a plural.
    package static func untaken(_ what: String) -> DialectError {
        DialectError(.unsupported, "this server does not accept \(what); remove them or use another server")
    }
}

/// The content of one stream event, or of a whole answer.
package enum AnswerObject {
    /// The size limit of one event.
    package static let largest = 32 << 20

    /// Nil for JSON that is not an object. With `mayBeOther`, also for data that is not JSON, in unknown events.
    package static func read(_ data: [UInt8], mayBeOther: Bool = false) throws(DialectError) -> JSONObject? {
        guard data.count <= largest else {
            throw DialectError(.tooLarge, "the server sent more than \(largest >> 20) MiB at once; ask for less")
        }
        do {
            return try JSON(parsing: data, reading: .stream).object
        } catch {
            if mayBeOther { return nil }
            guard error.code == .depth else { throw .malformed(data) }
            throw DialectError(.tooLarge, "the server's answer is nested too deeply: \(error); rephrase the question")
        }
    }
}

extension PlainText {
    /// A server's message on one line, escaped and shortened for a sentence.
    package static func excerpt(_ text: String, _ limit: Int = 500) -> String {
        let start = String(String.UnicodeScalarView(text.unicodeScalars.prefix(limit)))
        // Line ends and indentation mean nothing in the middle of a sentence.
        let escaped = escape(start.split { $0.isNewline || $0 == "\t" }.joined(separator: " "))
        let scalars = escaped.unicodeScalars
        guard text.unicodeScalars.count > limit || scalars.count > limit else { return escaped }
        return String(String.UnicodeScalarView(scalars.prefix(limit - 1))) + "…"
    }
}
