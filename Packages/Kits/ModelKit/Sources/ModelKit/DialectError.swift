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

extension DialectError {
    package static func failed(_ refusal: ServerRefusal) -> DialectError {
        let words = refusal.message.isEmpty ? "it gives no reason" : refusal.message
        return DialectError(.failed, "the server failed while it answered: \(words)", refusal: refusal)
    }

    package static func malformed(_ data: [UInt8]) -> DialectError {
        let words = PlainText.excerpt(String(decoding: data.prefix(100), as: UTF8.self))
        return DialectError(
            .malformed, "the server sent what is no answer: “\(words)”; look at its address and its log")
    }

    package static var cut: DialectError {
        DialectError(.cut, "the stream ended before the server said that the answer was whole; ask again")
    }

    package static var empty: DialectError {
        DialectError(
            .empty, "the server's answer has neither text nor calls; ask again, or look at the server's log")
    }

    /// For what a request has and the server does not take.
    package static func untaken(_ what: String) -> DialectError {
        DialectError(.unsupported, "this server takes no \(what); leave that out or ask another one")
    }
}

/// What one event of a stream, or a whole answer, says.
package enum AnswerObject {
    /// More than this is not read as one event.
    package static let largest = 32 << 20

    /// Nil for JSON that is no object, and for what is no JSON where that may be: in events that are not known.
    package static func read(_ data: [UInt8], mayBeOther: Bool = false) throws(DialectError) -> JSONObject? {
        guard data.count <= largest else {
            throw DialectError(.tooLarge, "the server sent more than \(largest >> 20) MiB at once; ask for less")
        }
        do {
            return try JSON(parsing: data, reading: .stream).object
        } catch {
            if mayBeOther { return nil }
            guard error.code == .depth else { throw .malformed(data) }
            throw DialectError(.tooLarge, "the server's answer nests too deep: \(error); ask it another way")
        }
    }
}

extension PlainText {
    /// A server's words on one line, escaped and of a length that a sentence can hold.
    package static func excerpt(_ text: String, _ limit: Int = 500) -> String {
        let start = String(String.UnicodeScalarView(text.unicodeScalars.prefix(limit)))
        // The ends of lines and what indents them say nothing in the midst of a sentence.
        let escaped = escape(start.split { $0.isNewline || $0 == "\t" }.joined(separator: " "))
        let scalars = escaped.unicodeScalars
        guard text.unicodeScalars.count > limit || scalars.count > limit else { return escaped }
        return String(String.UnicodeScalarView(scalars.prefix(limit - 1))) + "…"
    }
}
