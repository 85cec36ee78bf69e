import Capabilities

/// Yields what the model says next.
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
                    desk.say("So I stop here, and these steps are not done: \(left).")
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

    /// The answer, with what was left out of consideration.
    private func end(_ desk: Desk) -> String {
        var desk = desk
        if !plan.steps.isEmpty, !plan.unread.isEmpty {
            let words = plan.unread.map { Markdown.code($0, limit: 80) }.joined(separator: ", ")
            desk.say("*I did not understand \(words), and did nothing about it.*")
        }
        if transcript.hasAttachments {
            desk.say("*I cannot look at attachments, so what came with your message was not considered.*")
        }
        return desk.text
    }

    /// Tells plainly why a step was not done. True when the steps after it must not be done either.
    private func say(_ stop: Stop, at desk: inout Desk) -> Bool {
        switch stop {
        case .waits: return false
        case .lacks(let tool):
            desk.say(
                """
                For this I need the tool \(Markdown.code(tool.rawValue)), and this conversation does not offer it. \
                Ask me in a project, or with tools switched on.
                """)
        case .failed(let tool, let words):
            desk.say("\(Markdown.code(tool.rawValue)) could not do it: \(Markdown.code(words, limit: 600))")
        case .impossible(let words): desk.say(words)
        case .denied(let tool, let words):
            desk.say(
                """
                The call of \(Markdown.code(tool.rawValue)) was not allowed, so nothing was done: \
                \(Markdown.code(words, limit: 300))
                """)
            return true
        }
        return false
    }
}

extension String {
    /// With a capital letter at the beginning.
    var capitalisedFirst: String { prefix(1).uppercased() + dropFirst() }
}
