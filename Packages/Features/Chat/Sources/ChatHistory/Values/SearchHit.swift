public import Capabilities
public import JSON

/// A message in which the words were found.
public struct SearchHit: Record, Hashable {
    public let conversation: ConversationID
    public let title: String
    public let message: MessageID
    public let role: Message.Role
    public let time: Timestamp
    public let model: String?
    public let snippet: Snippet

    public static let fields: [Field<SearchHit>] = [
        Field("conversation", "Where it was said", .name) { $0.conversation },
        Field("title", "What the conversation is about") { $0.title },
        Field("time", "When it was said") { $0.time },
        Field("role", "Who said it") { $0.role },
        Field("text", "The words with what stands around them") { $0.snippet },
        Field("message", "The message", .detail) { $0.message },
        Field("model", "The model", .detail) { $0.model },
    ]
}

/// A piece of text in which the words that were looked for are known.
public struct Snippet: Sendable, Hashable, OutputValue {
    public struct Run: Sendable, Hashable {
        public let text: String
        public let isMatch: Bool
    }

    public let runs: [Run]

    /// The text alone.
    public var plain: String { runs.map(\.text).joined() }

    /// The text with something before and after each match.
    public func marked(_ before: String, _ after: String) -> String {
        runs.map { $0.isMatch ? before + $0.text + after : $0.text }.joined()
    }

    public var json: JSON { .string(plain) }
    public static var schema: Schema { .string }

    /// Two code points for private use, which people's texts have no use for.
    static let marks = (open: "\u{10F8E0}", close: "\u{10F8E1}")

    init(marked text: String) {
        var runs: [Run] = []
        var current = String.UnicodeScalarView()
        var isMatch = false
        func finish(_ next: Bool) {
            if !current.isEmpty { runs.append(Run(text: String(current), isMatch: isMatch)) }
            current = String.UnicodeScalarView()
            isMatch = next
        }
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\u{10F8E0}": finish(true)
            case "\u{10F8E1}": finish(false)
            default: current.append(scalar)
            }
        }
        finish(false)
        self.runs = runs
    }
}
