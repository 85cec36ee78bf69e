import Capabilities
import ChatHistory
import JSON
import Testing

@Suite("Deleting and restoring", .timeLimit(.minutes(5)))
struct DeleteTests {
    @Test("A deleted conversation is missing from lists and searches, and is restored whole")
    func undo() async throws {
        try await withHistory { history in
            let chat = try await history.talk("Apples are red", "Some are green")
            try await history.talk("Other")
            try await history.delete(chat.id)
            #expect(try await history.titles() == ["Other"])
            #expect(try await history.found("apples") == [])
            #expect(try await history.titles(HistoryFilter(isDeleted: true)) == ["Apples are red"])
            #expect(try await history.found("apples", HistoryFilter(isDeleted: true)) == ["Apples are red"])
            #expect(try await history.conversation(chat.id).deleted != nil)
            #expect(try await history.find(chat.id.tag, isDeleted: true).id == chat.id)
            #expect(try await failure { _ = try await history.find(chat.id.tag) }.kind == .notFound)
            let back = try await history.restore(chat.id)
            #expect(back == chat)
            #expect(try await history.found("apples") == ["Apples are red"])
            #expect(try await history.texts(chat.id) == ["Apples are red", "Some are green"])
        }
    }

    @Test("Purging removes permanently what was deleted before a given time, and nothing else")
    func purge() async throws {
        try await withHistory { history in
            let old = try await history.talk("Old")
            try await history.delete(old.id)
            let moment = try await history.time
            let young = try await history.talk("Young")
            try await history.delete(young.id)
            try await history.talk("Alive")
            #expect(try await history.purge(deletedBefore: moment) == 1)
            #expect(try await failure { try await history.restore(old.id) }.kind == .notFound)
            try await history.restore(young.id)
            #expect(try await history.titles().sorted() == ["", "Alive", "Young"])
            #expect(try await history.count("messages") == 2)
        }
    }

    @Test("Forks stay whole when their origin is purged, and the rest of it is removed")
    func forks() async throws {
        try await withHistory { history in
            let chat = try await history.talk("One apple", "Two", "Three", "Four")
            let path = try await history.entries(of: chat.id)
            let fork = try await history.fork(chat.id, at: path[1].id)
            try await history.append(Message(.user, "Another"), to: fork.id, after: fork.head)
            let second = try await history.fork(fork.id, at: path[0].id)
            try await history.note(CallEntry(ToolCall(id: "c", name: "x", input: [:]), .done), in: chat.id)
            try await history.delete(chat.id)
            #expect(try await history.texts(fork.id) == ["One apple", "Two", "Another"])
            #expect(try await history.search("apple").map(\.conversation) == [second.id], "in the newest that has it")
            #expect(try await history.search("two").map(\.conversation) == [fork.id])
            #expect(try await history.found("three") == [], "nobody but the deleted one has it")
            #expect(try await history.search("apple", HistoryFilter(isDeleted: true)).map(\.conversation) == [chat.id])
            try await history.purge(chat.id)
            #expect(try await history.texts(fork.id) == ["One apple", "Two", "Another"])
            #expect(try await history.texts(second.id) == ["One apple"])
            #expect(try await history.conversation(fork.id).parent == nil)
            #expect(try await history.count("messages") == 3)
            #expect(try await history.count("calls") == 0)
            #expect(try await history.found("apple") == ["One apple"], "it is found under the fork now")
            try await history.purge(fork.id)
            #expect(try await history.texts(second.id) == ["One apple"])
            try await history.purge(second.id)
            #expect(try await history.count("messages") == 0)
            #expect(try await history.count("conversations") == 0)
            #expect(try await history.found("apple") == [])
        }
    }
}

extension History {
    /// The current time of this history's clock.
    fileprivate var time: Timestamp {
        get async throws { try await create(ConversationSetup()).created }
    }
}
