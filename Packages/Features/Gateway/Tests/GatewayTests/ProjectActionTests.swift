import Capabilities
import CoreTesting
import FileKit
import GatewayStore
import HTTPTesting
import JSON
import Registry
import Testing
import TurnLoop

@testable import Gateway

@Suite("The projects of the gateway on the command line", .timeLimit(.minutes(10)))
struct ProjectActionTests {
    private func perform(_ folder: String, _ action: String, _ arguments: JSONObject = [:]) async throws -> JSON {
        try await TestHost([MemoryVault.self, GatewayFeature.self], folder: folder).perform(
            action, arguments, isAgreed: true)
    }

    @Test("a folder is one project, which takes a new name and new rules when it is added again")
    func twice() async throws {
        try await TemporaryDirectory.run { folder in
            let first = try await perform(folder, "gateway.project.add", ["folder": ".", "allow": ["fs.write"]])
            let again: JSONObject = ["folder": ".", "name": "mine", "allow": ["multi.edit"]]
            let second = try await perform(folder, "gateway.project.add", again)
            #expect(second["id"] == first["id"] && second["name"] == "mine")
            #expect(second["rules"]?.array?.map { $0["tool"] } == ["fs.write", "multi.edit"])
            #expect(try await perform(folder, "gateway.project.list").array?.count == 1)
        }
    }

    @Test("that they were damaged is told to who asks for them, who finds none")
    func damaged() async throws {
        try await TemporaryDirectory.run { folder in
            let path = "\(folder)/data/gateway.db"
            try Files.makeDirectories("\(folder)/data")
            try Files.writeAtomically([UInt8](repeating: 0x5A, count: 5000), to: path)
            let host = try TestHost([MemoryVault.self, GatewayFeature.self], folder: folder)
            #expect(try await host.perform("gateway.project.list") == [])
            #expect(host.output.notices.contains { $0.contains("\(path) is damaged") }, "\(host.output.notices)")
        }
    }

    @Test("a folder that is added again is shown with its sessions and what they took")
    func sessions() async throws {
        try await TemporaryDirectory.run { folder in
            let project = try await perform(folder, "gateway.project.add", ["folder": "."])
            let id = try #require(project["id"]?.string)
            #expect(project["sessions"] == 0)
            let store = GatewayStore(GatewayStore.database(at: "\(folder)/data/gateway.db")) {
                Timestamp(microseconds: 1_795_253_400_000_000)
            }
            let session = try await store.createSession(NewSession(project: id, model: "m"))
            let lease = try await store.beginTurn(session: session.id)
            try await store.append(TurnMessage(Message(.user, "Hi")), lease: lease)
            try await store.append(
                TurnMessage(Message(.assistant, "Hello"), usage: Usage(inputTokens: 2, outputTokens: 1)),
                provider: "p", model: "m", lease: lease)
            try await store.endTurn(lease)
            await store.close()
            for name in [nil, "mine"] as [String?] {
                var arguments: JSONObject = ["folder": "."]
                arguments["name"] = name.map { .string($0) }
                let again = try await perform(folder, "gateway.project.add", arguments)
                #expect(again["sessions"] == 1 && again["tokens"] == 3, "\(again.text())")
            }
            // A project or session that is gone can still be asked about; a mistyped name cannot.
            _ = try await perform(folder, "gateway.project.remove", ["project": .string(id)])
            for (option, value) in [("project", id), ("session", session.id)] {
                let used = try await perform(folder, "gateway.usage", [option: .string(value)])
                #expect(used.array?.count == 1, "\(option)")
            }
        }
    }

    @Test(
        "a project or session that is not there is refused, with the command that lists them",
        arguments: [
            ("gateway.usage", "project"), ("gateway.session.list", "project"), ("gateway.usage", "session"),
        ])
    func unknown(action: String, option: String) async throws {
        try await TemporaryDirectory.run { folder in
            let problem = await #expect(throws: GatewayStoreError.self) {
                _ = try await perform(folder, action, [option: "nosuch"])
            }
            #expect(problem?.kind == .notFound && problem?.exit == .usage)
            #expect(problem?.message.contains("'martlet gateway \(option) list' shows them") == true)
        }
    }

    @Test("a rule for a tool that nobody has is refused, with the name that was meant")
    func unknownTool() async throws {
        try await TemporaryDirectory.run { folder in
            for (word, hint) in [("multi_edit", "did you mean 'multi.edit'?"), ("nosuch.thing", "there are ")] {
                let problem = await #expect(throws: ServingError.self) {
                    _ = try await perform(folder, "gateway.project.add", ["folder": ".", "allow": [.string(word)]])
                }
                #expect(problem?.message.contains(hint) == true, "\(problem?.message ?? "")")
                #expect(problem?.exit == .usage)
            }
            #expect(try await perform(folder, "gateway.project.list").array?.isEmpty == true)
            let patterns: JSON = ["*", "fs.*", "bash.run", "mcp__server__tool"]
            _ = try await perform(folder, "gateway.project.add", ["folder": ".", "allow": patterns])
        }
    }

    @Test("a project is known by its name too, unless several have it")
    func names() async throws {
        try await TemporaryDirectory.run { folder in
            for name in ["a", "b", "c"] {
                try Files.makeDirectories("\(folder)/\(name)")
                let called = name == "a" ? "one" : "same"
                _ = try await perform(
                    folder, "gateway.project.add", ["folder": .string(name), "name": .string(called)])
            }
            let sessions = try await perform(folder, "gateway.session.list", ["project": "one"])
            #expect(sessions.array?.isEmpty == true)
            _ = try await perform(folder, "gateway.project.remove", ["project": "one"])
            let left = try await perform(folder, "gateway.project.list").array ?? []
            #expect(left.map { $0["name"] } == ["same", "same"])
            let problem = await #expect(throws: (any Error).self) {
                _ = try await perform(folder, "gateway.project.remove", ["project": "same"])
            }
            let message = AnyFailure(try #require(problem)).message
            #expect(left.allSatisfy { message.contains($0["id"]?.string ?? "-") }, "\(message)")
        }
    }

    @Test("removing asks with the name and the folder, and not at all where there is no such project")
    func asked() async throws {
        try await TemporaryDirectory.run { folder in
            _ = try await perform(folder, "gateway.project.add", ["folder": ".", "name": "one"])
            let host = try TestHost([MemoryVault.self, GatewayFeature.self], folder: folder)
            let question = await #expect(throws: InteractionError.self) {
                try await host.perform("gateway.project.remove", ["project": "one"])
            }
            let words = AnyFailure(try #require(question)).message
            #expect(words.contains("Forget the project one in \(folder)"), "\(words)")
            let absent = await #expect(throws: (any Error).self) {
                try await host.perform("gateway.project.remove", ["project": "nosuch"])
            }
            #expect(!(absent is InteractionError))
        }
    }
}
