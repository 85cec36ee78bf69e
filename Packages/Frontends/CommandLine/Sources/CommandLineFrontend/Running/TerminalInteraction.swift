import Capabilities
import JSON
import TerminalKit

/// Asks questions on the terminal, unless the answer was already given.
struct TerminalInteraction: Interaction {
    let answers: [String: JSON]
    let output: CommandOutput
    let level: ColorLevel
    let colors: TerminalColors
    /// Whether the terminal does not understand escape sequences.
    let isDumb: Bool

    var canAsk: Bool { true }
    var unattended: any Interaction { HeadlessInteraction(answers: answers) }

    func answer(_ question: Question) async throws -> Answer {
        if answers[question.id] != nil { return try await HeadlessInteraction(answers: answers).answer(question) }
        if case .form(let form) = question.kind {
            output.say(StyledText(PlainText.escapeLines(question.prompt), Style(bold: true)))
            return .form(try await form.filled(question.id, one: answer))
        }
        // A new turn begins after a composition, with its own progress and time.
        if case .composition = question.kind { output.retireProgress() }
        return try await output.aroundQuestion { try await ask(question) }
    }

    private func ask(_ question: Question) async throws -> Answer {
        let theme = level == .none ? .plain : colors.theme
        let input = TerminalInput(level: level, theme: theme)
        let prompt = StyledText(PlainText.escapeLines(question.prompt), Style(bold: true))
        let end = StyledText(question.prompt.hasSuffix("?") ? " " : ": ")
        do {
            switch question.kind {
            case .text(let defaultValue):
                let hint = defaultValue.map { " [\($0)]" } ?? ""
                let line = try await input.readLine(prompt: prompt + StyledText(hint) + end)
                guard let line else { throw InteractionError.unanswered(id: question.id, prompt: question.prompt) }
                return .text(line.isEmpty ? defaultValue ?? "" : line)
            case .secret:
                guard let bytes = try await input.readSecret(prompt: prompt + end) else {
                    throw InteractionError.unanswered(id: question.id, prompt: question.prompt)
                }
                return .secret(Secret(String(decoding: bytes, as: UTF8.self)))
            case .confirm:
                let line = try await input.unanswered { try await input.readLine(prompt: prompt + " [y/N] ") }
                return .confirm(["y", "yes"].contains(line?.lowercased() ?? ""))
            case .choice(let options):
                return .choice(try await input.unanswered { try await choose(options, prompt, question, input) })
            case .composition(let history, let completions):
                let composer = Composer(level: level, theme: theme, isDumb: isDumb)
                let written = try await composer.readSeen(
                    prompt: prompt + " ", history: history, completions: completions)
                return .composition(written.map { WrittenText($0.text, seen: $0.seen) })
            case .form: throw InteractionError.wrongKind(question.id)
            }
        } catch let error where error.isInterruption {
            throw CancellationError()
        }
    }

    private func choose(
        _ options: [String], _ prompt: StyledText, _ question: Question, _ input: TerminalInput
    ) async throws -> Int {
        output.say(prompt)
        for (index, option) in options.enumerated() {
            output.say(StyledText("  \(index + 1)  \(PlainText.escape(option))"))
        }
        while true {
            guard let line = try await input.readLine(prompt: "Number: ") else {
                throw InteractionError.unanswered(id: question.id, prompt: question.prompt)
            }
            if let index = Self.option(line, among: options) { return index }
            output.say(StyledText("Please type a number from 1 to \(options.count), or the beginning of an option"))
        }
    }
}

extension TerminalInteraction {
    /// The index of the option given by its number or its beginning; nil if that is ambiguous.
    static func option(_ line: String, among options: [String]) -> Int? {
        if let number = Int(line) { return options.indices.contains(number - 1) ? number - 1 : nil }
        if let index = options.firstIndex(of: line) { return index }
        let word = line.lowercased()
        let fitting = options.indices.filter { !word.isEmpty && options[$0].lowercased().hasPrefix(word) }
        // A plain yes or no selects the first option that begins with it, which is the one that grants least.
        return fitting.count == 1 || ["y", "yes", "n", "no"].contains(word) ? fitting.first : nil
    }
}

extension Error {
    /// Ctrl-C at a prompt ends the command, as it does elsewhere.
    fileprivate var isInterruption: Bool {
        (self as? TerminalError)?.kind == .interrupted
    }
}
