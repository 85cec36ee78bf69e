import Capabilities
import ChatHistory
import JSON
import Testing

@Suite("What was decided about tools")
struct RuleTests {
    private let rule: JSON = ["verdict": "allow", "tool": "saw"]

    @Test("is kept with a conversation once, and goes with it")
    func conversation() async throws {
        try await withHistory { history in
            let first = try await history.create(ConversationSetup()).id
            let second = try await history.create(ConversationSetup()).id
            for _ in 0..<2 { try await history.add(rule, to: first) }
            try await history.add(["verdict": "deny"], to: first)
            #expect(try await history.rules(of: first) == [rule, ["verdict": "deny"]])
            #expect(try await history.rules(of: second) == [])
            #expect(try await history.removeRules(of: first) == 2)
            #expect(try await history.rules(of: first) == [])
        }
    }

    @Test("is kept with a project once, and with no other")
    func project() async throws {
        try await withHistory { history in
            for _ in 0..<2 { try await history.add(rule, toProject: "/a") }
            #expect(try await history.rules(ofProject: "/a") == [rule])
            #expect(try await history.rules(ofProject: "/a/b") == [])
            #expect(try await history.removeRules(ofProject: "/a") == 1)
            #expect(try await history.rules(ofProject: "/a") == [])
        }
    }

    @Test("of two processes at once is not lost")
    func together() async throws {
        try await withHistory { history in
            let id = try await history.create(ConversationSetup()).id
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<20 { group.addTask { try await history.add(.int(number), to: id) } }
                try await group.waitForAll()
            }
            #expect(Set(try await history.rules(of: id).compactMap(\.int)) == Set(0..<20))
        }
    }

    @Test("and what was left out of a conversation is known to the next who opens it")
    func cut() async throws {
        try await withHistory { history in
            let id = try await history.create(ConversationSetup()).id
            #expect(try await history.cut(of: id) == nil)
            try await history.set(cut: ["messages": 4], of: id)
            #expect(try await history.cut(of: id) == ["messages": 4])
            try await history.set(cut: nil, of: id)
            #expect(try await history.cut(of: id) == nil)
        }
    }
}
