import Capabilities
import JSON
import Registry
import TurnLoop

/// What programs are told of turns.
enum EventActions {
    static var all: [Action] { [events] }

    private static var events: Action {
        Action("chat.events", "Print the JSON Schema of the lines of 'chat send --format ndjson'", .reads) { _ in
            ChatEventSchema.json
        }
        .example("martlet chat events --json > events.schema.json", "For a validator, or for making types")
    }
}

/// The lines that `chat send --format ndjson` writes: one event each, the last of which is the result.
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
            "init", "A turn begins", .init("model", "Who is asked", .string),
            .init("provider", "Where the model is", .string),
            .init("tools", "The sources of tools that it may use", .array(.string)),
            .init("session_id", "The conversation, where it is stored", .optional(.string))),
        Line(
            "message", "More of the answer", .init("role", "Who says it", .choice(["assistant"])),
            .init("delta", "What is added to the text", .string)),
        Line(
            "message", "Why the model does not answer, in its own words",
            .init("role", "Who says it", .choice(["assistant"])), .init("refusal", "More of these words", .string)),
        Line("reasoning", "More of the model's thoughts", .init("delta", "What is added", .string)),
        Line(
            "tool_use", "A tool begins to work", .init("id", "The call", .string),
            .init("name", "The tool, as the model calls it", .string), .init("input", "What goes in", .any),
            .init("by_server", "Whether the server does it itself", .optional(.boolean))),
        Line(
            "tool_output", "What a tool prints while it works", .init("tool_id", "The call", .string),
            .init("text", "What is added", .string)),
        Line(
            "tool_result", "What came of a call", .init("tool_id", "The call", .string),
            .init("is_error", "Whether it failed", .boolean), .init("content", "What came out", .string),
            .init("duration_ms", "How long it took", .optional(.integer(nil))),
            .init("exit_code", "Of a command", .optional(.integer(nil))),
            .init("state", "How it went", .optional(.choice(CallUpdate.State.allCases.map(\.rawValue))))),
        Line(
            "error", "The turn has failed", .init("code", "The stable reason", .string),
            .init("message", "What happened, and what to do", .string)),
        Line("turn", "A turn of a conversation on a terminal is over", TurnReport.fields.map(\.property)),
        Line("clear", "The person wants what was said out of sight"),
        Line(
            "result", "What came of all: the last line",
            [.init("is_error", "False", .boolean)] + TurnReport.fields.map { optional($0.property) }),
        Line(
            "result", "Why nothing came of it: the last line", .init("is_error", "True", .boolean),
            .init("error", "The error, with its code, its message and its exit code", .map(.any))),
    ]

    /// A conversation in which nothing was said has a result without members.
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

    /// Why a line is none of these, closely: members that nobody has declared are a problem too.
    static func problems(in line: JSON) -> [String] {
        let type = line["type"]?.string ?? ""
        let kinds = lines.filter { $0.type == type && (type != "result" || line["is_error"]?.bool == $0.isError) }
        guard !kinds.isEmpty, var members = line.object else { return ["there is no event \(type)"] }
        members["type"] = nil
        let found = kinds.map { Schema.record($0.members).problems(in: .object(members)).map(\.description) }
        return found.contains { $0.isEmpty } ? [] : found.flatMap(\.self)
    }
}
