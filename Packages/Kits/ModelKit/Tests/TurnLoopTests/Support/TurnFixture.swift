import Capabilities
import CoreTesting
import Synchronization
import Testing

@testable import TurnLoop

/// A loop over scripted tools, with a clock that stands still and a record of all events.
final class TurnFixture: Sendable {
    let clock = TestClock()
    let events = Mutex<[TurnEvent]>([])
    private let ticks = Mutex<Int64>(0)

    func loop(
        _ sources: [any ToolSource] = [], policy: ApprovalPolicy = ApprovalPolicy(), approve: TurnLoop.Approve? = nil
    ) -> TurnLoop {
        TurnLoop(sources: sources, policy: policy, clock: clock, now: { self.tick() }, approve: approve)
    }

    /// Each reading of the time is a second later than the previous one.
    private func tick() -> Timestamp {
        ticks.withLock { ticks in
            ticks += 1
            return Timestamp(microseconds: ticks * 1_000_000)
        }
    }

    func run(
        _ loop: TurnLoop, _ model: ScriptedModel, _ history: [Message] = [Message(.user, "Do it.")]
    ) async throws -> TurnOutcome {
        let request = ChatRequest(model: "scripted", messages: history)
        return try await loop.run(request, asking: { try await model.answer($0, $1) }) { events in
            self.events.withLock { $0 += events }
        }
    }

    var all: [TurnEvent] { events.withLock { $0 } }

    /// The states of a call, in order.
    func states(of id: String) -> [CallUpdate.State] {
        updates.filter { $0.call.id == id }.map(\.state)
    }

    var updates: [CallUpdate] {
        all.compactMap { if case .call(let update) = $0 { update } else { nil } }
    }

    var stored: [TurnMessage] {
        all.compactMap { if case .message(let message) = $0 { message } else { nil } }
    }

    var notices: [String] {
        all.compactMap { if case .notice(let notice) = $0 { notice } else { nil } }
    }

    var text: String {
        all.map { if case .chat(.text(let text)) = $0 { text } else { "" } }.joined()
    }
}

extension TurnOutcome {
    /// The results that the turn has stored, in order.
    var results: [ToolResult] {
        messages.flatMap(\.message.parts).compactMap { if case .result(let result) = $0 { result } else { nil } }
    }

    var endName: String {
        switch end {
        case .answered: "answered"
        case .stopped: "stopped"
        case .failed(let failure): "failed: \(failure.code)"
        case .roundLimit: "round limit"
        }
    }
}
