import Capabilities
import Registry
import RunReports

/// What bundles and the programs around them need beside the actions of features.
enum StepActions {
    static var all: [Action] { [events, expect, nothing] }

    private static let events = Action(
        "run.events", "Print the JSON Schema of the lines of 'run --format ndjson'", .reads
    ) { _ in
        RunEventSchema.json
    }
    .example("martlet run events --json > events.schema.json", "For a validator, or for making types")

    private static let expect = Action(
        "run.expect", "Fail unless something is so", .reads,
        .option("that", "What has to be true", as: Bool.self),
        .option("message", "What is wrong when it is not", as: String?.self)
    ) { _, isSo, message in
        guard isSo else { throw RunnerError.notSo(message ?? "what was expected is not so") }
        return Nothing()
    }
    .instant()
    .details("A step of a bundle that tests something: as a JUnit report it is a failure, and not an error.")

    private static let nothing = Action("run.no-op", "Do nothing, to measure what a step costs", .reads) { _ in
        Nothing()
    }
    .instant().hidden()
}
