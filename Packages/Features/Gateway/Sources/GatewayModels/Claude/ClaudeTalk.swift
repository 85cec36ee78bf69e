import Capabilities
import JSON
import ProcessKit
import TurnLoop

/// The talk with a running process. It belongs to the one task that runs it.
struct ClaudeTalk {
    private let run: ClaudeRun
    private var turn: ClaudeTurn
    var permissions: ClaudePermissions
    /// What is to be written. A task of its own writes it, so that a process that writes before it reads blocks nobody.
    private let outgoing = AsyncStream.makeStream(of: JSON.self)
    private var tasks: [Task<Void, Never>] = []
    private(set) var status: ChildStatus?
    private var isDrained = false
    private var isOverdue = false
    private var lines = 0
    private var garbage = 0
    /// Whether the person wants it to end.
    var isStopping = false
    /// Which limit does not let it go on.
    private var refusal: TurnOutcome.End?
    /// The last of what it wrote to its standard error.
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
            // The scope of the child ends this, and then nobody asks.
            do { inbox.post(.exited(try await child.exitStatus())) } catch {}
        }
        let writer = Task {
            do {
                for await frame in frames { try await input.write(Array((frame.text() + "\n").utf8)) }
                input.close()
            } catch {
                // It reads no more; what it says, or its end, tells why.
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
            // Its last lines may still have to be read, and a process that it has left behind may hold its output.
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
            // While there is still something to read it is not the process that is slow.
            if lines == after { isOverdue = true } else { expectEnd() }
        }
    }

    private mutating func take(_ line: [UInt8]) async throws {
        guard !line.allSatisfy({ $0 == 0x20 || $0 == 0x0D }) else { return }
        guard let frame = Self.frame(line), let type = frame["type"]?.string else {
            garbage += 1
            if garbage == 1 {
                try await deliver([.notice("claude wrote a line that is no message; it was passed over")])
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
                // The end of its input is the end of its work.
                outgoing.continuation.finish()
                expectEnd()
            } else if let denial = turn.denial {
                refusal = .failed(AnyFailure(GatewayModelsError.denied(denial)))
            } else if turn.isBetweenRounds, !isStopping {
                refusal = await refusalOfNextRound()
            }
        }
    }

    /// Gives it the message once it knows how to ask.
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

    /// Nil for what is no JSON, which is told as what is no message.
    private static func frame(_ line: [UInt8]) -> JSON? {
        do { return try JSON(parsing: line, reading: .stream) } catch { return nil }
    }

    /// Waits no longer than is polite for what is left.
    private mutating func expectEnd() {
        let (inbox, clock, limit, lines) = (run.inbox, run.claude.clock, run.claude.limits.farewell, lines)
        tasks.append(
            Task {
                // Cut short when the end has come.
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

    /// What came of it, and what is still to be told.
    mutating func outcome(_ problem: AnyFailure?) -> (TurnOutcome, [TurnEvent]) {
        turn.finish(
            ClaudeEnd(
                isStopping: isStopping, refusal: refusal, status: status, errors: errors, problem: problem, run: run))
    }
}
