import Capabilities
public import JSON
public import Registry
public import Runs

/// The JSON Schema of the lines that `martlet run --format ndjson` prints.
public enum RunEventSchema {
    /// The JSON Schema (2020-12) of one line.
    public static var json: JSON {
        [
            "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A line of martlet run --format ndjson",
            "description": .string(
                "The first line is run_started with the version of this format, and run_ended ends the run. A line of "
                    + "type result or error follows, as after every command. New types and members may be added."
            ),
            "oneOf": .array(lines),
        ]
    }

    private static let lines: [JSON] = [
        line(
            "run_started", "The run starts",
            [
                "version": ["const": .int(RunEvent.version)], "run": text, "name": text, "file": text, "time": time,
                "resumed": boolean, "steps": ["type": "array", "items": text],
            ]),
        line(
            "step_started", "An attempt of a step starts",
            ["step": text, "does": text, "attempt": number, "time": time, "with": ["type": "object"]],
            optional: ["repeated": boolean]),
        line(
            "step_spread",
            "A step with several parts starts: several runs, or the steps of the bundle that it runs",
            ["step": text, "count": number]),
        line(
            "step_output", "Output of the step's action", ["step": text, "event": ["type": "object"]]),
        line(
            "step_ended", "A step, one of its runs or an attempt has ended",
            [
                "step": text, "does": text, "status": ["enum": .array(StepStatus.allCases.map(\.json))],
                "attempt": number, "time": time, "seconds": ["type": "number"], "exit": number, "result": true,
            ],
            optional: [
                "error": error, "restored": boolean, "cached": boolean, "again": boolean, "forgiven": boolean,
            ]),
        line("notice", "A notice", ["message": text], optional: ["step": text]),
        line(
            "run_ended", "The run has ended",
            [
                "run": text, "status": ["enum": ["ok", "failed", "cancelled"]], "exit": number, "time": time,
                "seconds": ["type": "number"], "outputs": ["type": "object"],
            ], optional: ["error": error]),
        line(
            "result", "The result of the command, as after every command", [:],
            optional: ["is_error": boolean, "error": ["type": "object"]]),
    ]

    private static let text: JSON = ["type": "string"]
    private static let number: JSON = ["type": "integer"]
    private static let boolean: JSON = ["type": "boolean"]
    private static let time: JSON = ["type": "string", "format": "date-time"]
    private static let error: JSON = [
        "type": "object", "properties": ["code": text, "message": text], "required": ["code", "message"],
    ]

    private static func line(
        _ type: String, _ summary: String, _ members: JSONObject, optional: JSONObject = [:]
    ) -> JSON {
        var properties: JSONObject = ["type": ["const": .string(type)]]
        for (name, schema) in members { properties.append(name, schema) }
        for (name, schema) in optional { properties.append(name, schema) }
        return [
            "description": .string(summary), "type": "object", "properties": .object(properties),
            "required": .array([.string("type")] + members.keys.map { .string($0) }),
        ]
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
        case .began(let facts): ActionEvent("run_started", Self.fields(facts), text: text)
        case .step(let update) where update.outcome.status == .running && !update.isRestored:
            ActionEvent("step_started", Self.begun(update), text: text)
        case .step(let update): ActionEvent("step_ended", Self.ended(update), text: text)
        case .spread(let step, let count):
            ActionEvent("step_spread", ["step": .string(step), "count": .int(count)], text: text)
        case .output(let step, let event):
            ActionEvent("step_output", ["step": .string(step), "event": event.json], text: text)
        case .notice(let step, let message):
            ActionEvent("notice", Self.notice(step, message), text: text)
        case .ended(let summary): ActionEvent("run_ended", Self.fields(summary), text: text)
        }
    }

    private static func fields(_ facts: RunFacts) -> JSONObject {
        [
            "version": .int(version), "run": .string(facts.id.text), "name": .string(facts.name),
            "file": .string(facts.file), "time": facts.started.json, "resumed": .bool(facts.isResumed),
            "steps": facts.steps.json,
        ]
    }

    private static func begun(_ update: StepUpdate) -> JSONObject {
        var fields: JSONObject = [
            "step": .string(update.key), "does": .string(update.work), "attempt": .int(update.attempt),
            "time": update.time.json, "with": update.arguments,
        ]
        if update.isRepeated { fields.append("repeated", true) }
        return fields
    }

    private static func ended(_ update: StepUpdate) -> JSONObject {
        let outcome = update.outcome
        var fields: JSONObject = [
            "step": .string(update.key), "does": .string(update.work), "status": outcome.status.json,
            "attempt": .int(update.attempt), "time": update.time.json,
            "seconds": .double(outcome.duration / .seconds(1)), "exit": .int(outcome.exit), "result": outcome.result,
        ]
        if let error = outcome.error { fields.append("error", error.json) }
        for (name, value) in [
            ("restored", update.isRestored), ("cached", update.isCached), ("again", update.triesAgain),
            ("forgiven", outcome.isForgiven),
        ] where value {
            fields.append(name, true)
        }
        return fields
    }

    private static func notice(_ step: String?, _ message: String) -> JSONObject {
        var fields: JSONObject = ["message": .string(message)]
        if let step { fields.append("step", .string(step)) }
        return fields
    }

    private static func fields(_ summary: RunSummary) -> JSONObject {
        var fields: JSONObject = [
            "run": .string(summary.id.text), "status": summary.status.json, "exit": .int(Int(summary.exit.rawValue)),
            "time": summary.ended.json, "seconds": .double((summary.ended - summary.started) / .seconds(1)),
            "outputs": .object(summary.outputs),
        ]
        if let error = summary.error { fields.append("error", error.json) }
        return fields
    }
}
