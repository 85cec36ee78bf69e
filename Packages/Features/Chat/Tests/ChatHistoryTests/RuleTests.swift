import Capabilities
import ChatHistory
import JSON
import StorageKit
import Testing

@Suite("Stored rules for tools")
struct RuleTests {
    private let rule: JSON = ["verdict": "allow", "tool": "saw"]

    @Test("A rule is stored once with a conversation, and is removed with it")
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

    @Test("The rule of a project is found until it is moved")
    func project() async throws {
        try await withHistory { history in
            let (rule, other): (JSON, JSON) = (rule, ["verdict": "deny"])
            try await history.database.write { connection in
                for rule in [rule, other] { try connection.run("INSERT INTO approvals VALUES ('/a', ?)", rule.text()) }
            }
            #expect(Set(try await history.rules(ofProject: "/a")) == [rule, other])
            #expect(try await history.rules(ofProject: "/a/b") == [])
            try await history.removeRules([rule], ofProject: "/a")
            #expect(try await history.rules(ofProject: "/a") == [other])
        }
    }

    @Test("Each rule is listed with its conversation and can be removed alone")
    func all() async throws {
        try await withHistory { history in
            let id = try await history.create(ConversationSetup()).id
            _ = try await history.create(ConversationSetup())
            for rule in [rule, ["verdict": "deny"]] { try await history.add(rule, to: id) }
            #expect(try await history.allRules().map(\.conversation) == [id])
            try await history.remove(rule, of: id)
            #expect(try await history.allRules().map(\.rules) == [[["verdict": "deny"]]])
        }
    }

    @Test("Rules of two processes at once are both stored")
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

    @Test("The cut of a conversation is stored, read and removed")
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
