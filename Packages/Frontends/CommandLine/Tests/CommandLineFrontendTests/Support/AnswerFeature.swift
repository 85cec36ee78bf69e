import Capabilities
import Glibc
import JSON
import Registry
import Screens
import Settings

/// Actions that stream Markdown while they run.
struct AnswerFeature: Feature {
    static let manifest = Manifest(id: "answer", summary: "Answers in Markdown", version: "1.0")

    static let text = """
        # Title

        A paragraph with **strong** words that is long enough to be wrapped.

        | Name | Count |
        |------|------:|
        | 漢字 | 12 |

        - one
        - two

        ```swift
        let x = 1
        ```

        """

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        for action in [
            Self.stream, Self.rows, Self.ask, Self.compose, Self.stop, Self.slow, Self.hide, Self.clear, Self.work,
        ] {
            registry.add(action)
        }
    }

    private static func say(_ text: String, _ context: ActionContext) async throws {
        for character in text {
            try await context.emit(ActionEvent("message", text: String(character), format: .markdown))
        }
    }

    private static let stream = Action("answer.stream", "Answer", .reads) { context in
        context.progress("thinking")
        try await say(text, context)
        return Nothing()
    }
    .streaming([])

    private static let clear = Action("answer.clear", "Answer, and begin on an empty window", .reads) { context in
        try await say("before *it*", context)
        try await context.emit(.clear)
        try await say("after **it**", context)
        return Nothing()
    }
    .streaming([])

    private static let rows = Action("answer.rows", "Answer with a row of a tool in between", .reads) { context in
        try await say("before *it*", context)
        try await context.emit(ActionEvent("tool_use", text: "⚙ read *.md"))
        try await say("after **it**", context)
        context.notice("a notice")
        try await say("end", context)
        return Nothing()
    }
    .streaming([])

    private static let ask = Action("answer.ask", "Answer, ask, and answer", .reads) { context in
        try await say("Who **are** you?", context)
        let name = try await context.interaction.text("answer.name", "Name")
        try await say("Hello `\(name)`", context)
        return Nothing()
    }
    .streaming([])

    private static let compose = Action("answer.compose", "Repeat what is composed", .reads) { context in
        while let text = try await context.interaction.composition("answer.text", "you ›", completions: ["/bye"]) {
            try await say("You said:\n\n> \(text.text.replacing("\n", with: "\n> "))", context)
        }
        return Nothing()
    }
    .streaming([])

    private static let hide = Action("answer.hide", "Ask with what a person does not see", .reads) { context in
        let options = ["rm\u{200B} -rf\u{E0041}", "no"]
        let index = try await context.interaction.choice("answer.choice", "Run it\u{202E}\u{200F}?", among: options)
        try await say("\(index)", context)
        return Nothing()
    }
    .streaming([])

    /// Slow enough for the progress line to be drawn between the pieces.
    private static let slow = Action("answer.slow", "Answer in pieces, with progress", .reads) { context in
        context.progress("waiting")
        for piece in ["The first words", " of a line", " and its end\n", "another"] {
            try await Task.sleep(for: .milliseconds(250))
            try await context.emit(ActionEvent("message", text: piece, format: .markdown))
        }
        return Nothing()
    }
    .streaming([])

    /// Shows how its work stands, says something, asks, and ends with text.
    private static let work = Action("answer.work", "Show steps", .reads) { context in
        func show(_ states: KeyValuePairs<String, String>) {
            let nodes = states.map { Tree.Node($0.key, RichText($0.key), state: $0.value) }
            context.show(.stack([Block(.tree(Tree(nodes)), id: "steps"), Block(.text("\(nodes.count) steps"))]))
        }
        context.progress("preparing")
        show(["fetch": "running"])
        context.progress("not seen beside the steps")
        context.notice("this takes long")
        show(["fetch": "ok", "ask": "running"])
        let name = try await context.interaction.text("answer.name", "Name")
        show(["fetch": "ok", "ask": "ok"])
        try await context.emit(ActionEvent("message", text: "Hello \(name)\n"))
        return Nothing()
    }
    .streaming([])

    private static let stop = Action("answer.stop", "Answer until it is interrupted", .reads) { context in
        try await say("This much\n\n- was **said", context)
        kill(getpid(), SIGINT)
        try await Task.sleep(for: .seconds(600))
        return Nothing()
    }
    .streaming([])
}
