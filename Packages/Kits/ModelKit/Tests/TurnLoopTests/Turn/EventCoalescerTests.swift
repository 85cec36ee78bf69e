import Capabilities
import CoreTesting
import Testing

@testable import TurnLoop

@Suite("Event coalescing")
struct EventCoalescerTests {
    @Test("Neighbours of one kind are joined, the order is kept, and empty events are dropped")
    func joins() {
        let events: [ChatEvent] = [
            .began(ChatStart()), .text("a"), .text(""), .text("b"), .reasoning("x"), .reasoning("y"), .text("c"),
            .text(""), .refusal("n"), .refusal("o"), .usage(Usage(inputTokens: 1)), .usage(Usage(inputTokens: 2)),
            .calling(id: "1", name: "read"), .text("d"), .notice("e"), .text(""),
        ]
        #expect(
            EventCoalescer.coalesce(events) == [
                .began(ChatStart()), .text("ab"), .reasoning("xy"), .text("c"), .refusal("no"),
                .usage(Usage(inputTokens: 2)), .calling(id: "1", name: "read"), .text("d"), .notice("e"),
            ])
        #expect(EventCoalescer.coalesce([]).isEmpty)
    }

    @Test("Coalescing keeps the text and leaves nothing to join", arguments: 1...20)
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let events = (0..<200).map { _ -> ChatEvent in
            let text = String(repeating: "é", count: Int.random(in: 0...3, using: &random))
            return switch Int.random(in: 0...3, using: &random) {
            case 0, 1: .text(text)
            case 2: .reasoning(text)
            default: .usage(Usage(inputTokens: text.count))
            }
        }
        let merged = EventCoalescer.coalesce(events)
        func text(_ events: [ChatEvent]) -> String {
            events.map { if case .text(let text) = $0 { text } else { "" } }.joined()
        }
        #expect(text(merged) == text(events), "seed \(seed)")
        #expect(EventCoalescer.coalesce(merged) == merged, "seed \(seed)")
        #expect(merged.count < events.count, "seed \(seed)")
    }
}
