import Capabilities
import CoreTesting
import FileKit
import HTTPTesting
import JSON
import Settings
import Testing

@testable import Gateway

@Suite("The gateway as a feature")
struct GatewayFeatureTests {
    @Test("The gateway conforms to the rules for features") func conforms() async {
        await #expect(processExitsWith: .success) {
            let violations = try await TemporaryDirectory.run { folder in
                try Files.makeDirectories("\(folder)/work")
                return try await FeatureConformance.violations(
                    of: GatewayFeature.self, with: [MemoryVault.self], in: folder,
                    doing: [
                        "gateway.project.add": ["folder": .string("\(folder)/work")], "gateway.token.show": [:],
                        "gateway.token.create": ["name": "ci"],
                        "gateway.stop": [:], "gateway.project.remove": ["project": "none"],
                        "gateway.serve": ["port": 0],
                    ], lasting: ["gateway.serve"],
                    texts: [
                        "gateway.serve.address": "where we listen", "gateway.project.add.name": "nothing but a name",
                        "gateway.project.list.search": "words",
                    ],
                    unfilled: [
                        "gateway.overview": "it shows a gateway that runs, and each action ends before",
                        "gateway.sessions": "a client of a gateway that runs begins them",
                        "gateway.costs": "a client of a gateway that runs causes them",
                    ])
            }
            for violation in violations { Issue.record("\(violation)") }
            #expect(violations.isEmpty)
        }
    }

    @Test("The routes are listed without opening files")
    func routes() async throws {
        let host = try TestHost([MemoryVault.self, GatewayFeature.self])
        let rows = try #require(try await host.perform("gateway.routes").array)
        let open = rows.filter { $0["open"]?.bool == true }.compactMap { $0["path"]?.string }
        #expect(open.contains("/health"))
        let paths = Set(rows.compactMap { row in row["path"]?.string.map { "\(row["method"]?.string ?? "") \($0)" } })
        let wanted = [
            "GET /v1/models", "GET /v1/models/capabilities", "POST /v1/chat/completions", "POST /v1/responses",
            "POST /v1/messages", "GET /v1/projects", "POST /v1/sessions", "GET /v1/sessions/stats",
            "GET /v1/mcp/servers", "GET /openapi.json", "GET /metrics",
        ]
        for route in wanted { #expect(paths.contains(route), "\(route) is missing") }
        // Every route except health needs a token.
        #expect(!open.contains { $0.hasPrefix("/v1/") || $0 == "/metrics" })
    }

    @Test(
        "Settings outside their range are refused",
        arguments: [
            ("port", "70000", "must be from 0 to 65535, not 70000"),
            ("max-rounds", "0", "must be at least 1, not 0"),
            ("turn-tokens", "-1", "must be at least 0, not -1"),
            ("day-cost", "-0.5", "must be from 0.0 to 1000000000.0, not -0.5"),
        ])
    func ranges(key: String, word: String, message: String) throws {
        let setting = try #require(GatewaySettings.declarations.first { $0.key == [key] })
        let problem = #expect(throws: ValueError.self) { try setting.schema.json(fromWord: word) }
        #expect(problem?.message == message)
    }

    @Test("Each setting sets its property, and each property has a setting") func bindings() {
        let names = [
            "certificate-key": "key", "approval-limit": "approvalTime", "keep-secrets": "keepsSecrets",
            "max-rounds": "rounds", "turn-limit": "turnTime", "tool-limit": "callTime", "drain-limit": "drain",
        ]
        #expect(SettingsConformance.violations(of: GatewaySettings.self, names: names) == [])
    }
}
