public import Capabilities

/// Why a trace cannot be shown.
public enum TraceError: Failure, Hashable {
    /// The word is no id.
    case notID(String)
    /// There is no such trace.
    case unknown(String)
    /// Several traces have an id that begins so.
    case ambiguous(String)
    /// The trace has no such span, or several whose ids begin so.
    case notOneSpan(String)
    /// The span with this name is not an HTTP request.
    case notRequest(String)
    /// A file has no spans.
    case noSpans(String)
    /// The number is no port.
    case notPort(Int)
    /// There are more figures than this.
    case tooManyFigures(Int)
    /// An expression is wrong from a character on.
    case expression(String, character: Int)

    public var code: String {
        switch self {
        case .notID: "trace.not-an-id"
        case .unknown: "trace.unknown"
        case .ambiguous: "trace.ambiguous"
        case .notOneSpan: "trace.not-one-span"
        case .notRequest: "trace.not-a-request"
        case .noSpans: "trace.no-spans"
        case .notPort: "trace.not-a-port"
        case .tooManyFigures: "trace.too-many-figures"
        case .expression: "trace.expression"
        }
    }

    public var exit: ExitCode {
        switch self {
        case .notID, .ambiguous, .notOneSpan, .notRequest, .notPort, .tooManyFigures, .expression: .usage
        case .unknown, .noSpans: .failed
        }
    }

    public var message: String {
        switch self {
        case .notID(let word):
            "\(PlainText.escape(word).quotedForMessage) is no id of a trace, which has up to 32 hexadecimal digits; 'trace list' shows them"
        case .unknown(let word):
            "there is no trace \(PlainText.escape(word)); it may have been removed (trace.keep, trace.budget), or trace.record is false"
        case .ambiguous(let word):
            "several traces begin with \(PlainText.escape(word)); give more digits"
        case .notOneSpan(let word):
            "the trace has no span, or several, whose id begins with \(PlainText.escape(word)); 'trace show' lists them"
        case .notRequest(let name):
            "\(PlainText.escape(name)) is not an HTTP request; 'trace requests --json' lists those with their ids"
        case .noSpans(let path):
            "\(PlainText.escape(path)) has no spans, one a line, as 'trace export' writes them"
        case .notPort(let number):
            "\(number) is not a valid port; choose one from 1 to 65535, or 0 for any free port"
        case .tooManyFigures(let most):
            "there are more than \(most) rows; --since, --until, --service or a longer period for --by leaves fewer"
        case .expression(let words, let character):
            "the expression is wrong at character \(character): \(PlainText.escape(words))"
        }
    }
}
