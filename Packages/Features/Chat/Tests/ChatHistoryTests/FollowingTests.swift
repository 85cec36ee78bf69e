import Capabilities
import ChatHistory
import CoreTesting
import JSON
import Testing

@Suite("Following a conversation", .timeLimit(.minutes(5)))
struct FollowingTests {
    private func read(
        _ history: History, _ id: ConversationID, from message: MessageID? = nil, _ call: CallID? = nil,
        limit: Int = 100
    ) async throws -> ConversationNews {
        try await history.news(of: id, from: message, call, limit: limit, mostCalls: 10)
    }

    @Test("Only the messages from the named one on are read, and the newest ones without one")
    func messages() async throws {
        try await withHistory { history in
            let talk = try await history.talk("1", "2", "3", "4")
            let all = try await read(history, talk.id)
            #expect(all.entries.map(\.message.text) == ["1", "2", "3", "4"] && !all.isContinued)
            let newest = try await read(history, talk.id, limit: 1)
            #expect(newest.entries.map(\.message.text) == ["4"] && newest.conversation.messages == 4)
            let rest = try await read(history, talk.id, from: all.entries[2].id)
            #expect(rest.entries.map(\.message.text) == ["3", "4"] && rest.isContinued)
            let last = try await read(history, talk.id, from: talk.head)
            #expect(last.entries.map(\.message.text) == ["4"] && last.isContinued)
        }
    }

    @Test("A message that is not on the way to the newest one is not continued")
    func branch() async throws {
        try await withHistory { history in
            let talk = try await history.talk("1", "2", "3")
            let old = try #require(talk.head)
            let second = try await history.entries(of: talk.id)[1].id
            _ = try await history.append(Message(.user, "other"), to: talk.id, after: second, as: .branch)
            let news = try await read(history, talk.id, from: old)
            #expect(news.entries.map(\.message.text) == ["1", "2", "other"] && !news.isContinued)
            #expect(try await !read(history, talk.id, from: MessageID(rawValue: 999)).isContinued)
        }
    }

    @Test("Calls are read from the named one on, and at most the newest ones")
    func calls() async throws {
        try await withHistory { history in
            let talk = try await history.talk("1")
            var ids: [CallID] = []
            for number in 0..<12 {
                let call = CallEntry(ToolCall(id: "c", name: "\(number)", input: [:]), .running)
                ids.append(try #require(try await history.note(call, in: talk.id).id))
            }
            #expect(try await read(history, talk.id).calls.map(\.call.name) == (2..<12).map(String.init))
            #expect(try await read(history, talk.id, from: nil, ids[10]).calls.map(\.call.name) == ["10", "11"])
            #expect(try await history.timeline(of: talk.id).map(\.call.name) == (0..<12).map(String.init))
        }
    }
}
