import Capabilities
import ChatHistory
import JSON
import Testing

@Suite("Usage totals")
struct UsageTests {
    /// Stores an answer with this usage.
    private func answer(_ usage: Usage, by model: String, in id: ConversationID, _ history: History) async throws {
        let head = try await history.conversation(id).head
        let draft = history.begin(in: id, after: head, provider: "p", model: model)
        let message = Message(.assistant, "Yes")
        try await draft.finish(ChatAnswer(start: ChatStart(), message: message, finish: .stop, usage: usage))
    }

    @Test("Usage is summed by group, newest first, and unreported values stay unknown")
    func groups() async throws {
        try await withHistory { history in
            let first = try await history.create(ConversationSetup(), title: "A").id
            let second = try await history.create(ConversationSetup(), title: "B").id
            try await answer(Usage(inputTokens: 10, outputTokens: 1), by: "old", in: first, history)
            try await answer(
                Usage(inputTokens: 5, cost: Cost(nanodollars: 7)), by: "new", in: first, history)
            try await answer(Usage(inputTokens: 1), by: "old", in: second, history)
            try await answer(Usage(), by: "silent", in: second, history)
            let models = try await history.usage(by: .model)
            #expect(models.map(\.key) == ["old", "new"])
            #expect(models.map(\.answers) == [2, 1])
            #expect(models[0].usage == Usage(inputTokens: 11, outputTokens: 1))
            #expect(models[1].usage == Usage(inputTokens: 5, cost: Cost(nanodollars: 7)))
            let talks = try await history.usage(by: .conversation)
            #expect(talks.map(\.key) == [second.rawValue, first.rawValue] && talks.map(\.title) == ["B", "A"])
            let days = try await history.usage(by: .day)
            #expect(days.map(\.key) == ["2026-11-21"] && days.first?.usage.inputTokens == 16)
            #expect(try await history.usage(by: .model, HistoryFilter(model: "new")).map(\.key) == ["new"])
            // Several at once are the same as one after the other.
            let all = try await history.usage(by: [.model, .conversation, .day])
            #expect(all == [.model: models, .conversation: talks, .day: days])
        }
    }

    @Test("Invented numbers of a server do not make the sum fail")
    func absurd() async throws {
        try await withHistory { history in
            let id = try await history.create(ConversationSetup()).id
            for _ in 0..<3 {
                try await answer(Usage(inputTokens: .max, cost: Cost(nanodollars: .max)), by: "m", in: id, history)
            }
            #expect(try await history.usage(by: .model).first?.usage.inputTokens == 3_000_000_000_000)
        }
    }
}
