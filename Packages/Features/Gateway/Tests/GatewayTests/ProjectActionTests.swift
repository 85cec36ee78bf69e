import Capabilities
import CoreTesting
import FileKit
import HTTPTesting
import JSON
import Registry
import Testing

@testable import Gateway

@Suite("The projects of the gateway on the command line", .timeLimit(.minutes(2)))
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
}
