public import Capabilities
public import JSON

/// The shape of a bundle's file, declared once: it checks files, and it is the JSON Schema that editors complete with.
public enum BundleFormat {
    /// The shape of the whole file.
    public static let schema = Schema.record([
        .init("name", "What the bundle is called: lower-case letters, digits and hyphens", .string),
        .init("summary", "What it does, in a line", .optional(.string)),
        .init("needs", "Features that have to be there, such as chat", .optional(.array(.string))),
        .init("inputs", "What it is given when it runs, by name", .optional(.map(input))),
        .init(
            "env", "Values that steps refer to as env.NAME: a text, {variable: NAME} or {secret: NAME}",
            .optional(.map(.any))),
        .init(
            "permissions", "What it may do and reach; without it only actions that read, here", .optional(permissions)),
        .init("steps", "What it does", .array(step)),
        .init("finally", "What it does in the end, however the rest went", .optional(.array(step))),
        .init("outputs", "What the run gives, by name, with expressions", .optional(.map(.any))),
        .init("schedule", "When it runs by itself", .optional(schedule)),
        .init("timeout", "How long all of it may take", .optional(.duration)),
        .init(
            "parallel", "How many steps run at once; as many as there are processors when absent",
            .optional(.integer(1...1_000))),
    ])

    static let input = Schema.record([
        .init("type", "What it is; string when absent", .optional(.choice(BundleInput.Kind.names))),
        .init("summary", "What it is for", .optional(.string)),
        .init("default", "What it is when nobody says; without it, it has to be given", .optional(.any)),
        .init("choices", "What a choice is between", .optional(.array(.string))),
        .init("secret", "Whether it is masked in everything that is written", .optional(.boolean)),
    ])

    static let permissions = Schema.record([
        .init("effects", "The farthest that any action may go", .optional(Effect.schema)),
        .init(
            "actions", "Actions that may do whatever they do: an id, or the beginning of ids as in chat.*",
            .optional(.array(.string))),
        .init(
            "hosts",
            "Servers that may be spoken to, as in *.example.com; set-up, which stands for those that you have set up, when "
                + "absent", .optional(.array(.string))),
        .init(
            "paths",
            "Folders beneath which files may be opened; '.', where the run was started or the project's folder, when absent",
            .optional(.array(.string))),
        .init("secrets", "Secrets whose values may be had, by name with *", .optional(.array(.string))),
        .init("programs", "Programs that steps may run in a sandbox, by name with *", .optional(.array(.string))),
        .init(
            "tools", "Tools that models may use without being asked, as source/tool with *", .optional(.array(.string))),
        .init("calls", "How many actions and tool calls a run may do", .optional(.integer(1...Int.max))),
        .init("time", "For how long a run may begin actions and tool calls", .optional(.duration)),
    ])

    static let schedule = Schema.record([
        .init("every", "The time from one start to the next", .optional(.duration)),
        .init("cron", "The five fields of a crontab, or a word such as @daily", .optional(.string)),
    ])

    static let step = Schema.record([
        .init("id", "How other steps refer to it; step-N when absent", .optional(.string)),
        .init("action", "The action, by its id or its alias", .optional(.string)),
        .init("bundle", "Another bundle, by its path from this one", .optional(.string)),
        .init("with", "What it is given, with expressions", .optional(.map(.any))),
        .init("if", "An expression that says whether it runs", .optional(.any)),
        .init("needs", "The steps that have to be over before; the one above when absent", .optional(.array(.string))),
        .init("matrix", "Lists by name; the step runs for each combination", .optional(.map(.any))),
        .init("foreach", "A list; the step runs for each item, which is each.value", .optional(.any)),
        .init("parallel", "How many of these run at once", .optional(.integer(1...1_000))),
        .init("retry", "When it is tried again", .optional(retry)),
        .init("timeout", "How long one attempt may take", .optional(.duration)),
        .init("continue-on-error", "Whether the run goes on when it fails", .optional(.boolean)),
        .init("cache", "Whether an earlier result is used again", .optional(cache)),
    ])

    static let retry = Schema.record([
        .init(
            "times", "How often it is tried again after the first time; 2 means up to three attempts", .integer(1...100)
        ),
        .init("delay", "How long to wait before; 1s when absent", .optional(.duration)),
        .init("factor", "By what the wait grows each time; 2 when absent", .optional(.number(1...10))),
        .init(
            "on", "The exit codes after which it is tried again; 4, not reached, when absent",
            .optional(.array(.integer(1...255)))),
    ])

    static let cache = Schema.record([
        .init("key", "What has to be the same besides the action and what it is given", .optional(.any)),
        .init("for", "For how long a result is used again", .duration),
    ])

    /// JSON Schema 2020-12 of a bundle's file.
    public static var jsonSchema: JSON {
        var document: JSONObject = [
            "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A Martlet bundle",
        ]
        for (name, value) in schema.jsonSchema { document.append(name, value) }
        return .object(document)
    }
}
