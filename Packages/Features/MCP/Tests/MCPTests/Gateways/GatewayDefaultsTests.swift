import Capabilities
import CoreTesting
import GatewayKit
import HTTPClient
import HostTesting
import JSON
import Registry
import Synchronization
import Testing

@testable import MCP

/// What is chosen for new sessions of a gateway: kept here, shown, and given to who starts one.
@Suite("Choices for new sessions of a gateway", .timeLimit(.minutes(5)))
struct GatewayDefaultsTests {
    private static let list = "mcp.gateway.list"
    private static let use = "mcp.gateway.use"

    /// What a new session of the lab starts with.
    private func tools(
        of bench: TestWorkbench, _ lab: GatewayLab, project: String? = nil, telling: (String) -> Void = { _ in }
    ) async throws -> Offered<NewSessionTools>? {
        let said = Mutex<[String]>([])
        let client = HTTPClient(.standalone)
        let gateway = try RemoteGateway(ServerID("lab"), at: HTTPURL(lab.address), client: client)
        let result = try await bench.open { session in
            try await session.registry.one((any AgentToolDefaults).self).tools(
                forNewSessionOf: gateway, profile: "lab", project: project
            ) { text in said.withLock { $0.append(text) } }
        }
        await client.close()
        for text in said.withLock({ $0 }) { telling(text) }
        return result
    }

    @Test("what is chosen is kept here, shown without a session, and given to who starts one")  // row G-21, G-22
    func kept() async throws {
        try await GatewayLab.bench { (bench, lab) async throws in
            #expect(try await tools(of: bench, lab) == nil && lab.requests.isEmpty)
            let given: JSONObject = [
                "default": true, "off": ["web", "git/log"], "priority": ["time"], "audit": "on",
            ]
            let done = try await bench.perform(Self.use, given)
            #expect(done["session"] == nil && done["audit"] == true && lab.chosen == nil)
            #expect(done["servers"]?.array?.compactMap { $0["id"]?.string } == ["time", "git", "web"])
            let rows = try await bench.perform(Self.list)
            #expect(rows.json.array?.compactMap { $0["on"]?.bool } == [true, true, false])
            #expect(rows.json[1]?["off"] == ["log"] && rows.json[0]?["place"] == 1 && rows.json[0]?["default"] == true)
            #expect(rows.notices.contains("what you chose for new sessions of lab; calls go into its audit log: yes"))
            let shown = try await bench.perform("mcp.gateway.tools", ["server": "git"]).json
            #expect(shown.array?.compactMap { $0["on"]?.bool } == [false, true])
            // A session that exists does not care.
            let session = try await bench.perform(Self.list, ["session": "s1"])
            #expect(session.json.array?.compactMap { $0["id"]?.string } == ["git", "time", "web"])
            #expect(session.json[2]?["on"] == true && !session.notices.contains("new sessions"))

            var expected = NewSessionTools(
                servers: ["git", "time"], tools: ["push", "now", "time/log"], priority: ["time"], auditLog: true)
            #expect(try await tools(of: bench, lab) == .value(expected))
            // Tools that the gateway gets later are used, and tools that it has lost are skipped.
            lab.answer("v1/mcp/servers", with: ["data": [["id": "git"], ["id": "new"]]])
            lab.answer("v1/mcp/servers/new/tools", with: ["data": [["name": "fresh"]]])
            expected = NewSessionTools(tools: ["push", "fresh"], auditLog: true)
            #expect(try await tools(of: bench, lab) == .value(expected))
        }
    }

