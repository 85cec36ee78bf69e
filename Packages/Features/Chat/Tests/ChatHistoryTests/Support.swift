import Capabilities
import ChatHistory
import CoreTesting
import HTTPTesting
import JSON
import StorageKit
import Synchronization
import Testing

/// A clock that advances by one second with every reading.
final class Days: Sendable {
    /// 2026-11-21T09:30:00Z
    static let start = Timestamp(microseconds: 1_795_253_400_000_000)
    private let seconds = Mutex(0)

    var next: Timestamp {
        seconds.withLock { seconds in
            seconds += 1
            return Timestamp(microseconds: Self.start.microseconds + Int64(seconds) * 1_000_000)
        }
    }
}

/// Lends a history in its own folder, and checks at the end that its file is sound.
func withHistory(
    isolation: isolated (any Actor)? = #isolation, clock: any Clock<Duration> = ContinuousClock(),
    _ body: (History) async throws -> Void
) async throws {
    try await TemporaryDirectory.run { folder in
        let days = Days()
        let history = History("\(folder)/chat.db", clock: clock, now: { days.next })
        try await body(history)
        let problems = try await history.database.check()
        #expect(problems == [])
        // FTS5 reports a malformed database if the search index does not match the texts.
        try await history.database.write { connection in
            _ = try connection.run("INSERT INTO messages_text (messages_text, rank) VALUES ('integrity-check', 1)")
        }
        await history.close()
    }
}

/// The kind of the `HistoryError` that the body throws.
func failure(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Void
) async throws -> HistoryError {
    do {
        try await body()
    } catch let error as HistoryError {
        return error
    }
    throw TestProblem("nothing was refused")
}

struct TestProblem: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

extension History {
    /// A conversation of texts, alternating between user and assistant.
    @discardableResult
    func talk(_ texts: String..., setup: ConversationSetup = ConversationSetup()) async throws -> Conversation {
        let conversation = try await create(setup)
        var parent: MessageID?
        for (number, text) in texts.enumerated() {
            let role: Message.Role = number.isMultiple(of: 2) ? .user : .assistant
            parent = try await append(Message(role, text), to: conversation.id, after: parent).id
        }
        return try await self.conversation(conversation.id)
    }

    func texts(_ id: ConversationID, upTo tip: MessageID? = nil) async throws -> [String] {
        try await entries(of: id, upTo: tip).map(\.message.text)
    }

    func found(_ typed: String, _ filter: HistoryFilter = HistoryFilter()) async throws -> [String] {
        try await search(typed, filter).map(\.snippet.plain)
    }

    func titles(_ filter: HistoryFilter = HistoryFilter()) async throws -> [String] {
        try await list(filter).items.map(\.title)
    }

    /// The number of rows of a table, for facts that the API does not show.
    func count(_ table: String) async throws -> Int {
        try await database.read { connection in
            try connection.first(SQL(raw: "SELECT count(*) FROM \(table)")) { row in try row[0] as Int } ?? -1
        }
    }
}

func answer(_ text: String, finish: ChatAnswer.Finish = .stop, usage: Usage = Usage()) -> ChatAnswer {
    ChatAnswer(start: ChatStart(), message: Message(.assistant, text), finish: finish, usage: usage)
}

/// One message with every kind of part.
let everything = Message(
    .assistant,
    [
        .reasoning(Reasoning("Let me think…\n", signature: "EqQB+/=")), .reasoning(Reasoning("", sealed: "c2VhbGVk")),
        .text("Two 👩‍👩‍👧 lines\r\nand a \u{0} zero"),
        .call(
            ToolCall(
                id: "c1", name: "files.read",
                input: ["path": "a", "deep": [[[1, 2.5, .big("123456789012345678901")]]]])),
        .call(ToolCall(id: "c2", name: "web", input: .null, isDone: true)),
        .malformedCall(MalformedCall(id: "c3", name: "x", text: "{\"a\":", reason: "it ends too early")),
        .result(
            ToolResult(
                call: "c2", content: "found", isError: true, duration: .nanoseconds(1_234_567_890_123), exitCode: -1)),
        .attachment(Attachment(name: "ü.png", mediaType: "image/png", bytes: [0, 255, 1, 2])), .refusal("No."),
    ])

/// Lends a folder that is removed with its contents.
func withFolder(
    isolation: isolated (any Actor)? = #isolation, _ body: (String) async throws -> Void
) async throws {
    try await TemporaryDirectory.run(body)
}
