import Capabilities
import JSON
import Registry

/// The action that prints the schema of the events of a turn.
enum EventActions {
    static var all: [Action] { [events] }

    private static var events: Action {
        Action("chat.events", "Print the JSON Schema of the lines of 'chat send --format ndjson'", .reads) { _ in
            [
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "title": "A line of 'martlet chat send --format ndjson'",
                "anyOf": .array(ChatEvents.lines.map { .object($0.jsonSchema) }),
            ] as JSON
        }
        .example("martlet chat events --json > events.schema.json", "For a validator, or to generate types")
    }
}
