import Capabilities
import CoreTesting
import JSON
import Synchronization
import Testing

@testable import TurnLoop

@Suite("Random turns")
struct RandomTurnTests {
    @Test(
        "A random turn gives each call one result, in order, after its call, and leaves a valid history",
        .timeLimit(.minutes(5)),
        arguments: 1...300)
    func random(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let fixture = TurnFixture()
        let tools = ScriptedTools([
            tool("read"), tool("fail") { _ in throw ToolFault() }, tool("write", .writes), tool("drop", .destroys),
        ])
        let steps = (0..<Int.random(in: 1...4, using: &random)).map { step(number: $0, &random) }
        let model = ScriptedModel(steps: steps)
        let answers = Mutex(random)
        var loop = fixture.loop([tools]) { _ in
            try answers.withLock { random in
                switch Int.random(in: 0...3, using: &random) {
                case 0: ApprovalAnswer(isAllowed: false)
                case 1: throw InteractionError.unanswered(id: "x", prompt: "")
                case 2: ApprovalAnswer(isAllowed: true, scope: .conversation)
                default: ApprovalAnswer(isAllowed: true)
                }
            }
        }
        loop.limits.rounds = 3
        loop.limits.callsPerAnswer = 4
        loop.limits.parallelCalls = 2
        let stopAt = Bool.random(using: &random) ? Int.random(in: 0...60, using: &random) : .max
        let outcome = try await run(loop, model, fixture, stoppingAt: stopAt)

        let history = outcome.messages.map(\.message)
        #expect(isValid(history), "seed \(seed)")
        #expect(HistoryRepair.repaired(history) == history, "seed \(seed)")
        #expect(fixture.stored == outcome.messages, "seed \(seed)")
        #expect(tools.overlaps.allSatisfy { $0.allSatisfy { !$0.hasPrefix("write") && !$0.hasPrefix("drop") } })
        check(fixture.updates, against: history, seed)
    }

    /// Cancels the turn after this many events.
    private func run(
        _ loop: TurnLoop, _ model: ScriptedModel, _ fixture: TurnFixture, stoppingAt limit: Int
    ) async throws -> TurnOutcome {
        let cancel = Mutex<(@Sendable () -> Void)?>(nil)
        let ready = Signal()
        let turn = Task {
            await ready.wait()
            return try await loop.run(
                ChatRequest(model: "m", messages: [Message(.user, "Go.")]), asking: { try await model.answer($0, $1) }
            ) { events in
                let count = fixture.events.withLock { all in
                    all += events
                    return all.count
                }
                if count >= limit { cancel.withLock { $0?() } }
            }
        }
        cancel.withLock { $0 = { turn.cancel() } }
        ready.raise()
        return try await turn.value
    }

    private func step(number: Int, _ random: inout SeededGenerator) -> ScriptedModel.Step {
        var parts: [Message.Part] = Bool.random(using: &random) ? [.text("Let me see what there is.")] : []
        for index in 0..<Int.random(in: 0...6, using: &random) {
            // Some servers repeat ids.
            let id = Int.random(in: 0...4, using: &random) == 0 ? "same" : "\(number)-\(index)"
            switch Int.random(in: 0...6, using: &random) {
            case 0: parts.append(call(id, "unknown"))
            case 1: parts.append(.malformedCall(MalformedCall(id: id, name: "read", text: "{", reason: "it is cut")))
            case 2: parts.append(call(id, "write"))
            case 3: parts.append(call(id, "drop"))
            case 4: parts.append(call(id, "fail"))
            default: parts.append(call(id, "read"))
            }
        }
        let events = parts.map { part -> ChatEvent in
            switch part {
            case .call(let call): .call(call)
            case .malformedCall(let call): .malformedCall(call)
            default: .text("So far")
            }
        }
        if Int.random(in: 0...5, using: &random) == 0 { return .breaks(after: events, ToolFault()) }
        if parts.isEmpty { parts = [.text("That is all.")] }
        let finish: ChatAnswer.Finish = Int.random(in: 0...9, using: &random) == 0 ? .refused : .calls
        return .says(parts, finish: finish)
    }

    /// The states of a call: it waits, it is decided, and only the last state has the result.
    private func check(_ updates: [CallUpdate], against history: [Message], _ seed: UInt64) {
        var rows: [[CallUpdate]] = []
        var open: [String: Int] = [:]
        for update in updates {
            if update.state == .waiting {
                open[update.call.id] = rows.count
                rows.append([])
            }
            guard let row = open[update.call.id] else {
                Issue.record("seed \(seed): \(update.call.id) has a state before it waits")
                return
            }
            rows[row].append(update)
        }
        let results = history.flatMap(\.parts).compactMap { part -> ToolResult? in
            if case .result(let result) = part { result } else { nil }
        }
        #expect(rows.compactMap { $0.last?.result } == results, "seed \(seed)")
        let allowed: [[CallUpdate.State]] = [
            [.waiting, .failed], [.waiting, .denied], [.waiting, .approved, .failed],
            [.waiting, .approved, .running, .done], [.waiting, .approved, .running, .failed],
        ]
        for row in rows {
            #expect(allowed.contains(row.map(\.state)), "seed \(seed): \(row.map(\.state))")
            #expect(row.filter { $0.result != nil }.count == 1, "seed \(seed)")
        }
    }
}
