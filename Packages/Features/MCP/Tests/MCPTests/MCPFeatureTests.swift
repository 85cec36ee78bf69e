import Capabilities
import CoreTesting
import HostKit
import HostTesting
import JSON
import Settings
import Testing

@testable import MCP

/// The feature as a whole.
struct MCPFeatureTests {
    @Test("it keeps the rules of every feature")
    func conforms() async throws {
        // The gateway is in this process, so that what it opens is not counted.
        try await GatewayLab.run { gateway in
            await #expect(processExitsWith: .success) { [address = gateway.address as String] in
                let violations = try await TemporaryDirectory.run { folder in
                    try await FeatureConformance.violations(
                        of: MCPFeature.self, with: [HostFeature.self, GatewayModels.self], in: folder,
                        settings: Plain.settings(Plain.entry()),
                        environment: [GatewayModels.variable: "lab=\(address)"],
                        doing: [
                            "mcp.test": ["name": "plain"], "mcp.show": ["name": "plain"],
                            "mcp.tools": ["server": "plain"],
                            "mcp.call": ["server": "plain", "tool": "echo", "arguments": ["--text", "x"]],
                            "mcp.ping": ["server": "plain"], "mcp.logs": ["name": "plain"],
                            "mcp.resources": ["server": "plain"], "mcp.prompts": ["server": "plain"],
                            "mcp.use": ["off": ["plain/die"]], "mcp.server": ["name": "plain"],
                            "mcp.gateway.list": ["gateway": "lab"], "mcp.gateway.tools": ["server": "git"],
                            "mcp.gateway.server": ["server": "git"],
                            "mcp.gateway.use": ["session": "s1", "off": ["git/push"]],
                            "mcp.gateway.use": ["default": true, "off": ["git/push"]],
                        ],
                        texts: [
                            "mcp.add.name": "nothing but a name",
                            "mcp.add.command": "what is run is decided as a program",
                            "mcp.add.env":
                                "part of an entry, which only a person or a bundle that names the action writes",
                            "mcp.add.header": "as the variables", "mcp.add.cwd": "as the variables",
                            "mcp.add.tool": "the name of a tool",
                            "mcp.import.from": "decided as a path when it is read",
                            "mcp.import.names": "names of servers",
                            "mcp.read.address":
                                "the server opens it, and it is one of those that the person has agreed to",
                            "mcp.complete.reference": "as the address of a resource",
                            "mcp.gateway.tools.server": "asked of a gateway that is set up",
                            "mcp.gateway.use.on": "as the tool server", "mcp.gateway.use.off": "as the tool server",
                            "mcp.gateway.use.priority": "as the tool server",
                        ].merging(Self.servers) { $1 })
                }
                for violation in violations { Issue.record("\(violation)") }
                #expect(violations.isEmpty)
            }
        }
    }

    /// Each names a server that the person has set up or agreed to.
    private static let servers = Dictionary(
        uniqueKeysWithValues: [
            "call.server", "tools.server", "resources.server", "read.server", "prompts.server", "get.server",
            "complete.server", "ping.server", "show.name", "logs.name", "remove.name", "enable.name", "disable.name",
            "test.name", "install.name", "login.name", "logout.name", "use.on", "use.off", "use.priority",
            "used.session",
            "use.session",
        ].map { ("mcp.\($0)", "a server that is set up") })

    @Test("each setting sets its property, and each property has a setting")
    func settings() {
        #expect(MCPSettings.declarations.map(\.name).contains("servers"))
        #expect(Set(MCPSettings.declarations.map(\.name)).count == MCPSettings.declarations.count)
    }

    @Test(
        "Settings outside of their range are refused",
        arguments: [("message-limit", "1"), ("restarts", "-1"), ("calls-at-once", "0"), ("list-limit", "0")])
    func ranges(key: String, word: String) throws {
        let setting = try #require(MCPSettings.declarations.first { $0.key == [key] })
        #expect(throws: ValueError.self) { try setting.schema.json(fromWord: word) }
    }
}
