public import Capabilities
public import JSON
public import StorageKit

/// What a conversation begins with. Later changes of settings do not reach it.
public struct ConversationSetup: Sendable, Hashable {
    public var provider: String?
    public var model: String?
    /// The address of the server that was asked; conversations of old have the name of its profile.
    public var server: String?
    /// Which of a platform's deployments answered.
    public var deployment: String?
    /// The system prompt.
    public var system: String?
    /// The model's options, in the words of who uses them.
    public var options: JSON
    /// The member of the options that names a folder of this machine, which leaves it in no export.
    public static let folderOption = "tool_folder"
    /// The member that says which folder was there then, which leaves it in no export either.
    public static let folderIdentityOption = "tool_folder_identity"
    /// The policy of tools, in the words of who uses it.
    public var tools: JSON

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
}

/// A conversation without its messages.
///
/// It is a path in a tree of messages: forks and edited messages share their beginning with what was there before.
public struct Conversation: Record, Hashable {
    public let id: ConversationID
    /// The first 40 characters of what the person wrote first, or the name that the person gave it.
    public let title: String
    public let setup: ConversationSetup
    public let created: Timestamp
    public let updated: Timestamp
    /// The newest message of the path, which the next one follows.
    public let head: MessageID?
    /// How many messages the path has.
    public let messages: Int
    /// The beginning of the last text, on one line.
    public let preview: String
    /// What all its answers took together.
    public let usage: Usage
    /// The conversation that it was forked from, while that is there.
    public let parent: ConversationID?
    /// When it was deleted, while that can be undone.
    public let deleted: Timestamp?

    public static let fields: [Field<Conversation>] = [
        Field("id", "What it is called by", .name) { $0.id },
        Field("title", "What it is about") { $0.title },
        Field("model", "Model that answers") { $0.setup.model },
        Field("provider", "Who has the model") { $0.setup.provider },
        Field("server", "Where the model is", .detail) { $0.setup.server },
        Field("deployment", "Which deployment of a platform answers", .detail) { $0.setup.deployment },
        Field("messages", "How many messages it has") { $0.messages },
        Field("updated", "When something was written last") { $0.updated },
        Field("created", "When it began", .detail) { $0.created },
        Field("preview", "The beginning of the last text", .detail) { $0.preview },
        Field("system", "System prompt", .detail) { $0.setup.system },
        Field("usage", "What all its answers took", .detail) { $0.usage },
        Field("parent", "Conversation that it was forked from", .detail) { $0.parent },
        Field("deleted", "When it was deleted", .detail) { $0.deleted },
    ]
}

/// What a conversation is called for good: the second of its beginning and eight random letters, such as
/// `20261121-213045-k7f3qd8z`.
///
/// Ids sort by time, and people need not type them whole: the letters at the end, or the first few of these, will do.
public struct ConversationID: RawRepresentable, Sendable, Hashable, OutputValue, CustomStringConvertible {
    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The letters at the end, which no other conversation has.
    public var tag: String { rawValue.split(separator: "-").last.map(String.init) ?? rawValue }

    public var description: String { rawValue }
    public var json: JSON { .string(rawValue) }
    public static var schema: Schema { .string }

    /// The first letter of a tag is no digit, by which it is told from the beginning of a whole id. Letters that look
    /// like others are left out.
    private static let letters = Array("abcdefghjkmnpqrstvwxyz")
    private static let signs = Array("abcdefghjkmnpqrstvwxyz0123456789")

    init(at time: Timestamp, using random: inout some RandomNumberGenerator) {
        var tag = ""
        for place in 0..<8 {
            let choice = place == 0 ? Self.letters : Self.signs
            tag.append(choice[Int.random(in: choice.indices, using: &random)])
        }
        let digits = time.iso8601.prefix(19).filter { $0 != "-" && $0 != ":" }
        rawValue = "\(digits.replacing("T", with: "-"))-\(tag)"
    }
}

extension ConversationID: Storable {}

/// What a message is called, in the whole history. Newer messages have larger numbers.
public struct MessageID: RawRepresentable, Sendable, Hashable, Comparable, OutputValue, CustomStringConvertible {
    public let rawValue: Int64

    public init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    public var description: String { String(rawValue) }
    public var json: JSON { .int(Int(rawValue)) }
    public static var schema: Schema { .integer(nil) }
    public static func < (left: MessageID, right: MessageID) -> Bool { left.rawValue < right.rawValue }
}

extension MessageID: Storable {}