    @Test("a project of the gateway starts from what was chosen for all, and what is forgotten counts no more")
    func projects() async throws {
        try await GatewayLab.bench { (bench, lab) async throws in
            try await bench.perform(Self.use, ["default": true, "off": ["web"], "audit": "on"])
            try await bench.perform(Self.use, ["default": true, "project": "p2", "off": ["time"], "audit": "off"])
            let own = try await tools(of: bench, lab, project: "p2")
            #expect(own == .value(NewSessionTools(servers: ["git"], auditLog: false)))
            #expect(lab.requests.last == "GET /v1/mcp/servers?scope=all&project_id=p2")
            let other = try await tools(of: bench, lab, project: "p3")
            #expect(other == .value(NewSessionTools(servers: ["git", "time"], auditLog: true)))
            let rows = try await bench.perform(Self.list, ["project": "p2"]).json
            #expect(rows.array?.compactMap { $0["on"]?.bool } == [true, false, false])
            // Forgetting works without the gateway.
            let before = lab.requests.count
            let forgotten = try await bench.perform(Self.use, ["default": true, "reset": true])
            #expect(forgotten.notices.contains("is forgotten") && lab.requests.count == before)
            #expect(try await tools(of: bench, lab) == nil)
            #expect(
                try await tools(of: bench, lab, project: "p2")
                    == .value(NewSessionTools(servers: ["git", "web"], auditLog: false)))
            try await bench.perform(Self.use, ["default": true, "project": "p2", "reset": true])
            #expect(try await tools(of: bench, lab, project: "p2") == nil)
        }
    }

    @Test("what only projects have can be chosen for all sessions, and counts in those of projects")
    func files() async throws {
        try await GatewayLab.bench { (bench, lab) async throws in
            lab.answer("v1/projects", with: ["data": [["id": "p9"]]])
            lab.answer(
                "v1/mcp/servers?scope=all&project_id=p9", with: ["data": [["id": "files"], ["id": "git"]]])
            lab.answer("v1/mcp/servers/files/tools", with: ["data": [["name": "bash.run"], ["name": "ls"]]])
            let done = try await bench.perform(Self.use, ["default": true, "off": ["files/bash.run"]])
            #expect(done["servers"]?.array?.last?["off"] == ["bash.run"])
            #expect(try await bench.perform(Self.list).notices.contains("not among these: files/bash.run; "))
            let own = try await tools(of: bench, lab, project: "p9")
            #expect(own == .value(NewSessionTools(tools: ["ls", "log", "push"])))
            #expect(try await tools(of: bench, lab) == .value(NewSessionTools()))
            let unknown = try await bench.failure(Self.use, ["default": true, "off": ["fils/bash.run"]])
            #expect(unknown?.code == "mcp.server-unknown" && unknown?.message.contains("files") == true)
        }
    }

    @Test("a gateway without the routes keeps nothing, and what was chosen before is not offered there")
    func lacks() async throws {
        try await GatewayLab.bench { (bench, lab) async throws in
            try await bench.perform(Self.use, ["default": true, "off": ["time/now"]])
            var said: [String] = []
            let sent = try await tools(of: bench, lab) { said.append($0) }
            #expect(sent == .value(NewSessionTools(tools: ["git/log", "push", "time/log"])))
            #expect(said == ["web lists no tools now: it ended, so that none of its tools is used in the session"])
            lab.answer("v1/mcp/servers", with: nil)
            #expect(try await tools(of: bench, lab) == .notOffered)
            let refused = try await bench.failure(Self.use, ["default": true, "off": ["web"]])
            #expect(refused?.code == "agent.not-offered")
            // A gateway that fails says nothing of its tools, which is not the same.
            lab.answer("v1/mcp/servers", with: "rubbish")
            await #expect(throws: RemoteGatewayError.self) { try await tools(of: bench, lab) }
        }
    }

    @Test("a choice for all that is kept for later is neither applied nor changed, and one for a project is")
    func remembers() async throws {
        try await GatewayLab.bench { (bench, lab) async throws in
            try await bench.perform(Self.use, ["default": true, "off": ["web"]])
            bench.settings = "{mcp: {'remember-selection': false}}"
            #expect(try await tools(of: bench, lab) == nil)
            let kept = try await bench.failure(Self.use, ["default": true, "reset": true])
            #expect(kept?.code == "mcp.choice-kept" && kept?.message.contains("--project") == true)
            try await bench.perform(Self.use, ["default": true, "project": "p2", "off": ["git"]])
            let own = try await tools(of: bench, lab, project: "p2")
            #expect(own == .value(NewSessionTools(servers: ["time", "web"])))
            bench.settings = "{}"
            #expect(try await tools(of: bench, lab) == .value(NewSessionTools(servers: ["git", "time"])))
        }
    }

    @Test(
        "what does not say for which sessions it is, or names what is not there, changes nothing",
        arguments: [
            (["off": ["web"]], "mcp.tool-arguments", "name either a session or --default"),
            (["session": "s1", "default": true, "off": ["web"]], "mcp.tool-arguments", "name either"),
            (["session": "s1", "project": "p2", "off": ["web"]], "mcp.tool-arguments", "not in the project p2"),
            (["default": true], "mcp.tool-arguments", "nothing is to be changed"),
            (["default": true, "off": ["gitt"]], "mcp.server-unknown", "git"),
            (["default": true, "off": ["git/lo"]], "mcp.tool-unknown", "log"),
            (["default": true, "priority": ["tim"]], "mcp.server-unknown", "time"),
        ] as [(JSONObject, String, String)])
    func refuses(_ arguments: JSONObject, _ code: String, _ reason: String) async throws {
        try await GatewayLab.bench { (bench, lab) async throws in
            let failure = try await bench.failure(Self.use, arguments)
            #expect(failure?.code == code && failure?.exit == .usage && failure?.message.contains(reason) == true)
            #expect(try await tools(of: bench, lab) == nil && lab.chosen == nil)
        }
    }

    @Test("a session whose own choice the gateway refuses is told how to start over")
    func stale() async throws {
        try await GatewayLab.bench { (bench, lab) async throws in
            let error: JSON = ["error": ["code": "unknown_tool", "message": "there is no tool \"gone\""]]
            lab.answer("v1/sessions/s1/tools", with: error)
            let refused = try await bench.failure(Self.use, ["session": "s1", "project": "p1", "off": ["web"]])
            #expect(refused?.code == "mcp.tool-unknown" && refused?.message.contains("no tool \"gone\"; ") == true)
            #expect(refused?.message.contains("'martlet mcp gateway use --gateway lab s1 --reset'") == true)
        }
    }
}
