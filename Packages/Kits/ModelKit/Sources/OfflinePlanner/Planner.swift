import Capabilities
import JSON

/// Decides what the model says or calls next.
struct Planner {
    struct Step {
        var text: String
        var calls: [ToolCall] = []
    }

    private let transcript: Transcript
    private let plan: Plan
    private let tools: ToolShelf

    init(_ request: ChatRequest) {
        transcript = Transcript(request.messages)
        plan = Grammar.plan(for: transcript.questions)
        tools = ToolShelf(request.tools)
    }

    func next() -> Step {
        var desk = Desk(tools, transcript)
        guard !plan.steps.isEmpty else {
            let question = transcript.questions.last ?? ""
            desk.say(Help.text(after: question, tools: tools.all, isKnown: transcript.hasIntroduction))
            return Step(text: end(desk))
        }
        if plan.isPending {
            desk.say(outline)
            desk.say("Say **go on** and I will carry it out.")
            return Step(text: end(desk))
        }
        if plan.steps.count > 1 { desk.say(outline) }
        for (index, step) in plan.steps.enumerated() {
            if plan.steps.count > 1 { desk.say("### \(index + 1). \(step.words.capitalisedFirst)") }
            do { try step.carryOut(at: &desk) } catch {
                if case .waits(let calls) = error { return Step(text: desk.text, calls: calls) }
                let endsPlan = say(error, at: &desk)
                if endsPlan, index + 1 < plan.steps.count {
                    let left = plan.steps[(index + 1)...].map(\.words).joined(separator: "; ")
                    desk.say("I stop here; these steps were not done: \(left).")
                    break
                }
            }
        }
        return Step(text: end(desk))
    }

    private var outline: String {
        let steps = plan.steps.enumerated().map { "\($0.offset + 1). \($0.element.words.capitalisedFirst)" }
        return "My plan:\n\n" + steps.joined(separator: "\n")
    }

    /// The answer, with notes about what was ignored.
    private func end(_ desk: Desk) -> String {
        var desk = desk
        if !plan.steps.isEmpty, !plan.unread.isEmpty {
            let words = plan.unread.map { Markdown.code($0, limit: 80) }.joined(separator: ", ")
            desk.say("*I did not understand \(words) and ignored it.*")
        }
        if transcript.hasAttachments {
            desk.say("*I cannot read attachments, so I ignored those in your message.*")
        }
        return desk.text
    }

    /// Explains why a step was not done. Returns true if the following steps must not be done either.
    private func say(_ stop: Stop, at desk: inout Desk) -> Bool {
        switch stop {
        case .waits: return false
        case .lacks(let tool):
            desk.say(
                """
                For this I need the tool \(Markdown.code(tool.rawValue)), which this conversation does not offer. \
                Ask me in a project, or with tools switched on.
                """)
        case .failed(let tool, let words):
            desk.say("\(Markdown.code(tool.rawValue)) failed: \(Markdown.code(words, limit: 600))")
        case .impossible(let words): desk.say(words)
        case .denied(let tool, let words):
            desk.say(
                """
                The call of \(Markdown.code(tool.rawValue)) was denied, so nothing was done: \
                \(Markdown.code(words, limit: 300))
                """)
            return true
        }
        return false
    }
}

extension String {
    /// The text with a capital first letter.
    var capitalisedFirst: String { prefix(1).uppercased() + dropFirst() }
}

/// The parts of a conversation that the planner needs.
struct Transcript {
    struct Call: Hashable {
        var tool: String
        var input: JSON
    }

    /// The user's messages, in order.
    private(set) var questions: [String] = []
    /// The results of calls since the last of them.
    private(set) var answers: [Call: [ToolResult]] = [:]
    /// The number of calls since the last of them, and in the whole conversation.
    private(set) var callsInTurn = 0
    private(set) var calls = 0
    /// The lines found by the last search for markers before this turn.
    private(set) var markers: [Hit] = []
    /// Whether the last message has attachments.
    private(set) var hasAttachments = false
    /// Whether the introduction was already shown.
    private(set) var hasIntroduction = false

