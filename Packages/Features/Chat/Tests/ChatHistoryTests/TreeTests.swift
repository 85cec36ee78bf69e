import Capabilities
import ChatHistory
import CoreTesting
import JSON
import StorageKit
import Testing

@Suite("Forks, edits and branches", .timeLimit(.minutes(5)))
struct TreeTests {
    @Test("Every kind of part is read back unchanged")
    func lossless() async throws {
        try await withHistory { history in
            let chat = try await history.create(ConversationSetup())
            let stored = try await history.append(everything, to: chat.id, after: nil)
            #expect(stored.message == everything && stored.state == .complete && stored.parent == nil)
            for message in [
                Message(.user, ""), Message(.user, []), Message(.tool, [.text("x")]), Message(.system, "s"),
            ] {
                let head = try await history.conversation(chat.id).head
                #expect(try await history.append(message, to: chat.id, after: head).message == message)
            }
            #expect(try await history.entries(of: chat.id).count == 5)
        }
    }

    @Test("Equal large contents are stored once, and are removed with their last message")
    func blobs() async throws {
        try await withHistory { history in
            let picture = Attachment(name: "a.png", mediaType: "image/png", bytes: [UInt8](repeating: 7, count: 50_000))
            let output = ToolResult(call: "c", content: String(repeating: "ü", count: 40_000))
            var chats: [Conversation] = []
            for _ in 0..<3 {
                let chat = try await history.create(ConversationSetup())
                let user = try await history.append(Message(.user, [.attachment(picture)]), to: chat.id, after: nil)
                try await history.append(Message(.tool, [.result(output)]), to: chat.id, after: user.id)
                try await history.note(
                    CallEntry(ToolCall(id: "c", name: "x", input: [:]), .done, result: output), in: chat.id)
                chats.append(chat)
            }
            #expect(try await history.count("blobs") == 2)
            for chat in chats {
                #expect(
                    try await history.entries(of: chat.id).map(\.message.parts) == [
                        [.attachment(picture)], [.result(output)],
                    ])
                #expect(try await history.timeline(of: chat.id).map(\.result) == [output])
            }
            for chat in chats.dropLast() { try await history.purge(chat.id) }
            #expect(try await history.count("blobs") == 2)
            try await history.purge(chats[2].id)
            #expect(try await history.count("blobs") == 0)
        }
    }

    @Test("An unreadable message does not hide the others, and is not changed")
    func damaged() async throws {
        try await withHistory { history in
            let chat = try await history.talk("One", "Two", "Three")
            let path = try await history.entries(of: chat.id)
            for (parts, state) in [("{", "complete"), (#"[{"type":"x"}]"#, "complete"), ("[]]", "streaming")] {
                try await history.database.write { connection in
                    _ = try connection.run(
                        "UPDATE messages SET parts = ?, state = ? WHERE id = ?", parts, state, path[1].id)
                }
                let entries = try await history.entries(of: chat.id)
                #expect(entries.map(\.message.text) == ["One", "", "Three"])
                guard case .failed("history.damaged", _) = entries[1].state else {
                    throw TestProblem("\(entries[1])")
                }
                #expect(entries[1].sent == nil)
                try await history.begin(in: chat.id, after: nil).stop()
                let stored = try await history.database.read { connection in
                    try connection.first("SELECT parts FROM messages WHERE id = ?", path[1].id) { row in
                        try row[0] as String
                    }
                }
                #expect(stored == parts)
            }
        }
    }

    @Test("An edited message starts a branch, and the earlier messages stay reachable")
    func edit() async throws {
        try await withHistory { history in
            let chat = try await history.talk("One", "Two", "Three", "Four")
            let old = try await history.entries(of: chat.id)
            let edited = try await history.append(
                Message(.user, "Three, better"), to: chat.id, after: old[2].parent, as: .branch)
            #expect(!edited.isBranch)
            #expect(try await history.texts(chat.id) == ["One", "Two", "Three, better"])
            let branches = try await history.branches(of: chat.id)
            #expect(branches.map(\.tip) == [edited.id, old[3].id])
            #expect(branches.map(\.isCurrent) == [true, false] && branches.map(\.messages) == [3, 4])
            #expect(try await history.texts(chat.id, upTo: old[3].id) == ["One", "Two", "Three", "Four"])
            let back = try await history.select(old[3].id, in: chat.id)
            #expect(back.messages == 4 && back.preview == "Four")
            let first = try await history.append(Message(.user, "One, better"), to: chat.id, after: nil, as: .branch)
            #expect(try await history.entries(of: chat.id).map(\.id) == [first.id], "also the first can be edited")
        }
    }

    @Test("A fork shares its beginning and then goes its own way")
    func fork() async throws {
        try await withHistory { history in
            let chat = try await history.talk("One", "Two", "Three", setup: ConversationSetup(model: "m", system: "s"))
            let path = try await history.entries(of: chat.id)
            let fork = try await history.fork(chat.id, at: path[1].id)
            #expect(fork.parent == chat.id && fork.messages == 2 && fork.setup == chat.setup && fork.title == "One")
            #expect(try await history.count("messages") == 3, "nothing is copied")
            try await history.append(Message(.user, "Other"), to: fork.id, after: fork.head)
            #expect(try await history.texts(fork.id) == ["One", "Two", "Other"])
            #expect(try await history.texts(chat.id) == ["One", "Two", "Three"])
            // A fork may begin before the earlier fork.
            try await history.append(Message(.user, "Once more"), to: fork.id, after: path[0].id, as: .branch)
            #expect(try await history.texts(fork.id) == ["One", "Once more"])
            let whole = try await history.fork(fork.id)
            #expect(try await history.texts(whole.id) == ["One", "Once more"])
            let empty = try await history.fork(history.create(ConversationSetup()).id)
            #expect(empty.messages == 0)
        }
    }

    @Test("Messages of other conversations are refused as places to continue")
    func strangers() async throws {
        try await withHistory { history in
            let (one, two) = (try await history.talk("One"), try await history.talk("Two", "Three"))
            let stranger = try #require(two.head)
            let calls: [() async throws -> Void] = [
                { try await history.append(Message(.user, "x"), to: one.id, after: stranger) },
                { try await history.fork(one.id, at: stranger) }, { try await history.select(stranger, in: one.id) },
                { _ = try await history.entries(of: one.id, upTo: stranger) },
                { try await history.append(Message(.user, "x"), to: one.id, after: MessageID(rawValue: 999)) },
            ]
            for call in calls { #expect(try await failure { try await call() }.kind == .notFound) }
            #expect(try await history.texts(one.id) == ["One"])
            #expect(try await history.count("messages") == 3)
        }
    }

    @Test("A late writer gets a branch, and nothing is overwritten")
    func conflict() async throws {
        try await withHistory { history in
            let chat = try await history.talk("One")
            let mine = try await history.append(Message(.assistant, "Mine"), to: chat.id, after: chat.head)
            let late = try await history.append(Message(.assistant, "Late"), to: chat.id, after: chat.head)
            #expect(!mine.isBranch && late.isBranch)
            #expect(try await history.texts(chat.id) == ["One", "Mine"])
            let later = try await history.append(Message(.user, "Later"), to: chat.id, after: late.id)
            #expect(later.isBranch)
            #expect(try await history.texts(chat.id, upTo: later.id) == ["One", "Late", "Later"])
            #expect(try await history.branches(of: chat.id).count == 2)
        }
    }

    @Test("A conversation of 10,000 messages is shown whole or by its end")
    func long() async throws {
        try await withHistory { history in
            let messages = (0..<10_000).map { Message($0.isMultiple(of: 2) ? .user : .assistant, "Message \($0)") }
            let chat = try await history.add(Transcript(messages: messages))
            #expect(chat.messages == 10_000 && chat.preview == "Message 9999" && chat.title == "Message 0")
            #expect(try await history.entries(of: chat.id).map(\.message) == messages)
            #expect(
                try await history.entries(of: chat.id, limit: 2).map(\.message.text) == [
                    "Message 9998", "Message 9999",
                ])
            let fork = try await history.fork(chat.id, at: history.entries(of: chat.id)[5000].id)
            #expect(fork.messages == 5001)
            try await history.append(
                Message(.user, "x"), to: fork.id, after: history.entries(of: chat.id)[10].id, as: .branch)
            #expect(try await history.entries(of: fork.id).count == 12)
        }
    }

    @Test("Random trees keep every path, even when conversations are removed")
    func random() async throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        try await withHistory { history in
            var paths: [(id: ConversationID, tip: MessageID, texts: [String])] = []
            for step in 0..<300 {
                let text = "Step \(step)"
                let choice = Int.random(in: 0..<10, using: &random)
                if choice == 0 || paths.isEmpty {
                    let chat = try await history.talk(text)
                    paths.append((chat.id, try #require(chat.head), [text]))
                    continue
                }
                let from = paths[Int.random(in: paths.indices, using: &random)]
                var id = from.id
                switch choice {
                case 1: id = try await history.fork(id, at: from.tip).id
                case 2 where paths.contains { $0.id != id }:
                    let gone = id
                    if Bool.random(using: &random) { try await history.delete(gone) }
                    try await history.purge(gone)
                    paths.removeAll { $0.id == gone }
                    continue
                case 3:
                    try await history.delete(id)
                    try await history.restore(id)
                default: break
                }
                let entry = try await history.append(
                    Message(.user, text), to: id, after: from.tip, as: Bool.random(using: &random) ? .next : .branch)
                paths.append((id, entry.id, from.texts + [text]))
            }
            for path in paths {
                #expect(try await history.texts(path.id, upTo: path.tip) == path.texts, "seed \(seed)")
            }
        }
    }
}
