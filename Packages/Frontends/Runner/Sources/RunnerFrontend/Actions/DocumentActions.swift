import Capabilities
import Registry
import RunReports

/// What programs are told of runs, and what measures them.
enum DocumentActions {
    static var all: [Action] { [events, nothing] }

    private static let events = Action(
        "run.events", "Print the JSON Schema of the lines of 'run --format ndjson'", .reads
    ) { _ in
        RunEventSchema.json
    }
    .example("martlet run events --json > events.schema.json", "For a validator, or for making types")

    private static let nothing = Action("run.no-op", "Do nothing, to measure what a step costs", .reads) { _ in
        Nothing()
    }
    .instant().hidden()
}
