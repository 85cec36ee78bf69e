import Capabilities
public import JSON
public import Registry
public import Runs

/// The lines that `martlet run --format ndjson` prints.
public enum RunEvents {
    static let start = EventKind<RunFacts>(
        "run_started", "The run starts",
        [
            Field(
                Schema.Property(
                    "version", "Version of this format", .integer(nil), keywords: ["const": .int(RunEvent.version)])
            ) { _ in .int(RunEvent.version) },
            Field("run", "Id of the run") { $0.id.text },
            Field("name", "Name of the bundle") { $0.name },
            Field("file", "The bundle's file") { $0.file },
            Field("time", "When this part of the run started") { $0.started },
            Field("resumed", "Whether an earlier process ran a part of it") { $0.isResumed },
            Field("steps", "The steps, in the order of the file") { $0.steps },
        ])
    static let stepStart = EventKind<StepUpdate>(
        "step_started", "An attempt of a step starts",
        [
            Field("step", "The step") { $0.key },
            Field("does", "The action or the bundle") { $0.work },
            Field("attempt", "Number of the attempt") { $0.attempt },
            Field("time", "When it started") { $0.time },
            Field(Schema.Property("with", "Its arguments", .map(.any))) { $0.arguments },
            flag("repeated", "Whether it was running when the run was interrupted") { $0.isRepeated },
        ])
    static let spread = EventKind<(step: String, count: Int)>(
        "step_spread", "A step with several parts starts: several runs, or the steps of the bundle that it runs",
        [Field("step", "The step") { $0.step }, Field("count", "Number of parts") { $0.count }])
    static let output = EventKind<(step: String, event: ActionEvent)>(
        "step_output", "Output of the step's action",
        [
            Field("step", "The step") { $0.step },
            Field(Schema.Property("event", "The event of the action", .map(.any))) { $0.event.json },
        ])
    static let stepEnd = EventKind<StepUpdate>(
        "step_ended", "A step, one of its runs or an attempt has ended",
        [
            Field("step", "The step") { $0.key },
            Field("does", "The action or the bundle") { $0.work },
            Field("status", "How it ended") { $0.outcome.status },
            Field("attempt", "Number of the attempt") { $0.attempt },
            Field("time", "When it ended") { $0.time },
            Field("seconds", "How long it took") { $0.outcome.duration / .seconds(1) },
            Field("exit", "Exit code") { $0.outcome.exit },
            Field("result", "Its result") { $0.outcome.result },
            Field("error", "Why it failed") { $0.outcome.error },
            flag("restored", "Whether it ended in an earlier part of the run") { $0.isRestored },
            flag("cached", "Whether the result comes from the cache") { $0.isCached },
            flag("again", "Whether it will be retried") { $0.triesAgain },
            flag("forgiven", "Whether it counts as successful although it failed") { $0.outcome.isForgiven },
        ])
    static let notice = EventKind<(step: String?, message: String)>(
        "notice", "A notice", [Field("message", "The text") { $0.message }, Field("step", "The step") { $0.step }])
    static let end = EventKind<RunSummary>(
        "run_ended", "The run has ended",
        [
            Field("run", "Id of the run") { $0.id.text },
            Field(Schema.Property("status", "How it ended", .choice(["ok", "failed", "cancelled"]))) { $0.status.json },
            Field("exit", "Exit code") { Int($0.exit.rawValue) },
            Field("time", "When it ended") { $0.ended },
            Field("seconds", "How long it took") { ($0.ended - $0.started) / .seconds(1) },
            Field(Schema.Property("outputs", "Outputs of the bundle", .map(.any))) { .object($0.outputs) },
            Field("error", "The first failure, in the order of the file") { $0.error },
        ])

    /// A member that is there only if it is true.
    private static func flag(
        _ name: String, _ summary: String, _ isSo: @escaping @Sendable (StepUpdate) -> Bool
    ) -> Field<StepUpdate> {
        Field(name, summary) { isSo($0) ? true : Bool?.none }
    }

    /// What a run sends.
    public static var all: [EventDeclaration] {
        [
            start.declaration, stepStart.declaration, spread.declaration, output.declaration, stepEnd.declaration,
            notice.declaration, end.declaration,
        ]
    }

    /// The JSON Schema (2020-12) of one line.
    public static var schema: JSON {
        let result = EventDeclaration(
            "result", "The result of the command, as after every command",
            [
                .init("is_error", "Whether it failed", .optional(.boolean)),
                .init("error", "Why it failed", .optional(.map(.any))),
            ])
        return [
            "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A line of martlet run --format ndjson",
            "description": .string(
                "The first line is run_started with the version of this format, and run_ended ends the run. A line of "
                    + "type result or error follows, as after every command. New types and members may be added."
            ),
            "oneOf": .array((all + [result]).map(\.briefSchema)),
        ]
    }
}

extension EventDeclaration {
    /// The schema in the form in which it was published first, which says nothing about the members besides their shape.
    fileprivate var briefSchema: JSON {
        let schema = jsonSchema
        var properties = schema["properties"]?.object ?? [:]
        for member in members where member.keywords["const"] == nil {
            properties[member.name] = member.schema.unwrapped.brief
        }
        return [
            "description": .string(summary), "type": "object", "properties": .object(properties),
            "required": schema["required"] ?? [],
        ]
    }
}

extension Schema {
    fileprivate var brief: JSON {
        switch self {
        case .any: return true
        case .choice(let words): return ["enum": words.json]
        case .map: return ["type": "object"]
        case .array(let element): return ["type": "array", "items": element.brief]
        case .record(let members):
            let required = members.filter { !$0.schema.isOptional }
            return [
                "type": "object",
                "properties": .object(JSONObject(members.map { ($0.name, $0.schema.unwrapped.brief) })),
                "required": required.map(\.name).json,
            ]
        default: return .object(jsonSchema)
        }
    }
}

extension RunEvent {
    /// The version of the lines. It changes if programs that read them could misunderstand them.
    public static let version = 1

    /// The event for a program: one object with a `type` and its members.
    ///
    /// - Parameter text: the text of the same event for a person.
    public func action(text: String? = nil) -> ActionEvent {
        switch self {
        case .began(let facts): RunEvents.start.event(facts, text: text)
        case .step(let update) where update.outcome.status == .running && !update.isRestored:
            RunEvents.stepStart.event(update, text: text)
        case .step(let update): RunEvents.stepEnd.event(update, text: text)
        case .spread(let step, let count): RunEvents.spread.event((step, count), text: text)
        case .output(let step, let event): RunEvents.output.event((step, event), text: text)
        case .notice(let step, let message): RunEvents.notice.event((step, message), text: text)
        case .ended(let summary): RunEvents.end.event(summary, text: text)
        }
    }
}
