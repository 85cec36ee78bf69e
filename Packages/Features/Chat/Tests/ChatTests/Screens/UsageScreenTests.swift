import Capabilities
import ChatHistory
import CoreTesting
import JSON
import Registry
import Screens
import Testing

@testable import Chat

@Suite("Screen of the usage", .timeLimit(.minutes(5)))
struct UsageScreenTests {
    private static let day: Int64 = 86_400_000_000

    @Test("Tokens by day and cost by model are charts above the groups that were asked for")
    func charts() async throws {
        try await ScreenDesk.run { desk in
            let talk = try await desk.history.create(ConversationSetup(provider: "openai", model: "cheap"))
            var head: MessageID?
            for (day, model, usage) in [
                (1, "cheap", Usage(inputTokens: 7, outputTokens: 1, cost: Cost(nanodollars: 1_000_000_000))),
                (3, "dear", Usage(inputTokens: 5, cost: Cost(nanodollars: 2_000_000_000))),
                (3, "free", Usage(inputTokens: 1)),
            ] {
                desk.set(Timestamp(microseconds: Self.day * Int64(day)))
                let answer = ChatAnswer(
                    start: ChatStart(model: model), message: Message(.assistant, "Yes"), finish: .stop, usage: usage)
                head = try await desk.history.begin(in: talk.id, after: head, provider: "openai").finish(answer).id
            }
            let block = try await desk.test.open("chat.costs", ["by": "provider"]) { view in
                try await view.block { _ in true }
            }
            let charts = block.charts
            #expect(charts.map(\.form) == [.bars, .bars])
            // The second day had no answers, and nobody knows what the model of the third day wrote.
            #expect(charts[0].labels == ["1970-01-02", "1970-01-03", "1970-01-04"])
            #expect(charts[0].series.map(\.name) == ["read", "written"] && charts[0].series[0].values == [7, 0, 6])
            #expect(charts[0].series[1].values.prefix(2) == [1, 0] && charts[0].series[1].values[2].isNaN)
            #expect(charts[1].labels == ["dear", "cheap"] && charts[1].series[0].values == [2, 1])
            #expect(block.rows.map { $0["group"] } == ["openai"] && block.rows[0]["input_tokens"] == 13)

            let late = try await desk.test.open("chat.costs", ["since": "1970-01-04T00:00:00Z"]) { view in
                try await view.block { _ in true }
            }
            #expect(late.charts[0].labels == ["1970-01-04"] && late.rows.count == 2)
        }
    }

    @Test("Without answers there is only the table, which says so")
    func empty() async throws {
        try await ScreenDesk.run { desk in
            let block = try await desk.test.open("chat.costs") { view in try await view.block { _ in true } }
            #expect(block.charts.isEmpty && block.table?.empty == "no answers were counted yet")
        }
    }
}