    init(_ messages: [Message]) {
        let start = messages.lastIndex { $0.role == .user } ?? messages.endIndex
        questions = messages.filter { $0.role == .user }.map(\.text)
        if start < messages.endIndex {
            hasAttachments = messages[start].parts.contains { if case .attachment = $0 { true } else { false } }
        }
        for index in messages.indices where messages[index].role == .assistant {
            if messages[index].text.firstRange(of: Help.name) != nil { hasIntroduction = true }
            let made = messages[index].calls.filter { !$0.isDone }
            calls += made.count
            let results = Self.results(behind: index, messages)
            if index > start {
                callsInTurn += made.count
                for call in made {
                    guard let result = results[call.id] else { continue }
                    answers[Call(tool: ToolShelf.plain(call.name), input: call.input), default: []].append(result)
                }
            } else {
                rememberMarkers(made, results)
            }
        }
    }

    /// Returns and removes the next result of a call with this input.
    mutating func takeAnswer(to call: Call) -> ToolResult? {
        guard var results = answers[call], !results.isEmpty else { return nil }
        let result = results.removeFirst()
        answers[call] = results
        return result
    }

    private static func results(behind index: Int, _ messages: [Message]) -> [String: ToolResult] {
        var results: [String: ToolResult] = [:]
        for message in messages[(index + 1)...].prefix(while: { $0.role == .tool }) {
            for case .result(let result) in message.parts { results[result.call] = result }
        }
        return results
    }

    private mutating func rememberMarkers(_ calls: [ToolCall], _ results: [String: ToolResult]) {
        for call in calls where ToolShelf.plain(call.name) == ToolShelf.plain(Tool.search.rawValue) {
            guard let pattern = call.input["pattern"]?.string, FindMarkers.isPattern(pattern),
                let result = results[call.id], !result.isError
            else { continue }
            markers = Hit.all(in: result.content)
        }
    }
}

/// The answer to a message that the model cannot handle.
enum Help {
    /// - Parameter isKnown: Whether this conversation already contains the introduction.
    static func text(after question: String, tools: [String], isKnown: Bool) -> String {
        if isKnown, !asksForHelp(question) { return [short, provider].joined(separator: "\n\n") }
        return [introduction(after: question), abilities, toolWords(tools), provider].joined(separator: "\n\n")
    }

    /// The text by which the introduction is recognised.
    static let name = "I am **martlet-offline**"

    private static let short = """
        I cannot do that: I follow fixed rules and am not a language model. Say **help** to see what I can do.
        """

    private static func introduction(after question: String) -> String {
        let words = Tokenizer.tokens(of: question)
        let isGreeting = words.allSatisfy { $0.kind == .mark || Vocabulary.fillers.contains($0.lower) }
        return """
            \(isGreeting || asksForHelp(question) ? "" : "I cannot do that. ")\(name), a small planner that follows \
            fixed rules. I am not a language model and use no network. I cannot chat or write new code, but I can use \
            the tools of a project.
            """
    }

    private static func asksForHelp(_ question: String) -> Bool {
        let clause = Clause(Tokenizer.tokens(of: question))
        return clause.contains(["help", "who", "capabilities"]) && clause.tokens.count < 8
    }

    private static let abilities = """
        What you can say:

        - `summarise this repository`, `list the Swift files`
        - `find the TODOs`, `search for "time limit" in Sources`, `where is Parser used?`
        - `read README.md lines 1 to 20`
        - `replace "helo" by "hello" in README.md`, or `preview replacing …` and then `apply it`
        - `add a line "done" to NOTES.md`, `remove line 3 of NOTES.md`, `create NOTES.md with "…"`
        - `mark the TODO in main.swift line 12 as done`
        - `run the tests`, ``run `make lint` ``
        - several at once: `find the TODOs and mark the first as done, then run the tests`
        - `make a plan to …`, which I carry out when you say `go on`
        """

    private static func toolWords(_ tools: [String]) -> String {
        guard !tools.isEmpty else { return "This conversation offers no tools, so I cannot do any of this now." }
        let known = Set(Tool.allCases.map { ToolShelf.plain($0.rawValue) })
        let missing = known.subtracting(tools.map(ToolShelf.plain))
        return missing.isEmpty
            ? "All my tools are available here."
            : "Some of my tools are not available here, so not all of this works."
    }

    static let provider = """
        To chat with a language model, add a provider: store a key with `martlet auth secret set openai`, or set \
        `OPENAI_API_KEY`. A local server such as Ollama or llama.cpp needs no key.
        """
}
