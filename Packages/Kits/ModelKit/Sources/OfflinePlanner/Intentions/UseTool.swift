import Capabilities
import JSON

/// "use fs.read with {"path": "README.md"}": makes exactly that call, for clients that bring their own tools.
struct UseTool: Intention {
    private let tool: String
    private let input: JSON

    init?(_ clause: Clause) {
        guard ["use", "call"].contains(clause.verb),
            let json = clause.tokens.first(where: { $0.kind == .json }),
            let name = clause.tokens[(clause.head + 1)...].first(where: { token in
                token.kind == .quoted || token.kind == .word && !["the", "tool", "with"].contains(token.lower)
            }), let input = try? JSON(parsing: json.text)
        else { return nil }
        tool = name.text
        self.input = input
    }

    var words: String { "use \(tool)" }

    func carryOut(at desk: inout Desk) throws(Stop) {
        guard let name = desk.offeredName(of: tool) else {
            let names = desk.toolNames.map { Markdown.code($0) }.joined(separator: ", ")
            let offer = names.isEmpty ? "There are no tools here." : "Available tools: \(names)."
            throw .impossible("The tool \(Markdown.code(tool)) is not available here. \(offer)")
        }
        let results = try desk.ask([(name: name, input: input)])
        for result in results {
            let verb = result.isError ? "failed with" : "answered"
            desk.say("\(Markdown.code(tool)) \(verb):")
            desk.say(Markdown.block(result.content))
        }
    }
}

/// "repeat: TEXT": answers with the text, which is useful for trying out a client.
struct RepeatText: Intention {
    private let text: String

    /// Takes the whole message, whatever it contains.
    init?(_ message: String) {
        let start = message.drop(while: \.isWhitespace)
        guard start.lowercased().hasPrefix("repeat:") else { return nil }
        let text = start.dropFirst("repeat:".count).drop { $0 == " " }
        guard !text.isEmpty else { return nil }
        self.text = String(text)
    }

    init?(_ clause: Clause) { return nil }

    var words: String { "repeat a text" }

    func carryOut(at desk: inout Desk) { desk.say(text) }
}
