import Capabilities
import JSON
import Registry

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
