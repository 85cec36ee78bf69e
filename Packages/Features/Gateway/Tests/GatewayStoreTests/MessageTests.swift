import Capabilities
import GatewayStore
import JSON
import StorageKit
import Testing
import TurnLoop

@Suite("Messages of a session", .timeLimit(.minutes(5)))
struct MessageTests {
    private static let call = ToolCall(id: "c1", name: "fs_read", input: ["path": "a.txt"])

    @Test("A message comes back with everything that is known about it")
    func whole() async throws {
        try await withStore { store in
            let session = try await store.makeSession()
            let lease = try await store.beginTurn(session: session.id)
            let usage = Usage(
                inputTokens: 1, outputTokens: 2, cachedTokens: 3, cacheWriteTokens: 4, reasoningTokens: 5,
                cost: Cost(nanodollars: 6))
            let start = ChatStart(id: "answer-1", model: "m-1", session: "s", project: "q")
            let answer = TurnMessage(
                Message(.assistant, [.reasoning(Reasoning("Hm", signature: "x")), .call(Self.call)]), isWhole: true,
                start: start, finish: .other("paused"), usage: usage)
            let number = try await store.append(answer, provider: "p", model: "m", lease: lease)
            let result = Message(.tool, [.result(ToolResult(call: "c1", content: "\u{0}é", exitCode: 0))])
            try await store.append(TurnMessage(result), lease: lease)
            let items = try await store.storedMessages(of: session.id).items
            try #require(items.count == 2)
            #expect(items[0].number == number && items[0].message == answer.message && items[0].isWhole)
            #expect(items[0].provider == "p" && items[0].model == "m" && items[0].start == start)
            #expect(items[0].finish == .other("paused") && items[0].usage == usage && items[0].problem == nil)
            #expect(items[1].message == result && items[1].usage == nil && items[1].start == nil)
            #expect(items[1].time > items[0].time && items[1].number > number)
            #expect(try await store.messages(of: session.id) == [answer.message, result])
            #expect(try await store.lastAnswer(of: session.id) == items[0])
            try await store.endTurn(lease)
        }
    }

    @Test("A new session has no messages")
    func empty() async throws {
        try await withStore { store in
            let session = try await store.createSession(NewSession())
            #expect(try await store.messages(of: session.id) == [])
            #expect(try await store.storedMessages(of: session.id).total == 0)
            #expect(try await store.lastAnswer(of: session.id) == nil)
            #expect(try await failure { _ = try await store.lastAnswer(of: "x") } == .notFound)
            #expect(try await failure { _ = try await store.storedMessages(of: "x") } == .notFound)
        }
    }

    @Test("Pages of messages are in order")
    func pages() async throws {
        try await withStore { store in
            let session = try await store.makeSession()
            for number in 0..<5 { try await store.talk("q\(number)", "a\(number)", in: session.id) }
            let page = try await store.storedMessages(of: session.id, page: PageRequest(number: 2, size: 3))
            #expect(page.items.map(\.message.text) == ["a1", "q2", "a2"] && page.total == 10 && page.pages == 4)
            #expect(page.hasNext && page.hasPrevious)
            #expect(try await store.session(session.id)?.messages == 10)
        }
    }

    @Test("A call without a result gets one, and unsigned reasoning of an interrupted answer is left out")
    func repaired() async throws {
        try await withStore { store in
            let session = try await store.makeSession()
            let lease = try await store.beginTurn(session: session.id)
            try await store.append(TurnMessage(Message(.user, "go")), lease: lease)
            let broken = Message(.assistant, [.reasoning(Reasoning("half a th")), .text("I"), .call(Self.call)])
            try await store.append(TurnMessage(broken, isWhole: false), lease: lease)
            try await store.endTurn(lease)
            try await store.talk("and now?", "done", in: session.id)
            let messages = try await store.messages(of: session.id)
            #expect(isValid(messages))
            #expect(messages.map(\.role) == [.user, .assistant, .tool, .user, .assistant])
            #expect(messages[1].parts == [.text("I"), .call(Self.call)])
            guard case .result(let result) = try #require(messages[2].parts.first) else {
                throw TestProblem("no result")
            }
            #expect(result.call == "c1" && result.isError && result.content.contains("ended before it was done"))
            // The stored messages stay unchanged.
            #expect(try await store.storedMessages(of: session.id).items[1].message == broken)
            #expect(try await store.session(session.id)?.messages == 4)
        }
    }

    @Test(
        "A message that cannot be read does not hide the others", arguments: ["", "{}", "[{\"type\":\"new\"}]", "[1"])
    func damaged(text: String) async throws {
        try await withStore { store in
            let session = try await store.makeSession()
            try await store.talk("a", "b", in: session.id)
            try await store.talk("c", "d", in: session.id)
            try await store.database.write { connection in
                _ = try connection.run("UPDATE messages SET parts = ? WHERE position = 1", text)
            }
            #expect(try await store.messages(of: session.id).map(\.text) == ["a", "c", "d"])
            let items = try await store.storedMessages(of: session.id).items
            #expect(items.map { $0.problem != nil } == [false, true, false, false] && items[1].message.parts == [])
        }
    }

    @Test("Unreadable rules are an error and do not count as no rules")
    func damagedRules() async throws {
        try await withStore { store in
            let session = try await store.makeSession()
            try await store.database.write { connection in
                _ = try connection.run("UPDATE sessions SET rules = '[{\"verdict\":\"perhaps\"}]'")
            }
            await #expect(throws: (any Error).self) { _ = try await store.session(session.id) }
            await #expect(throws: (any Error).self) {
                try await store.addRules([ApprovalRule(.allow)], toSession: session.id)
            }
            try await store.database.write { connection in _ = try connection.run("UPDATE sessions SET rules = '[]'") }
            #expect(try await store.session(session.id)?.rules == [])
        }
    }
}
