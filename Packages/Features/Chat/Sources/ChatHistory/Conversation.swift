public import Capabilities
public import JSON
public import StorageKit

/// The initial setup of a conversation. Later changes of settings do not apply to it.
public struct ConversationSetup: Sendable, Hashable {
    /// The id of the provider that answers; nil if none was chosen.
    public var provider: String?
    /// The model's id at its provider; nil if none was chosen.
    public var model: String?
    /// The address of the server. Old conversations have the name of its profile.
    public var server: String?
    /// The deployment of a platform that answered.
    public var deployment: String?
    /// The system prompt.
    public var system: String?
    /// The model's options, in the format of the caller.
    public var options: JSON
    /// The option that names a local folder. Exports leave it out.
    public static let folderOption = "tool_folder"
    /// The option that identifies the folder at that time. Exports leave it out too.
    public static let folderIdentityOption = "tool_folder_identity"
    /// The tool policy, in the format of the caller.
    public var tools: JSON

    /// A setup in which only the given values are chosen.
    public init(
        provider: String? = nil, model: String? = nil, server: String? = nil, deployment: String? = nil,
        system: String? = nil,
        options: JSON = [:], tools: JSON = [:]
    ) {
        self.provider = provider
        self.model = model
        self.server = server
        self.deployment = deployment
        self.system = system
        self.options = options
        self.tools = tools
    }

    /// The tool rules of the conversation.
    public var rules: [JSON] { tools["rules"]?.array ?? [] }
}

/// A conversation without its messages.
///
/// It is a path in a tree of messages: forks and edited messages share their beginning with the original.
public struct Conversation: Record, Hashable {
    /// The permanent id.
    public let id: ConversationID
    /// The first 40 characters of the first message of the user, or the name that the user gave it.
    public let title: String
    /// The provider, the model and the options of its next answer.
    public let setup: ConversationSetup
    /// When it was started; of an import, the time in the document.
    public let created: Timestamp
    /// When it last changed. Lists are sorted by it.
    public let updated: Timestamp
    /// The newest message of the path. The next message follows it.
    public let head: MessageID?
    /// The number of messages of the path.
    public let messages: Int
    /// The beginning of the last text, on one line.
    public let preview: String
    /// The usage of all its answers.
    public let usage: Usage
    /// The conversation that it was forked from, while that exists.
    public let parent: ConversationID?
    /// When it was deleted, while it can be restored.
    public let deleted: Timestamp?

    public static let fields: [Field<Conversation>] = [
        Field("id", "Id of the conversation", .name) { $0.id },
        Field("title", "Title of the conversation") { $0.title },
        Field("model", "The model that answers") { $0.setup.model },
        Field("provider", "The provider of the model") { $0.setup.provider },
        Field("server", "Address of the server", .detail) { $0.setup.server },
        Field("deployment", "The platform's deployment that answers", .detail) { $0.setup.deployment },
        Field("messages", "Number of messages") { $0.messages },
        Field("updated", "When it last changed") { $0.updated },
        Field("created", "When it was started", .detail) { $0.created },
        Field("preview", "The beginning of the last text", .detail) { $0.preview },
        Field("system", "System prompt", .detail) { $0.setup.system },
        Field("usage", "Tokens and cost of all its answers", .detail) { $0.usage },
        Field("parent", "Conversation that it was forked from", .detail) { $0.parent },
        Field("deleted", "When it was deleted", .detail) { $0.deleted },
    ]
}

/// The permanent id of a conversation: its start to the second and eight random letters, such as
/// `20261121-213045-k7f3qd8z`.
///
/// Ids sort by time. Users may type only the letters at the end, or the first few of them.
public struct ConversationID: RawRepresentable, Sendable, Hashable, OutputValue, CustomStringConvertible {
    /// The whole id as text.
    public let rawValue: String

    /// - Parameter rawValue: a whole id. There may be no such conversation.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The letters at the end, which are unique.
    public var tag: String { rawValue.split(separator: "-").last.map(String.init) ?? rawValue }

    public var description: String { rawValue }
    public var json: JSON { .string(rawValue) }
    public static var schema: Schema { .string }

    /// The first letter of a tag is not a digit, so that a tag differs from the beginning of a whole id. Letters that
    /// look alike are left out.
    private static let letters = Array("abcdefghjkmnpqrstvwxyz")
    private static let signs = Array("abcdefghjkmnpqrstvwxyz0123456789")

    /// A new id, which no conversation has yet.
    public init(at time: Timestamp, using random: inout some RandomNumberGenerator) {
        var tag = ""
        for place in 0..<8 {
            let choice = place == 0 ? Self.letters : Self.signs
            tag.append(choice[Int.random(in: choice.indices, using: &random)])
        }
        rawValue = "\(time.compact.replacing("T", with: "-"))-\(tag)"
    }
}

extension ConversationID: Storable {}

extension ConversationID {
    /// A whole id that a conversation may get; nil for anything else, such as a part of one.
    public init?(whole text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.utf8.count) == [8, 6, 8], let first = parts[2].first, Self.letters.contains(first) else {
            return nil
        }
        let isPlain =
            parts[2].allSatisfy { $0.isASCII && ($0.isLowercase || $0.isNumber) }
            && (parts[0] + parts[1]).allSatisfy { $0.isASCII && $0.isNumber }
        guard isPlain else { return nil }
        self.init(rawValue: text)
    }
}

/// The id of a message, unique in the history. Newer messages have larger numbers.
public struct MessageID: RawRepresentable, Sendable, Hashable, Comparable, OutputValue, CustomStringConvertible {
    /// The number of the message's row.
    public let rawValue: Int64

    /// - Parameter rawValue: a number that the history gave out. There may be no such message.
    public init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    public var description: String { String(rawValue) }
    public var json: JSON { .int(Int(rawValue)) }
    public static var schema: Schema { .integer(nil) }
    public static func < (left: MessageID, right: MessageID) -> Bool { left.rawValue < right.rawValue }

    /// The name of a message among the current drafts.
    var draftName: String { String(rawValue) }
}

extension MessageID: Storable {}
