public import Capabilities
public import JSON

/// What can be done with a block or with one of its rows: an action to perform or a screen to open, as the same caller.
///
/// ```swift
/// Link.action("chat.delete", "Delete", key: "d", ["id": .row("id")])
/// Link.screen("chat.conversation", "Open", ["id": .row("id")])
/// ```
public struct Link: Sendable, Hashable {
    /// What the link leads to.
    public enum Target: Sendable, Hashable {
        /// The action with this id.
        case action(String)
        /// The screen with this id.
        case screen(String)
    }

    /// Where an argument comes from.
    public enum Argument: Sendable, Hashable {
        /// Always this value.
        case value(JSON)
        /// The member with this name of the row that the link hangs on.
        case row(String)
    }

    /// What it leads to.
    public let target: Target
    /// What it does, in a word or two.
    public let title: String
    /// The key that a frontend offers for it: a letter, or nil.
    public let key: String?
    /// The arguments by parameter.
    public let arguments: [String: Argument]

    private init(_ target: Target, _ title: String, _ key: String?, _ arguments: [String: Argument]) {
        self.target = target
        self.title = title
        self.key = key
        self.arguments = arguments
    }

    /// A link to an action.
    public static func action(
        _ id: String, _ title: String, key: String? = nil, _ arguments: [String: Argument] = [:]
    ) -> Link { Link(.action(id), title, key, arguments) }

    /// A link to a screen.
    public static func screen(
        _ id: String, _ title: String, key: String? = nil, _ arguments: [String: Argument] = [:]
    ) -> Link { Link(.screen(id), title, key, arguments) }

    /// The arguments for a row. A member that the row lacks is left out.
    public func arguments(for row: JSONObject = [:]) -> JSONObject {
        var result = JSONObject()
        for (name, argument) in arguments.sorted(by: { $0.key < $1.key }) {
            switch argument {
            case .value(let value): result[name] = value
            case .row(let member):
                if let value = row[member], !value.isNull { result[name] = value }
            }
        }
        return result
    }
}

extension Link: Record {
    public static let fields: [Field<Link>] = [
        Field("title", "What it does, in a word or two", .name) { $0.title },
        Field("action", "The id of the action to perform") { link -> String? in
            if case .action(let id) = link.target { id } else { nil }
        },
        Field("screen", "The id of the screen to open") { link -> String? in
            if case .screen(let id) = link.target { id } else { nil }
        },
        Field("key", "The key that a frontend offers for it") { $0.key },
        Field("arguments", "The arguments: each has a value, or the member of the row that it is taken from") {
            $0.arguments
        },
    ]
}

extension Link.Argument: OutputValue {
    public static var schema: Schema {
        .record([
            Schema.Property("value", "This value", .optional(.any)),
            Schema.Property("row", "The member of the row with this name", .optional(.string)),
        ])
    }

    public var json: JSON {
        switch self {
        case .value(let value): ["value": value]
        case .row(let member): ["row": .string(member)]
        }
    }
}
