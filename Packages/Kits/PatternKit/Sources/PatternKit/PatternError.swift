import CPCRE2
public import Capabilities

/// Why a regular expression cannot be used.
public struct PatternError: Failure, Hashable {
    /// A stable reason.
    public typealias Kind = FailureKind<PatternError>

    /// The stable reason.
    public let kind: Kind
    public let message: String
    /// Where in the expression, in bytes, if it is invalid.
    public let offset: Int?

    public var code: String { kind.description }
    public var exit: ExitCode { kind == .memory ? .failed : .usage }

    private init(_ kind: Kind, _ message: String, offset: Int? = nil) {
        self.kind = kind
        self.message = message
        self.offset = offset
    }

    static let memory = PatternError(.memory, "out of memory; try again later")

    /// What PCRE2 says about an expression that it refuses.
    static func refusal(_ number: Int32, at offset: Int) -> PatternError {
        var text = [UInt8](repeating: 0, count: 256)
        let length = unsafe pcre2_get_error_message_8(number, &text, text.count)
        let words = length > 0 ? String(decoding: text.prefix(Int(length)), as: UTF8.self) : "error \(number)"
        return PatternError(.invalid, PlainText.escape(words), offset: offset)
    }
}

extension FailureKind<PatternError> {
    /// The expression breaks the grammar, or is larger than PCRE2 allows.
    public static var invalid: Self { "pattern.invalid" }
    /// The system has no memory left.
    public static var memory: Self { "pattern.memory" }
}
