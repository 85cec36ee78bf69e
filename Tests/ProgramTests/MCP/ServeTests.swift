import CoreTesting
import JSON
import Testing

@Suite("The program as an MCP server", .timeLimit(.minutes(2)))
struct ServeTests {
    private static let opening =
        #"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}"#

    private static func messages(_ run: Program.Run) throws -> [JSON] { try run.output.lines.map { try $0.json() } }

    @Test("A host sees what models are offered, and the program ends with its input")
    func tools() async throws {
        try await withHome { home in
            let input = [
                Self.opening, #"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
                #"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"version","arguments":{}}}"#,
            ].map { $0 + "\n" }.joined()
            // What was asked is answered before the input ends only if the input waits for it.
            let script = "{ cat; until grep -q '\"id\":3' out; do :; done; } | $M mcp serve | tee out"
            let run = try await Program.martlet.shell(": > out; " + script, home: home, input: input)
            #expect(run.code == 0, "\(run.errors)")
            let answers = try Self.messages(run)
            let listed = answers.first { $0["id"] == 2 }?["result"]?["tools"]?.array ?? []
            // Conversations are not exposed.
            #expect(listed.compactMap { $0["name"]?.string }.sorted() == ["features", "version"])
            #expect(answers.first { $0["id"] == 3 }?["result"]?["structuredContent"]?["name"] == "martlet")
            #expect(run.errors.isEmpty, "\(run.errors)")
        }
    }

    @Test("With everything allowed no tool changes what others may do")
    func everything() async throws {
        try await withHome { home in
            let allowed = ["reads", "writes", "destroys", "sends", "approves"].map { "--allow \($0)" }.joined(
                separator: " ")
            let script =
                ": > out; { cat; until grep -q '\"id\":2' out; do :; done; } | $M mcp serve \(allowed) | tee out"
            let input = "\(Self.opening)\n" + #"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"# + "\n"
            let run = try await Program.martlet.shell(script, home: home, input: input)
            let listed = try Self.messages(run).first { $0["id"] == 2 }?["result"]?["tools"]?.array ?? []
            let names = Set(listed.compactMap { $0["name"]?.string })
            #expect(names.isSuperset(of: ["chat_send", "chat_delete", "file_write", "mcp_call"]))
            #expect(
                names.isDisjoint(with: [
                    "config_set", "config_trust", "auth_trust_add", "mcp_serve", "gateway_serve", "mcp_add", "mcp_test",
                ]))
        }
    }
}
