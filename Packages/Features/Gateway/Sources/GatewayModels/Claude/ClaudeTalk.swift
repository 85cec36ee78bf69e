import Capabilities
import JSON
import ProcessKit
import TurnLoop

/// The exchange with a running process. Only one task uses it.
struct ClaudeTalk {
    private let run: ClaudeRun
    private var turn: ClaudeTurn
    var permissions: ClaudePermissions
    /// Outgoing messages. A separate task writes them, so that a process that does not read yet cannot block this one.
    private let outgoing = AsyncStream.makeStream(of: JSON.self)
    private var tasks: [Task<Void, Never>] = []
    private(set) var status: ChildStatus?
    private var isDrained = false
    private var isOverdue = false
    private var lines = 0
    private var garbage = 0
    /// Whether the user stopped the turn.
    var isStopping = false
    /// The limit or error that ends the turn.
    private var refusal: TurnOutcome.End?
    /// The end of its standard error output.
    var errors: [UInt8] = []

    init(_ run: ClaudeRun) {
        self.run = run
        turn = ClaudeTurn(isResumed: run.order.resume != nil, now: run.claude.now)
        permissions = ClaudePermissions(run)
    }

    mutating func run(with child: ChildProcess) async throws {
        let (inbox, limit) = (run.inbox, run.claude.limits.line)
        let (output, input, frames) = (try child.output, try child.input, outgoing.stream)
        let reader = Task { await inbox.read(output, limit: limit) }
        let watcher = Task {
            // An error means that the scope of the child has ended, and the status is no longer needed.
            do { inbox.post(.exited(try await child.exitStatus())) } catch {}
        }
        let writer = Task {
            do {
                for await frame in frames { try await input.write(Array((frame.text() + "\n").utf8)) }
                input.close()
            } catch {
                // It has stopped reading; its messages or its exit tell why.
            }
        }
        tasks += [reader, watcher, writer]
        defer {
            permissions.cancelAll()
            for task in tasks { task.cancel() }
        }
        send(run.order.start)
        for await news in inbox.news {
            try await take(news)
            if isOverdue || refusal != nil || isDrained && status != nil { return }
        }
        throw CancellationError()
    }

    private mutating func take(_ news: ClaudeNews) async throws {
        switch news {
        case .line(let line):
            lines += 1
            try await take(line)
            run.inbox.permitNextLine()
        case .unreadable(let failure): throw failure
        case .outputEnded:
            isDrained = true
            if status == nil { expectEnd() }
        case .exited(let status):
            self.status = status
            // Its last lines may still be unread, and a process that it left behind may hold its output open.
            if !isDrained { expectEnd() }
        case .answered(let id, let answer):
            try await settle(permissions.answer(id, answer, &turn))
        case .expired(let id): try await settle(permissions.expire(id, &turn))
        case .stopped:
            isStopping = true
            permissions.cancelAll()
            send([
                "type": "control_request", "request_id": "martlet-interrupt", "request": ["subtype": "interrupt"],
            ])
        case .overdue(let after):
            // While there are lines to read, the process is not the slow one.
            if lines == after { isOverdue = true } else { expectEnd() }
        }
    }

    private mutating func take(_ line: [UInt8]) async throws {
        guard !line.allSatisfy({ $0 == 0x20 || $0 == 0x0D }) else { return }
        guard let frame = Self.frame(line), let type = frame["type"]?.string else {
            garbage += 1
            if garbage == 1 {
                try await deliver([.notice("claude wrote an invalid message; it was ignored")])
            }
            return
        }
        switch type {
        case "control_request": try await settle(permissions.take(frame, &turn))
        case "control_cancel_request":
            try await deliver(permissions.withdraw(frame["request_id"]?.string ?? "", &turn))
        case "control_response": begin(frame["response"])
        default:
            try await deliver(turn.receive(frame))
            if turn.result != nil {
                // Closing its input makes it exit.
                outgoing.continuation.finish()
                expectEnd()
            } else if let denial = turn.denial {
                refusal = .failed(AnyFailure(GatewayModelsError.denied(denial)))
            } else if turn.isBetweenRounds, !isStopping {
                refusal = await refusalOfNextRound()
            }
        }
    }

