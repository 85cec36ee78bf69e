public import Capabilities
public import JSON

/// Text whose parts may have a token. Frontends make text from outside harmless before they draw it.
///
/// ```swift
/// let line: RichText = "web1 " + RichText("failed", .error)
/// ```
public struct RichText: Sendable, Hashable, ExpressibleByStringInterpolation {
    /// A part of the text.
    public struct Run: Sendable, Hashable {
        /// The text.
        public let text: String
        /// What it means, which decides its look; nil for plain text.
        public let token: ThemeToken?
        /// Whether it is heavier than its surroundings.
        public let isBold: Bool
    }

    /// The parts in order, none of them empty.
    public private(set) var runs: [Run] = []

    /// Text with one token.
    public init(_ text: String, _ token: ThemeToken? = nil, bold: Bool = false) {
        if !text.isEmpty { runs = [Run(text: text, token: token, isBold: bold)] }
    }

    /// Plain text.
    public init(stringLiteral text: String) { self.init(text) }

    /// Both texts, one after the other.
    public static func + (left: RichText, right: RichText) -> RichText {
        var result = left
        result.runs += right.runs
        return result
    }

    /// The text without its tokens.
    public var plain: String { runs.map(\.text).joined() }

    /// Whether there is no text.
    public var isEmpty: Bool { runs.isEmpty }
}

extension RichText: OutputValue {
    public static var schema: Schema { .array(.record(runProperties)) }

    private static let runProperties = [
        Schema.Property("text", "The text of this part", .string),
        Schema.Property(
            "token", "The token that decides its look", .optional(.choice(ThemeToken.allCases.map(\.rawValue)))),
        Schema.Property("bold", "Whether it is heavier than its surroundings", .optional(.boolean)),
    ]

    public var json: JSON {
        .array(
            runs.map { run in
                var object: JSONObject = ["text": .string(run.text)]
                if let token = run.token { object["token"] = .string(token.rawValue) }
                if run.isBold { object["bold"] = true }
                return .object(object)
            })
    }
}
