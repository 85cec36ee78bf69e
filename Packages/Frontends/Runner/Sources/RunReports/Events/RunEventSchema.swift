import Capabilities
public import JSON
import Runs

/// The JSON Schema of the lines that `martlet run --format ndjson` prints.
public enum RunEventSchema {
    /// JSON Schema 2020-12 of one line.
    public static var json: JSON {
        [
            "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A line of martlet run --format ndjson",
            "description": .string(
                "The first line is run_started with the version of this format, and run_ended ends the run. A line of "
                    + "the type result or error that follows is that of every command. New types and members may be added."
            ),
            "oneOf": .array(lines),
        ]
    }

    private static let lines: [JSON] = [
        line(
            "run_started", "The run begins",
            [
                "version": ["const": .int(RunEvent.version)], "run": text, "name": text, "file": text, "time": time,
                "resumed": boolean, "steps": ["type": "array", "items": text],
            ]),
        line(
            "step_started", "An attempt of a step begins",
            ["step": text, "does": text, "attempt": number, "time": time, "with": ["type": "object"]],
            optional: ["repeated": boolean]),
        line(
            "step_spread",
            "A step begins that consists of so many: runs of it, or the steps of the bundle that it runs",
            ["step": text, "count": number]),
        line(
            "step_output", "Something that the step's action said", ["step": text, "event": ["type": "object"]]),
        line(
            "step_ended", "A step, one of its runs or an attempt is over",
            [
                "step": text, "does": text, "status": ["enum": .array(StepStatus.allCases.map(\.json))],
                "attempt": number, "time": time, "seconds": ["type": "number"], "exit": number, "result": true,
            ],
            optional: [
                "error": error, "restored": boolean, "cached": boolean, "again": boolean, "forgiven": boolean,
            ]),
        line("notice", "Something worth knowing", ["message": text], optional: ["step": text]),
        line(
            "run_ended", "The run is over",
            [
                "run": text, "status": ["enum": ["ok", "failed", "cancelled"]], "exit": number, "time": time,
                "seconds": ["type": "number"], "outputs": ["type": "object"],
            ], optional: ["error": error]),
        line(
            "result", "What the command gives, as after every command", [:],
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
