public import Capabilities
public import JSON

/// The schema of a bundle file. It validates files and is exported as the JSON Schema for editors.
public enum BundleFormat {
    /// The schema of the whole file.
    public static let schema = Schema.record([
        .init("name", "Name of the bundle: lower-case letters, digits and hyphens", .string),
        .init("summary", "One-line summary", .optional(.string)),
        .init("needs", "Features that must be available, such as chat", .optional(.array(.string))),
        .init("inputs", "Inputs of the bundle, by name", .optional(.map(input))),
        .init(
            "env", "Values for steps, available as env.NAME: text, {variable: NAME} or {secret: NAME}",
            .optional(.map(.any))),
        .init(
            "permissions", "What the bundle may do; default: read in the current folder", .optional(permissions)),
        .init("steps", "Steps", .array(step)),
        .init("finally", "Steps that always run at the end", .optional(.array(step))),
        .init("outputs", "Outputs of the run, by name, with expressions", .optional(.map(.any))),
        .init("schedule", "When the bundle runs automatically", .optional(schedule)),
        .init("timeout", "Timeout of the whole run", .optional(.duration)),
        .init(
            "parallel", "Number of steps that run at once; default: the number of processors",
            .optional(.integer(1...1_000))),
    ])

    static let input = Schema.record([
        .init("type", "Type; default: string", .optional(.choice(BundleInput.Kind.names))),
        .init("summary", "Description", .optional(.string)),
        .init("default", "Default; an input without one is required", .optional(.any)),
        .init("choices", "Allowed values of a choice", .optional(.array(.string))),
        .init("secret", "Whether the value is masked in all output", .optional(.boolean)),
    ])

    static let permissions = Schema.record([
        .init("effects", "The strongest effect that an action may have", .optional(Effect.schema)),
        .init(
            "actions", "Actions that are allowed whatever their effect: an id, or the beginning of ids as in chat.*",
            .optional(.array(.string))),
        .init(
            "hosts",
            "Servers that may be contacted, as in *.example.com; default: set-up, which stands for the servers that "
                + "you have set up", .optional(.array(.string))),
        .init(
            "paths",
            "Folders whose files may be opened; '.' is the default: the current folder, or the folder of the project",
            .optional(.array(.string))),
        .init("secrets", "Secrets that may be read, by name with *", .optional(.array(.string))),
        .init("programs", "Programs that steps may run in a sandbox, by name with *", .optional(.array(.string))),
        .init(
            "tools", "Tools that models may use without asking, as source/tool with *", .optional(.array(.string))),
        .init("calls", "Maximum number of actions and tool calls of a run", .optional(.integer(1...Int.max))),
        .init("time", "How long a run may start new actions and tool calls", .optional(.duration)),
    ])

    static let schedule = Schema.record([
        .init("every", "Time from one start to the next", .optional(.duration)),
        .init("cron", "Five crontab fields, or a word such as @daily", .optional(.string)),
    ])

    static let step = Schema.record([
        .init("id", "Name by which other steps refer to it; default: step-N", .optional(.string)),
        .init("action", "Id or alias of the action", .optional(.string)),
        .init("bundle", "Path of another bundle, relative to this one", .optional(.string)),
        .init("with", "Arguments, with expressions", .optional(.map(.any))),
        .init("if", "Expression that decides whether the step runs", .optional(.any)),
        .init("needs", "Steps that must end first; default: the step above", .optional(.array(.string))),
        .init("matrix", "Lists by name; the step runs once for each combination", .optional(.map(.any))),
        .init("foreach", "List; the step runs once for each item, which is each.value", .optional(.any)),
        .init("parallel", "How many of these runs happen at once", .optional(.integer(1...1_000))),
        .init("retry", "When a failed step is retried", .optional(retry)),
        .init("timeout", "Timeout of one attempt", .optional(.duration)),
        .init("continue-on-error", "Whether the run goes on if the step fails", .optional(.boolean)),
        .init("cache", "When an earlier result is reused", .optional(cache)),
    ])

    static let retry = Schema.record([
        .init(
            "times", "Number of retries; 2 means up to three attempts", .integer(1...100)
        ),
        .init("delay", "Delay before the first retry; default: 1s", .optional(.duration)),
        .init("factor", "Factor by which the delay grows each time; default: 2", .optional(.number(1...10))),
        .init(
            "on", "Exit codes after which the step is retried; default: 4 (unreachable)",
            .optional(.array(.integer(1...255)))),
    ])

    static let cache = Schema.record([
        .init("key", "What must be the same besides the action and its arguments", .optional(.any)),
        .init("for", "How long a result is reused", .duration),
    ])

    /// The JSON Schema (2020-12) of a bundle file.
    public static var jsonSchema: JSON {
        var document: JSONObject = [
            "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A Martlet bundle",
        ]
        for (name, value) in schema.jsonSchema { document.append(name, value) }
        return .object(document)
    }
}
