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

@Suite("Project actions", .timeLimit(.minutes(10)))
struct ProjectActionTests {
    private func perform(_ folder: String, _ action: String, _ arguments: JSONObject = [:]) async throws -> JSON {
        try await TestHost([MemoryVault.self, GatewayFeature.self], folder: folder).perform(
            action, arguments, isAgreed: true)
    }

    @Test("A folder is one project, which takes a new name and new rules when it is added again")
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

    @Test("A damaged database is reported, and the list is empty")
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

    @Test("A folder that is added again is shown with its sessions and usage")
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
            // A deleted project or session can still be queried; a mistyped name cannot.
            _ = try await perform(folder, "gateway.project.remove", ["project": .string(id)])
            for (option, value) in [("project", id), ("session", session.id)] {
                let used = try await perform(folder, "gateway.usage", [option: .string(value)])
                #expect(used.array?.count == 1, "\(option)")
            }
        }
    }

    @Test(
        "An unknown project or session is refused with the command that lists them",
        arguments: [
            ("gateway.usage", "project"), ("gateway.session.list", "project"), ("gateway.usage", "session"),
        ])
    func unknown(action: String, option: String) async throws {
        try await TemporaryDirectory.run { folder in
            let problem = await #expect(throws: GatewayStoreError.self) {
                _ = try await perform(folder, action, [option: "nosuch"])
            }
            #expect(problem?.kind == .notFound && problem?.exit == .usage)
            #expect(problem?.message.contains("'martlet gateway \(option) list' lists them") == true)
        }
    }

    @Test("A rule for an unknown tool is refused with a suggestion")
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

    @Test("A project can be named by its name, unless several have it")
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

    @Test("Removing asks with the name and the folder, and does not ask for an unknown project")
    func asked() async throws {
        try await TemporaryDirectory.run { folder in
            _ = try await perform(folder, "gateway.project.add", ["folder": ".", "name": "one"])
            let host = try TestHost([MemoryVault.self, GatewayFeature.self], folder: folder)
            let question = await #expect(throws: InteractionError.self) {
                try await host.perform("gateway.project.remove", ["project": "one"])
            }
            let words = AnyFailure(try #require(question)).message
            #expect(words.contains("Delete the project one in \(folder)"), "\(words)")
            let absent = await #expect(throws: (any Error).self) {
                try await host.perform("gateway.project.remove", ["project": "nosuch"])
            }
            #expect(!(absent is InteractionError))
        }
    }
}
