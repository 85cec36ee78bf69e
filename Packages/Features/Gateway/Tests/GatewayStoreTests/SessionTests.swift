import Capabilities
import StorageKit
import Testing
import TurnLoop

@testable import GatewayStore

@Suite("Sessions", .timeLimit(.minutes(5)))
struct SessionTests {
    @Test("A session is stored with its prompt, tools and rules, in a project or without one")
    func create() async throws {
        try await withStore { store in
            let selection = ToolSelection(servers: ["files"], tools: [], priority: ["b", "a"], auditLog: true)
            let rules = [ApprovalRule(.allow, tool: "ls", scope: .conversation)]
            let new = NewSession(
                title: "A  title\nof two lines", model: "p/m", systemPrompt: "Be kind.\n", selection: selection,
                rules: rules)
            let session = try await store.createSession(new)
            #expect(session.project == nil && session.title == "A title of two lines" && session.model == "p/m")
            #expect(session.systemPrompt == "Be kind.\n" && session.selection == selection && session.rules == rules)
            #expect(session.messages == 0 && !session.isRunning && session.usage == UsageSum(key: session.id))
            #expect(try await store.session(session.id) == session)
            #expect(try await store.session("nothing") == nil)
            let plain = try await store.createSession(NewSession())
            #expect(plain.selection == ToolSelection() && plain.selection.servers == nil && plain.title == "")
            #expect(try await failure { try await store.createSession(NewSession(project: "x")) } == .notFound)
        }
    }

    @Test("Changes to a session are stored, and changes to an unknown one are refused")
    func change() async throws {
        try await withStore { store in
            let id = try await store.createSession(NewSession()).id
            let selection = ToolSelection(servers: nil, tools: ["ls"], priority: [], auditLog: false)
            try await store.setTools(selection, of: id)
            try await store.setTitle(" New\u{1B}[2J ", of: id)
            try await store.setModel("p/n", of: id)
            let session = try #require(try await store.session(id))
            #expect(session.selection == selection && session.title == "New [2J" && session.model == "p/n")
            let allow = ApprovalRule(.allow, tool: "ls", scope: .conversation)
            try await store.addRules([ApprovalRule(.deny, tool: "ls", scope: .conversation)], toSession: id)
            try await store.addRules([allow], toSession: id)
            #expect(try await store.session(id)?.rules == [allow])
            #expect(try await failure { try await store.setTools(selection, of: "x") } == .notFound)
            #expect(try await failure { try await store.setTitle("a", of: "x") } == .notFound)
            #expect(try await failure { try await store.setModel("a", of: "x") } == .notFound)
            #expect(try await failure { try await store.addRules([allow], toSession: "x") } == .notFound)
        }
    }

    @Test("A session without a title gets the beginning of its user's first message")
    func title() async throws {
        try await withStore { store in
            let session = try await store.makeSession()
            try await store.talk("\n  Find   all\tTODOs " + String(repeating: "x", count: 100), "Yes", in: session.id)
            let title = try #require(try await store.session(session.id)?.title)
            #expect(title.hasPrefix("Find all TODOs xxx") && title.count == 60)
            try await store.talk("Something else", "Yes", in: session.id)
            #expect(try await store.session(session.id)?.title == title)
            let named = try await store.createSession(NewSession(title: String(repeating: "n", count: 300)))
            try await store.talk("Hello", "Yes", in: named.id)
            #expect(try await store.session(named.id)?.title == String(repeating: "n", count: 200))
        }
    }

    @Test("Lists show all sessions or those of a project, most recently used first")
    func list() async throws {
        try await withStore { store in
            let first = try await store.makeSession()
            let second = try await store.createSession(NewSession(project: first.project))
            let other = try await store.createSession(NewSession())
            #expect(try await store.sessions().items.map(\.id) == [other.id, second.id, first.id])
            try await store.talk("a", "b", in: first.id)
            #expect(try await store.sessions().items.map(\.id) == [first.id, other.id, second.id])
            let page = try await store.sessions(project: first.project, page: PageRequest(number: 2, size: 1))
            #expect(page.items.map(\.id) == [second.id] && page.total == 2 && page.hasPrevious && !page.hasNext)
            #expect(try await store.sessions(project: "x").total == 0)
        }
    }

    @Test("Deleting a session removes its messages, unless a turn runs")
    func delete() async throws {
        try await withStore { store in
            let session = try await store.makeSession()
            try await store.talk("a", "b", in: session.id)
            let lease = try await store.beginTurn(session: session.id)
            #expect(try await failure { try await store.deleteSession(session.id) } == .busy)
            try await store.endTurn(lease)
            try await store.deleteSession(session.id)
            #expect(try await store.session(session.id) == nil)
            #expect(try await store.number("SELECT count(*) FROM messages") == 0)
            #expect(try await store.usage(by: .session).map(\.key) == [session.id])
            #expect(try await failure { try await store.deleteSession(session.id) } == .notFound)
            #expect(try await failure { try await store.beginTurn(session: session.id) } == .notFound)
            #expect(try await failure { _ = try await store.messages(of: session.id) } == .notFound)
        }
    }

    @Test("The totals count what is stored and what runs")
    func stats() async throws {
        try await withStore { store in
            #expect(
                try await store.stats()
                    == Stats(projects: 0, sessions: 0, running: [], messages: 0, usage: UsageSum(), models: []))
            let session = try await store.makeSession()
            _ = try await store.createSession(NewSession(model: "k"))
            try await store.talk("a", "b", in: session.id)
            let lease = try await store.beginTurn(session: session.id)
            let usage = UsageSum(answers: 1, usage: Usage(inputTokens: 2, outputTokens: 1), unpriced: 1)
            #expect(
                try await store.stats()
                    == Stats(
                        projects: 1, sessions: 2, running: [session.id], messages: 2, usage: usage, models: ["k", "m"]))
            try await store.endTurn(lease)
            #expect(try await store.stats().running == [])
        }
    }
}
