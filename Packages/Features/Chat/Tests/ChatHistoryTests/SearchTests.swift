import Capabilities
import ChatHistory
import Testing

@Suite("Search", .timeLimit(.minutes(5)))
struct SearchTests {
    @Test("A search finds words in messages, newest first, and marks them")
    func words() async throws {
        try await withHistory { history in
            let old = try await history.talk("The quick brown fox", "A quick answer")
            try await history.talk("Slow brown bear")
            let hits = try await history.search("brown")
            #expect(hits.map(\.snippet.plain) == ["Slow brown bear", "The quick brown fox"])
            #expect(hits[1].conversation == old.id && hits[1].title == "The quick brown fox" && hits[1].role == .user)
            #expect(hits[1].snippet.marked("**", "**") == "The quick **brown** fox")
            #expect(hits[1].snippet.runs.map(\.isMatch) == [false, true, false])
            #expect(try await history.found("quick -brown") == ["A quick answer"])
            #expect(try await history.found("\"brown fox\"") == ["The quick brown fox"])
            #expect(try await history.found("qui*").count == 2)
            #expect(try await history.found("QUICK answer") == ["A quick answer"])
            for nothing in ["", "-brown", "\"", "(", "NEAR(", "zebra", "*"] {
                #expect(try await history.found(nothing) == [], "\(nothing)")
            }
        }
    }

    @Test("Accents do not matter, and tool results are not searched")
    func kinds() async throws {
        try await withHistory { history in
            let chat = try await history.talk("Crème brûlée", "Отлично")
            try await history.append(
                Message(.tool, [.result(ToolResult(call: "c", content: "creme")), .text("creme")]), to: chat.id,
                after: chat.head)
            #expect(try await history.found("creme brulee") == ["Crème brûlée"])
            #expect(try await history.found("отлично") == ["Отлично"])
        }
    }

    @Test("Filters and pages narrow a search")
    func filters() async throws {
        try await withHistory { history in
            let setup = ConversationSetup(provider: "openai", model: "m", server: "lab")
            let chat = try await history.create(setup)
            var parent: MessageID?
            for number in 0..<30 {
                parent = try await history.append(
                    Message(.assistant, "apple \(number)"), to: chat.id, after: parent,
                    model: number.isMultiple(of: 2) ? "n" : nil
                ).id
            }
            try await history.talk("apple elsewhere")
            #expect(try await history.found("apple", HistoryFilter(provider: "openai")).count == 20)
            #expect(try await history.found("apple", HistoryFilter(server: "lab")).first == "apple 29")
            #expect(try await history.found("apple", HistoryFilter(model: "n")).first == "apple 28")
            #expect(try await history.found("apple", HistoryFilter(model: "m")).count == 15)
            var found: [String] = []
            var last: MessageID?
            while true {
                let page = try await history.search("apple", before: last, limit: 7)
                guard let end = page.last else { break }
                found += page.map(\.snippet.plain)
                last = end.message
            }
            #expect(found.count == 31 && Set(found).count == 31)
            let time = try await history.entries(of: chat.id)[28].time
            #expect(
                try await history.found("apple", HistoryFilter(since: time)) == [
                    "apple elsewhere", "apple 29", "apple 28",
                ])
            #expect(try await history.found("apple", HistoryFilter(until: time)).first == "apple 27")
        }
    }
}
