import Capabilities
import CoreTesting
import JSON
import MCPKit
import Registry
import ServeTesting
import Testing

@testable import ServeFrontend

@Suite("Screens and conversations as resources", .timeLimit(.minutes(5)))
struct ResourceTests {
    private static let board = "martlet://screens/lab.board"
    private static let conversation = "martlet://conversations/c1"

    private static func text(_ resources: [ToolResource]) -> String {
        guard case .text(let text)? = resources.first?.content else { return "" }
        return text
    }

    @Test("Without being exposed there is neither, and each is exposed alone", arguments: Era.allCases)
    func exposed(era: Era) async throws {
        try await ServedLab().host(era) { client async throws in
            #expect(try await client.resources().isEmpty)
            #expect(try await client.server().capabilities.resources == nil)
            await #expect(throws: MCPError.self) { _ = try await client.read(Self.board) }
            await #expect(throws: MCPError.self) { _ = try await client.read(Self.conversation) }
        }
        try await ServedLab(exposing: [.screens]).host(era) { client async throws in
            // What sends, and what is only for those whom it names, is not among them.
            #expect(try await client.resources().map(\.address).filter { $0.contains("lab.") } == [Self.board])
            #expect(try await client.tools().isEmpty)
            #expect(
                try await client.resourceTemplates().map(\.address).contains(
                    "martlet://screens/lab.item{?name,numbers}"))
            #expect(Self.text(try await client.read(Self.board)).contains("the value is 0"))
            for address in [
                Self.conversation, "martlet://screens/lab.far", "martlet://screens/lab.secrets", "martlet://screens/no",
                "file:///etc/passwd", "martlet://screens/../lab.board", "martlet://conversations/", "",
            ] {
                await #expect(throws: MCPError.self, "\(address)") { _ = try await client.read(address) }
            }
        }
        try await ServedLab(exposing: [.conversations]).host(era) { client async throws in
            #expect(try await client.resources().map(\.address) == [Self.conversation])
            #expect(!Self.text(try await client.read(Self.conversation)).isEmpty)
            await #expect(throws: MCPError.self) { _ = try await client.read(Self.board) }
        }
        try await ServedLab(exposing: [.screens], allowing: [.sends]).host(era) { client async throws in
            #expect(Self.text(try await client.read("martlet://screens/lab.far")).contains("far"))
        }
    }

    @Test("A conversation is a text without secrets")
    func conversations() async throws {
        let lab = try ServedLab(exposing: [.actions, .conversations])
        try await lab.host { client async throws in
            _ = try await client.call("lab_leak")
            #expect(try await client.resources().first?.title == "About ‹redacted›")
            let found = try await client.read(Self.conversation)
            #expect(found.first?.mediaType == "text/markdown")
            #expect(
                Self.text(found) == """
                    ## user, 1970-01-01T00:00:00Z

                    The word is ‹redacted›.

                    ## assistant, m, 1970-01-01T00:00:00Z (cancelled)

                    > hm

                    `look`

                    The value is 0.

                    """)
            await #expect(throws: MCPError.self) { _ = try await client.read("martlet://conversations/c2") }
        }
    }

    @Test("A screen takes its arguments from its address, and long lists have their first rows")
    func arguments() async throws {
        try await ServedLab(exposing: [.screens]).host { client async throws in
            let item = Self.text(
                try await client.read("martlet://screens/lab.item?name=a%20b%26c&numbers=1&numbers=2"))
            #expect(item.contains("a b&c: 1+2") && item.contains(#"{"row":2}"#))
            for query in ["", "?name=a&numbers=x", "?name=a&other=1", "?name=%ZZ"] {
                await #expect(throws: MCPError.self, "\(query)") {
                    _ = try await client.read("martlet://screens/lab.item\(query)")
                }
            }
        }
    }

    @Test("A host is told when what it watches changes, until it gives that up", arguments: Era.allCases)
    func watched(era: Era) async throws {
        let lab = try ServedLab(exposing: [.actions, .screens], allowing: [.writes])
        let user = HostUser { _ in .decline }
        try await lab.host(era, user) { client async throws in
            try await client.subscribe(to: Self.board)
            try await Self.changeUntilTold(client, user, 1)
            #expect(user.changes.allSatisfy { $0 == .resource(Self.board) })
            #expect(Self.text(try await client.read(Self.board)).contains("the value is \(lab.state.counts.value)"))
            try await client.unsubscribe(from: Self.board)
            try await Self.settle(lab) { $0.count == 0 && $0.running == 0 }
        }
        // A host that goes without a word is told nothing more.
        try await lab.host(era, user) { client async throws in
            try await client.subscribe(to: Self.board)
            try await Self.settle(lab) { $0.running == 1 }
        }
        #expect(lab.service.watches.count == 0)
    }

    @Test("Conversations are watched too")
    func watchedConversation() async throws {
        let lab = try ServedLab(exposing: [.actions, .conversations], allowing: [.writes])
        let user = HostUser { _ in .decline }
        try await lab.host(.legacy, user) { client async throws in
            try await client.subscribe(to: Self.conversation)
            await lab.test.clock.waitForSleepers()
            _ = try await client.call("lab_bump")
            lab.test.clock.advance(by: .seconds(2))
            try await user.wait { $0.changes == [.resource(Self.conversation)] }
        }
    }

    @Test("Only so much is watched, and what is not exposed is not watched at all")
    func bounds() async throws {
        let lab = try ServedLab(exposing: [.screens], settings: "{serve: {screens: 1}}")
        try await lab.host(.legacy) { client async throws in
            try await client.subscribe(to: Self.board)
            // The same again needs no place of its own.
            try await client.subscribe(to: Self.board)
            do {
                try await client.subscribe(to: "martlet://screens/lab.item?name=a")
                Issue.record("it was watched")
            } catch {
                #expect("\(error)".contains("serve.screens"), "\(error)")
            }
            await #expect(throws: MCPError.self) { try await client.subscribe(to: Self.conversation) }
            #expect(lab.service.watches.count == 1)
        }
    }

    @Test("A screen closes with the rights of its host, which is told")
    func withdrawn() async throws {
        let lab = try ServedLab(exposing: [.screens])
        let user = HostUser { _ in .decline }
        try await lab.host(.legacy, user) { client async throws in
            try await client.subscribe(to: Self.board)
            // The screen shows something before the rights end.
            try await Self.settle(lab) { $0.running == 1 }
            lab.limits.withdraw()
            try await user.wait { $0.changes.contains(.resource(Self.board)) }
            await #expect(throws: MCPError.self) { _ = try await client.read(Self.board) }
        }
    }

    /// Changes the screen until the host was told, since it is not known when the screen has begun to be watched.
    private static func changeUntilTold(_ client: MCPClient, _ user: HostUser, _ count: Int) async throws {
        repeat { _ = try await client.call("lab_bump") } while try await !user.hears { $0.changes.count >= count }
    }

    private static func settle(_ lab: ServedLab, _ isDone: (ResourceWatches) -> Bool) async throws {
        while true {
            let seen = lab.service.watches.news.count
            if isDone(lab.service.watches) { return }
            try await lab.service.watches.news.wait(beyond: seen)
        }
    }
}
