import Capabilities
import ProcessKit
import TurnLoop

/// How the process ended, from which follows how the turn did.
struct ClaudeEnd {
    /// How many characters of its messages a failure quotes.
    private static let longestQuotation = 600

    var isStopping: Bool
    /// What did not let it go on.
    var refusal: TurnOutcome.End?
    var status: ChildStatus?
    /// The last of its messages.
    var errors: [UInt8]
    /// What kept it from running.
    var problem: AnyFailure?
    var run: ClaudeRun

    func end(of turn: ClaudeTurn) -> TurnOutcome.End {
        if let problem { return .failed(problem) }
        if let refusal { return refusal }
        if let result = turn.result, !result.isError { return .answered }
        if isStopping { return .stopped }
        guard let result = turn.result else { return .failed(AnyFailure(crash)) }
        if result.subtype == "error_max_turns" { return .roundLimit }
        let said = result.errors.first ?? result.text ?? turn.serviceWords ?? String(decoding: errors, as: UTF8.self)
        let words = words(said)
        // A session that is not known any more is found out before anything else happens.
        if let resume = run.order.resume, turn.rounds == 0, turn.serviceWords == nil,
            result.subtype == "error_during_execution"
        {
            let session = PlainText.escape(String(resume.prefix(80)))
            return .failed(
                AnyFailure(
                    GatewayModelsError(
                        .claudeSession, "claude cannot go on with its session \(session)\(words); start a new one")))
        }
        return .failed(AnyFailure(GatewayModelsError(.claudeFailed, "claude could not do this turn\(words)")))
    }

    private var crash: GatewayModelsError {
        let how =
            switch status {
            case .exited(let code)?: "with exit code \(code)"
            case .signalled(let number)?: "by signal \(number)"
            case nil: "its output"
            }
        let words = words(String(decoding: errors, as: UTF8.self))
        return GatewayModelsError(.claudeCrashed, "claude ended \(how) before its turn was done\(words); try again")
    }

    /// Words of the command as a part of our sentence: short, harmless, without any secret that it was given or that can
    /// be known by its shape.
    private func words(_ said: String) -> String {
        var said = said
        for (name, value) in run.claude.environment.variables where value.count >= 8 && Self.isSecret(name) {
            while let range = said.firstRange(of: value) { said.replaceSubrange(range, with: "…") }
        }
        said = Redactor().redact(said)
        var words = PlainText.escape(said.split { $0.isNewline }.joined(separator: " / "))
        if words.count > Self.longestQuotation { words = "…" + words.suffix(Self.longestQuotation) }
        while let last = words.last, last == "." || last.isWhitespace { words.removeLast() }
        return words.isEmpty ? "" : ": \(words)"
    }

    private static func isSecret(_ name: String) -> Bool {
        let name = name.uppercased()
        return CommandEnvironment.secretSuffixes.contains { name == $0 || name.hasSuffix("_\($0)") }
    }
}

extension ClaudeTurn {
    /// What came of the turn, and the last events: results of calls that have none, and the message to be stored.
    mutating func finish(_ end: ClaudeEnd) -> (TurnOutcome, [TurnEvent]) {
        var outcome = TurnOutcome(end: end.end(of: self))
        var (isWhole, words) = (false, "no result of this call is known: claude ended before it was done")
        switch outcome.end {
        case .answered: isWhole = true
        case .stopped: words = "stopped by the person before it was done"
        default: break
        }
        var events = settleAll(words)
        var message = Message(.assistant, parts)
        // What a command of its own answers comes in the result alone.
        if isWhole, message.text.isEmpty, let text = result?.text, !text.isEmpty {
            message.parts.append(.text(text))
            events.append(.chat(.text(text)))
        }
        (outcome.usage, outcome.rounds, outcome.isUnapproved) = (usage, rounds, isUnapproved)
        outcome.hasUnfitApproval = hasUnfitApproval
        (outcome.calls, outcome.failedCalls) = (calls, failedCalls)
        if !message.parts.isEmpty {
            let stored = TurnMessage(
                message, isWhole: isWhole, start: start, finish: isWhole ? .stop : nil, usage: usage)
            outcome.messages = [stored]
            events.append(.message(stored))
        }
        if isWhole {
            outcome.answer = ChatAnswer(start: start ?? ChatStart(), message: message, finish: .stop, usage: usage)
        }
        return (outcome, events)
    }
}
