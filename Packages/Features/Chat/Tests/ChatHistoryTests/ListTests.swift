import Capabilities
import ChatHistory
import CoreTesting
import HTTPTesting
import Testing

@Suite("List of conversations", .timeLimit(.minutes(5)))
struct ListTests {
    @Test("The most recently changed conversation comes first on every page, even while others are written")
    func pages() async throws {
        try await withHistory { history in
            var chats: [Conversation] = []
            for number in 0..<25 { chats.append(try await history.talk("Chat \(number)")) }
            try await history.append(Message(.user, "More"), to: chats[3].id, after: chats[3].head)
            let first = try await history.list(limit: 10)
            #expect(first.items.map(\.title).prefix(3) == ["Chat 3", "Chat 24", "Chat 23"])
            try await history.talk("Meanwhile")
            var titles = first.items.map(\.title)
            var next = first.next
            while let cursor = next {
                let page = try await history.list(after: cursor, limit: 10)
                titles += page.items.map(\.title)
                next = page.next
            }
            #expect(titles.count == 25 && Set(titles).count == 25)
            #expect(try await history.list(limit: 26).next == nil)
        }
    }

    @Test("The newest conversation is the one written last, even if the clock was once ahead")
    func newest() async throws {
        try await TemporaryDirectory.run { folder in
            let day: Int64 = 86_400_000_000
            let ahead = History("\(folder)/chat.db", now: { Timestamp(microseconds: 20_001 * day) })
            try await ahead.talk("Tomorrow")
            await ahead.close()
            let history = History("\(folder)/chat.db", now: { Timestamp(microseconds: 20_000 * day) })
            #expect(try await history.newest()?.title == "Tomorrow")
            let today = try await history.talk("Today")
            #expect(try await history.newest()?.id == today.id)
            try await history.delete(today.id)
            #expect(try await history.newest()?.title == "Tomorrow")
            await history.close()
        }
    }

    @Test("Filters by provider, model, server, time and words can be combined")
    func filters() async throws {
        try await withHistory { history in
            let a = ConversationSetup(provider: "openai", model: "m", server: "lab")
            let b = ConversationSetup(provider: "anthropic", model: "n")
            try await history.talk("Apples", "They are red", setup: a)
            let pears = try await history.talk("Pears", "They are 50% green_ish", setup: a)
            try await history.talk("Plums", "They are blue", setup: b)
            #expect(try await history.titles() == ["Plums", "Pears", "Apples"])
            #expect(try await history.titles(HistoryFilter(provider: "openai")) == ["Pears", "Apples"])
            #expect(try await history.titles(HistoryFilter(model: "n")) == ["Plums"])
            #expect(try await history.titles(HistoryFilter(server: "lab")) == ["Pears", "Apples"])
            #expect(try await history.titles(HistoryFilter(since: pears.updated)) == ["Plums", "Pears"])
            #expect(try await history.titles(HistoryFilter(until: pears.updated)) == ["Apples"])
            #expect(try await history.titles(HistoryFilter(text: "green")) == ["Pears"])
            #expect(try await history.titles(HistoryFilter(text: "plu")) == ["Plums"], "part of a title")
            #expect(try await history.titles(HistoryFilter(provider: "openai", text: "they are red")) == ["Apples"])
            #expect(try await history.titles(HistoryFilter(text: "nothing")) == [])
            try await history.rename(pears.id, to: "100% _fruit")
            #expect(try await history.titles(HistoryFilter(text: "0% _")) == ["100% _fruit"])
            #expect(try await history.titles(HistoryFilter(text: "%")) == ["100% _fruit"], "signs are no pattern")
        }
    }

    @Test("Usage is summed exactly, and unknown values stay unknown")
    func usage() async throws {
        try await withHistory { history in
            let chat = try await history.talk("Hello")
            #expect(chat.usage == Usage())
            var parent = chat.head
            let costs = [Cost(nanodollars: 1), nil, Cost(nanodollars: 9_007_199_254_740_993)]
            for cost in costs {
                let draft = history.begin(in: chat.id, after: parent)
                let usage = Usage(inputTokens: 10, cost: cost)
                parent = try await draft.finish(answer("Hi", usage: usage)).id
            }
            let total = try await history.conversation(chat.id).usage
            #expect(total == Usage(inputTokens: 30, cost: Cost(nanodollars: 9_007_199_254_740_994)))
            let draft = history.begin(in: chat.id, after: parent)
            try await draft.finish(answer("Hi", usage: Usage(inputTokens: .max)))
            #expect(
                try await history.conversation(chat.id).usage.inputTokens == .max, "what a server made up is no trap")
        }
    }
}
