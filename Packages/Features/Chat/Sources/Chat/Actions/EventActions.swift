import Capabilities
import JSON
import Registry
import TurnLoop

/// The action that prints the schema of the events of a turn.
enum EventActions {
    static var all: [Action] { [events] }

    private static var events: Action {
        Action("chat.events", "Print the JSON Schema of the lines of 'chat send --format ndjson'", .reads) { _ in
            ChatEventSchema.json
        }
        .example("martlet chat events --json > events.schema.json", "For a validator, or to generate types")
    }
}

/// The lines that `chat send --format ndjson` writes: one event each, with the result last.
enum ChatEventSchema {
    /// The members of one kind of line, without its `type`. A type may have several kinds.
    struct Line: Sendable {
        let type: String
        let summary: String
        let members: [Schema.Property]

        var isError: Bool { members.contains { $0.name == "error" } }

        init(_ type: String, _ summary: String, _ members: Schema.Property...) {
            self.init(type, summary, members)
        }

        init(_ type: String, _ summary: String, _ members: [Schema.Property]) {
            self.type = type
            self.summary = summary
            self.members = members
        }
    }

    static let lines: [Line] = [
        Line(
            "init", "A turn starts", .init("model", "The model", .string),
            .init("provider", "The provider of the model", .string),
            .init("tools", "Sources of the tools that the model may use", .array(.string)),
            .init("session_id", "Id of the conversation, if it is stored", .optional(.string))),
        Line(
            "message", "A part of the answer", .init("role", "Role of the author", .choice(["assistant"])),
            .init("delta", "Text to append", .string)),
        Line(
            "message", "A part of the model's refusal",
            .init("role", "Role of the author", .choice(["assistant"])), .init("refusal", "Text to append", .string)),
        Line("reasoning", "A part of the model's reasoning", .init("delta", "Text to append", .string)),
        Line(
            "tool_use", "A tool call starts", .init("id", "Id of the call", .string),
            .init("name", "Name that the model uses for the tool", .string), .init("input", "Input of the call", .any),
            .init("by_server", "Whether the server runs the tool itself", .optional(.boolean))),
        Line(
            "tool_output", "Output of a tool while it runs", .init("tool_id", "Id of the call", .string),
            .init("text", "Text to append", .string)),
        Line(
            "tool_result", "The result of a call", .init("tool_id", "Id of the call", .string),
            .init("is_error", "Whether it failed", .boolean), .init("content", "Output of the call", .string),
            .init("duration_ms", "Duration in milliseconds", .optional(.integer(nil))),
            .init("exit_code", "Exit code of a command", .optional(.integer(nil))),
            .init("state", "State of the call", .optional(.choice(CallUpdate.State.allCases.map(\.rawValue))))),
        Line(
            "error", "The turn failed", .init("code", "Stable error code", .string),
            .init("message", "What happened and what to do next", .string)),
        Line("turn", "A turn of an interactive conversation has ended", TurnReport.fields.map(\.property)),
        Line("clear", "The user cleared the screen"),
        Line(
            "result", "The last line: the result",
            [.init("is_error", "False", .boolean)] + TurnReport.fields.map { optional($0.property) }),
        Line(
            "result", "The last line: why there is no result", .init("is_error", "True", .boolean),
            .init("error", "The error, with its code, message and exit code", .map(.any))),
    ]

    /// The result of a conversation without messages has no members.
    private static func optional(_ property: Schema.Property) -> Schema.Property {
        Schema.Property(property.name, property.summary, .optional(property.schema.unwrapped), role: property.role)
    }

    /// JSON Schema 2020-12 of one line. Later versions may add members and types, so others are allowed.
    static var json: JSON {
        let kinds = lines.map { line -> JSON in
            var schema = Schema.record(line.members).jsonSchema
            var members: JSONObject = ["type": ["const": .string(line.type)]]
            for (name, member) in schema["properties"]?.object ?? [:] { members.append(name, member) }
            if line.type == "result" { members["is_error"] = ["const": .bool(line.isError)] }
            schema["properties"] = .object(members)
            schema["required"] = .array([.string("type")] + (schema["required"]?.array ?? []))
            schema["additionalProperties"] = nil
            schema["description"] = .string(line.summary)
            return .object(schema)
        }
        return [
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "A line of 'martlet chat send --format ndjson'", "anyOf": .array(kinds),
        ]
    }

    /// Why a line matches no kind. This check is strict: undeclared members are problems too.
    static func problems(in line: JSON) -> [String] {
        let type = line["type"]?.string ?? ""
        let kinds = lines.filter { $0.type == type && (type != "result" || line["is_error"]?.bool == $0.isError) }
        guard !kinds.isEmpty, var members = line.object else { return ["there is no event \(type)"] }
        members["type"] = nil
        let found = kinds.map { Schema.record($0.members).problems(in: .object(members)).map(\.description) }
        return found.contains { $0.isEmpty } ? [] : found.flatMap(\.self)
    }
}
