import Capabilities
import StorageKit
import Testing

@testable import ChatHistory

@Suite("Migrations of older files", .timeLimit(.minutes(5)))
struct MigrationTests {
    @Test("A file of each older form opens with all its contents", arguments: 1...3)
    func older(steps: Int) async throws {
        try await withFolder { folder in
            let old = Database("\(folder)/chat.db", migrations: Array(History.migrations.prefix(steps)))
            try await old.write { connection in
                try connection.runScript(
                    """
                    INSERT INTO conversations (id, name, tag, tree, title, options, tools, created, updated)
                        VALUES (1, '20200101-000000-abcdefgh', 'abcdefgh', 1, 'Old', '{}', '{}', 1, 2);
                    INSERT INTO messages (id, conversation, tree, position, role, text, time, state)
                        VALUES (1, 1, 1, 0, 'user', 'Apples', 1, 'complete');
                    INSERT INTO messages (id, conversation, tree, parent, position, role, text, parts, time, state)
                        VALUES (2, 1, 1, 1, 1, 'assistant', '', '[]', 2, 'streaming');
                    UPDATE conversations SET head = 2;
                    """)
                if steps > 1 {
                    try connection.runScript("INSERT INTO messages_text (messages_text) VALUES ('rebuild')")
                }
            }
            await old.close()
            let days = Days()
            let history = History("\(folder)/chat.db", now: { days.next })
            let chat = try await history.find("abcd")
            #expect(chat.title == "Old" && chat.messages == 2)
            #expect(try await history.entries(of: chat.id).map(\.state) == [.complete, .interrupted])
            #expect(try await history.found("apples") == ["Apples"])
            try await history.append(Message(.user, "Pears"), to: chat.id, after: chat.head)
            #expect(try await history.found("pears") == ["Pears"])
            #expect(try await history.timeline(of: chat.id) == [])
            #expect(try await history.database.check() == [])
            await history.close()
        }
    }

    @Test("A file of a newer version is refused and not changed")
    func newer() async throws {
        try await withFolder { folder in
            let migrations =
                History.migrations + [Migration("later", "CREATE TABLE later (id INTEGER PRIMARY KEY) STRICT")]
            let newer = Database("\(folder)/chat.db", migrations: migrations)
            try await newer.write { _ in }
            await newer.close()
            let days = Days()
            let history = History("\(folder)/chat.db", now: { days.next })
            let error = await #expect(throws: StorageError.self) { _ = try await history.list() }
            #expect(error?.kind == .newer)
            await history.close()
        }
    }
}