    /// Sends the user's message after the command has confirmed that it will ask for permission.
    private mutating func begin(_ response: JSON?) {
        guard response?["request_id"]?.string == ClaudeOrder.startID else { return }
        if response?["subtype"]?.string != "success" {
            refusal = .failed(AnyFailure(GatewayModelsError.claudeTooOld(response?["error"]?.string ?? "")))
        } else if isStopping {
            outgoing.continuation.finish()
        } else {
            send(run.order.message)
        }
    }

    private func refusalOfNextRound() async -> TurnOutcome.End? {
        guard turn.rounds < run.claude.limits.rounds else { return .roundLimit }
        do {
            try await run.admit(turn.rounds, turn.usage)
            return nil
        } catch {
            return Task.isCancelled ? .stopped : .failed(AnyFailure(error))
        }
    }

    private func settle(_ step: ClaudePermissions.Step) async throws {
        try await deliver(step.events)
        if let reply = step.reply { send(reply) }
    }

    /// The parsed line; nil if it is not JSON, which counts as an invalid message.
    private static func frame(_ line: [UInt8]) -> JSON? {
        do { return try JSON(parsing: line, reading: .stream) } catch { return nil }
    }

    /// Sets a time limit for the rest of its output and its exit.
    private mutating func expectEnd() {
        let (inbox, clock, limit, lines) = (run.inbox, run.claude.clock, run.claude.limits.farewell, lines)
        tasks.append(
            Task {
                // Cancelled when it has ended.
                do { try await clock.sleep(for: limit) } catch { return }
                inbox.post(.overdue(after: lines))
            })
    }

    private func send(_ frame: JSON) { outgoing.continuation.yield(frame) }

    private func deliver(_ events: [TurnEvent]) async throws {
        guard !events.isEmpty else { return }
        do { try await run.emit(events) } catch {
            if Task.isCancelled { throw CancellationError() }
            throw ClaudeRun.EmitFailure(error: error)
        }
    }

    /// The outcome of the turn, and its last events.
    mutating func outcome(_ problem: AnyFailure?) -> (TurnOutcome, [TurnEvent]) {
        turn.finish(
            ClaudeEnd(
                isStopping: isStopping, refusal: refusal, status: status, errors: errors, problem: problem, run: run))
    }
}

/// How the process ended, which determines how the turn ended.
struct ClaudeEnd {
    /// The maximum number of characters of its messages that an error quotes.
    private static let longestQuotation = 600

    var isStopping: Bool
    /// The limit or error that ended the turn.
    var refusal: TurnOutcome.End?
    var status: ChildStatus?
    /// The end of its standard error output.
    var errors: [UInt8]
    /// The error that kept it from running.
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
        // The command reports an unknown session before it does anything else.
        if let resume = run.order.resume, turn.rounds == 0, turn.serviceWords == nil,
            result.subtype == "error_during_execution"
        {
            let session = PlainText.escape(String(resume.prefix(80)))
            return .failed(
                AnyFailure(
                    GatewayModelsError(
                        .claudeSession, "claude cannot resume its session \(session)\(words); start a new one")))
        }
        return .failed(AnyFailure(GatewayModelsError(.claudeFailed, "claude failed in this turn\(words)")))
    }

    private var crash: GatewayModelsError {
        let how =
            switch status {
            case .exited(let code)?: "with exit code \(code)"
            case .signalled(let number)?: "by signal \(number)"
            case nil: "its output"
            }
        let words = words(String(decoding: errors, as: UTF8.self))
        return GatewayModelsError(.claudeCrashed, "claude ended \(how) before it finished the turn\(words); try again")
    }

    /// Text of the command for use in an error message: short, escaped, without its secrets and without texts that look
    /// like secrets.
    private func words(_ said: String) -> String {
        var said = said
        for (name, value) in run.claude.environment.variables where value.count >= 8 && Self.isSecret(name) {
            while let range = said.utf8.firstRange(of: value.utf8) { said.replaceSubrange(range, with: "…") }
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
    /// The outcome of the turn, and the last events: results for calls without one, and the message to store.
    mutating func finish(_ end: ClaudeEnd) -> (TurnOutcome, [TurnEvent]) {
        var outcome = TurnOutcome(end: end.end(of: self))
        var (isWhole, words) = (false, "the result of this call is not known: claude ended before it finished")
        switch outcome.end {
        case .answered: isWhole = true
        case .stopped: words = "stopped by the person before it was done"
        default: break
        }
        var events = settleAll(words)
        var message = Message(.assistant, parts)
        // The answer to one of claude's slash commands comes only in the result.
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
