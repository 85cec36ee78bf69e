public import Capabilities
public import JSON

/// A kind of event that an action sends, declared once: its type, its members and how they are read from a value.
///
/// The kind makes the events and their declaration, so what is sent cannot differ from what is declared:
///
/// ```swift
/// static let piece = EventKind<String>(
///     "message", "A part of the answer", [Field("delta", "Text to append") { $0 }], text: "delta", format: .markdown)
///
/// Action("poem.write", "Write a poem", .reads) { context in
///     for line in lines { try await context.emit(piece.event(line)) }
///     return Nothing()
/// }
/// .streaming([piece.declaration])
/// ```
public struct EventKind<Value: Sendable>: Sendable {
    private let type: String
    private let summary: String
    private let properties: [Schema.Property]
    /// What sending an event needs of the fields, because copying a whole field for each event takes longer than
    /// reading it.
    private let members: [Member]
    private let text: String?
    private let format: ActionEvent.TextFormat

    private struct Member: Sendable {
        let name: String
        let isOptional: Bool
        let read: @Sendable (Value) -> JSON
    }

    /// - Parameters:
    ///   - type: one lower-case word. Several kinds may share it.
    ///   - summary: when it is sent, in one line without a final stop.
    ///   - fields: the members, in the order in which they are sent.
    ///   - text: the name of the member that reads as text; nil if the event by itself adds nothing to the result's text.
    ///   - format: the format of the text.
    public init(
        _ type: String, _ summary: String, _ fields: [Field<Value>], text: String? = nil,
        format: ActionEvent.TextFormat = .plain
    ) {
        self.type = type
        self.summary = summary
        properties = fields.map(\.property)
        members = fields.map { Member(name: $0.name, isOptional: $0.schema.isOptional, read: $0.read) }
        self.text = text
        self.format = format
    }

    /// What is known about these events without sending one.
    public var declaration: EventDeclaration {
        EventDeclaration(type, summary, properties, text: text, format: format)
    }

    /// The members of the event for a value. An optional member without a value is left out.
    public func members(of value: Value) -> JSONObject {
        var object = JSONObject(capacity: members.count)
        for member in members {
            let json = member.read(value)
            if !member.isOptional || !json.isNull { object.append(member.name, json) }
        }
        return object
    }

    /// The event for a value.
    ///
    /// - Parameters:
    ///   - text: replaces the text of the declared member.
    ///   - format: the format of that text; nil for the declared one.
    public func event(_ value: Value, text: String? = nil, format: ActionEvent.TextFormat? = nil) -> ActionEvent {
        let members = members(of: value)
        return ActionEvent(
            type, members, text: text ?? self.text.flatMap { members[$0]?.string }, format: format ?? self.format)
    }
}

extension EventKind where Value: Record {
    /// An event with the members of a record.
    public init(
        _ type: String, _ summary: String, text: String? = nil, format: ActionEvent.TextFormat = .plain
    ) {
        self.init(type, summary, Value.fields, text: text, format: format)
    }
}

/// What is known about a kind of event without sending one.
public struct EventDeclaration: Sendable, Hashable {
    /// `message`, `tool_use`…: one lower-case word.
    public let type: String
    /// When it is sent, in one line without a final stop.
    public let summary: String
    /// The members besides `type`. One with the keyword `const` always has that value.
    public let members: [Schema.Property]
    /// The name of the member that reads as text, if there is one.
    public let text: String?
    /// The format of the text.
    public let format: ActionEvent.TextFormat

    /// By default the event has only a type, and no text.
    public init(
        _ type: String, _ summary: String, _ members: [Schema.Property] = [], text: String? = nil,
        format: ActionEvent.TextFormat = .plain
    ) {
        self.type = type
        self.summary = summary
        self.members = members
        self.text = text
        self.format = format
    }

    /// JSON Schema 2020-12 of the event as a line, without the `$schema` member. Later versions may add members, so
    /// others are allowed.
    public var jsonSchema: JSONObject {
        let described = Schema.record(members).jsonSchema["properties"]?.object ?? [:]
        var properties: JSONObject = ["type": ["const": .string(type)]]
        for member in members {
            // A constant says more than its type.
            let schema = member.keywords["const"].map { ["const": $0] } ?? described[member.name]
            properties.append(member.name, schema ?? true)
        }
        let required = members.filter { !$0.schema.isOptional }.map { JSON.string($0.name) }
        return [
            "type": "object", "properties": .object(properties), "required": .array(["type"] + required),
            "description": .string(summary),
        ]
    }
}
