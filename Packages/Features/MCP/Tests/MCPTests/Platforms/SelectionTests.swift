import Capabilities
import CoreTesting
import HostTesting
import JSON
import KamiwazaTesting
import MCPServers
import Registry
import Testing

@testable import MCP

/// Which tools of a platform are used, and for how long that is remembered.
@Suite(.timeLimit(.minutes(5)))
struct SelectionTests {
    private static let tools = [KamiwazaSetup.Tool("1", name: "web"), KamiwazaSetup.Tool("2", name: "mail")]

    /// The servers that a model in the folder gets.
    private func offered(_ bench: TestWorkbench, _ conversation: String? = nil) async throws -> [String] {
        try await bench.open { (session) async throws in
            let place = ToolPlace(folder: bench.folder, conversation: conversation)
            return try await session.registry.toolSources(at: place) { _ in }.map(\.name).sorted()
        }
    }

    private func remember(_ isOn: Bool, _ bench: TestWorkbench, _ platform: KamiwazaServer) throws {
        let settings = Lab.settings(["lab": platform.origin], mcp: ["remember-selection": .bool(isOn)])
        try bench.write(settings: settings)
    }

    @Test("a selection is stored and applied again, and a change takes its place")
    func remembers() async throws {
        try await Lab.run(Self.tools) { (bench, _) async throws in
            #expect(try await offered(bench) == ["mail", "web"])
            try await bench.perform("mcp.use", ["off": ["web"]])
            #expect(try await offered(bench) == ["mail"])
            try await bench.perform("mcp.use", ["on": ["web"], "off": ["mail"]])
            #expect(try await offered(bench) == ["web"])
            #expect(try await offered(bench, "another") == ["web"])
        }
    }

    @Test("while it is not to be remembered, the selection is kept and not applied, and nothing takes its place")
    func keeps() async throws {
        try await Lab.run(Self.tools) { (bench, platform) async throws in
            try await bench.perform("mcp.use", ["off": ["web"]])
            try remember(false, bench, platform)
            #expect(try await offered(bench) == ["mail", "web"])
            for (action, arguments) in [
                ("mcp.use", ["off": ["mail"]]), ("mcp.use", ["reset": true]), ("mcp.disable", ["name": "mail"]),
            ] as [(String, JSONObject)] {
                let failure = try await bench.failure(action, arguments)
                #expect(failure?.code == "mcp.choice-kept" && failure?.exit == .usage, "\(action)")
                #expect(failure?.message.contains("mcp.remember-selection") == true)
            }
            // The choice for one conversation is another one.
            try await bench.perform("mcp.use", ["session": "s1", "off": ["mail"], "scope": "session"])
            #expect(try await offered(bench, "s1") == ["web"])
            #expect(try await offered(bench) == ["mail", "web"])
            try remember(true, bench, platform)
            #expect(try await offered(bench) == ["mail"])
        }
    }

    @Test("a tool that is gone is passed over without a word, and its choice counts when it is back")
    func gone() async throws {
        try await Lab.run(Self.tools) { (bench, platform) async throws in
            try await bench.perform("mcp.use", ["off": ["web"], "priority": ["web", "mail"]])
            platform.deploy([Self.tools[1]])
            let output = RecordingOutput()
            let rows = try await bench.perform("mcp.list", to: output).json
            #expect(rows.array?.count == 1 && rows[0]?["name"] == "mail" && output.notices.isEmpty)
            let used = RecordingOutput()
            #expect(try await bench.perform("mcp.used", to: used).json.array?.count == 1 && used.notices.isEmpty)
            #expect(try await offered(bench) == ["mail"])
            // Whoever names it is told, though.
            #expect(try await bench.failure("mcp.use", ["on": ["web"]])?.code == "mcp.server-unknown")
            platform.deploy(Self.tools)
            #expect(try await offered(bench) == ["mail"])
            try await bench.perform("mcp.use", ["on": ["web"]])
            #expect(try await offered(bench) == ["mail", "web"])
        }
    }
}
