import FileKit
import HTTPCore
import JSON
import ProcessKit
import Testing

@Suite("Conversations with the gateway", .timeLimit(.minutes(5)))
struct GatewayConversationTests {
    private func project(_ home: GatewayHome) throws -> String {
        let folder = "\(home.path)/project"
        try write("def greet():\n    # TODO: be kind\n    return 'helo'\n", to: "\(folder)/greet.py")
        return folder
    }

    /// No other provider is available: no key, and no model server on this machine.
    private static let alone = ["OLLAMA_HOST": "http://127.0.0.1:1"]

    @Test("Without another provider, the embedded gateway answers and adds the folder as a project")
    func embedded() async throws {
        try await GatewayHome.with { home in
            let folder = try project(home)
            let asked = try await Program.martlet.shell(
                "cd \(folder) && $M ask --model martlet 'find the TODOs'", home: home.path,
                adding: home.variables.merging(Self.alone) { $1 })
            #expect(asked.code == 0, "\(asked.errors)")
            #expect(asked.output.contains("be kind") && asked.output.contains("greet.py"))
            let projects = try await home.martlet("gateway", "project", "list", "--json")
            #expect(try projects.output.json().array?.first?["path"] == .string(folder))
        }
    }

    @Test("A continued conversation uses one session of the gateway")
    func session() async throws {
        try await GatewayHome.with { home in
            let folder = try project(home)
            for (index, words) in ["find the TODOs", "what can you do?"].enumerated() {
                let asked = try await Program.martlet.shell(
                    "cd \(folder) && $M ask --model martlet \(index == 0 ? "" : "--continue") '\(words)'",
                    home: home.path, adding: home.variables.merging(Self.alone) { $1 })
                #expect(asked.code == 0, "\(asked.errors)")
            }
            let sessions = try await home.martlet("gateway", "session", "list", "--json")
            #expect(try sessions.output.json().array?.count == 1)
            let usage = try await home.martlet("gateway", "usage", "--by", "model", "--json")
            #expect(try usage.output.json().array?.first?["key"] == "martlet/martlet-offline")
            #expect(try usage.output.json().array?.first?["cost_usd"]?.double == 0)
        }
    }

    @Test("A conversation works in a project of a running gateway, within its rules")
    func served() async throws {
        try await GatewayHome.with { home in
            let folder = try project(home)
            let added = try await home.martlet("gateway", "project", "add", folder, "--allow", "multi.edit", "--json")
            #expect(added.code == 0, "\(added.errors)")
            let id = try #require(try added.output.json()["id"]?.string)
            try await home.serve { gateway in
                let client = [
                    "GATEWAY_BASE_URL": gateway.address, "GATEWAY_API_KEY": GatewayHome.token,
                ]
                let words = #"replace "helo" with "hello" in greet.py"#
                let asked = try await home.martlet(
                    "ask", "--model", "gateway", "--project", id, words, adding: client)
                #expect(asked.code == 0, "\(asked.errors)")
                #expect(
                    String(decoding: try Files.read("\(folder)/greet.py", limit: 1000), as: UTF8.self)
                        .contains("'hello'"))
                #expect(try await home.martlet("gateway", "stop").code == 0)
            }
            let sessions = try await home.martlet("gateway", "session", "list", "--project", id, "--json")
            #expect(try sessions.output.json().array?.count == 1)
        }
    }
}
