import Capabilities
import CoreTesting
import HostTesting
import JSON
import Registry
import Screens
import Testing

@testable import MCP

/// The tools of an agent gateway elsewhere, and the choice among them for one of its sessions.
@Suite(.timeLimit(.minutes(5)))
struct GatewayTests {
    private static let list = "mcp.gateway.list"
    private static let use = "mcp.gateway.use"

    @Test("the tool servers of a gateway are listed, and the tools of one")
    func lists() async throws {
        try await GatewayLab.bench { (bench, lab) async throws in
            let rows = try await bench.perform(Self.list, ["scope": "project", "project": "p1"]).json
            #expect(rows.array?.compactMap { $0["id"]?.string } == ["git", "time", "web"])
            #expect(rows[0]?["scope"] == "project" && rows[0]?["version"] == "1.2" && rows[0]?["tools"] == 2)
            #expect(rows[0]?["on"] == true && rows[0]?["gateway"] == "lab" && rows[2]?["problem"] == "it ended")
            #expect(lab.requests == ["GET /v1/mcp/servers?scope=project&project_id=p1"])
            let tools = try await bench.perform("mcp.gateway.tools", ["server": "git", "gateway": "lab"]).json
            #expect(tools.array?.compactMap { $0["name"]?.string } == ["log", "push"])
            #expect(tools[0]?["summary"] == "Shows" && tools[0]?["effect"] == "reads" && tools[0]?["on"] == nil)
            #expect(lab.requests.last == "GET /v1/mcp/servers/git/tools")
        }
    }

    @Test("switching something off lists everything else, and what the gateway applies is shown")
    func chooses() async throws {
        try await GatewayLab.bench { (bench, lab) async throws in
            let off = try await bench.perform(Self.use, ["session": "s1", "off": ["web", "git/log"]])
            #expect(lab.chosen?["enabled_servers"] == ["git", "time"])
            // Both servers have a tool of that name.
            #expect(lab.chosen?["enabled_tools"] == ["push", "now", "time/log"])
            #expect(lab.requests.contains("GET /v1/mcp/servers?scope=all&project_id=p1"))
            #expect(off["servers"]?[0]?["off"] == ["log"] && off["servers"]?[2]?["on"] == false)
            // The tools of a server that is left out are not named any more, and come back with it.
            try await bench.perform(Self.use, ["session": "s1", "off": ["time"], "priority": ["web,git"]])
            #expect(lab.chosen?["enabled_servers"] == ["git"] && lab.chosen?["enabled_tools"] == ["push"])
            let on = try await bench.perform(Self.use, ["session": "s1", "on": ["time"], "audit": "on"])
            #expect(lab.chosen?["enabled_tools"] == ["push", "now", "time/log"])
            #expect(on["audit"] == true && lab.chosen?["priority"] == ["web", "git"])
            let rows = try await bench.perform(Self.list, ["session": "s1"]).json
            #expect(rows.array?.compactMap { $0["id"]?.string } == ["web", "git", "time"])
            #expect(rows[0]?["on"] == false && rows[1]?["off"] == ["log"] && rows[2]?["off"] == [])
            let tools = try await bench.perform("mcp.gateway.tools", ["server": "git", "session": "s1"]).json
            #expect(tools.array?.compactMap { $0["on"]?.bool } == [false, true])
            // Starting over gives all back, and does not end that calls are recorded.
            try await bench.perform(Self.use, ["session": "s1", "reset": true])
            #expect(lab.chosen == ["priority": [], "audit_log": true])
        }
    }

    @Test("a server that sessions do not use by default is shown as off, until a session uses it")
    func spare() async throws {
        try await GatewayLab.bench { (bench, lab) async throws in
            let rows: [JSON] = [["id": "git", "enabled": false], ["id": "time"]]
            lab.answer("v1/mcp/servers", with: ["data": .array(rows)])
            let tools: JSONObject = ["server": "git", "session": "s1"]
            let listed = try await bench.perform(Self.list, ["session": "s1"]).json
            #expect(listed[0]?["on"] == false && listed[1]?["on"] == true && listed[0]?["project"] == "p1")
            #expect(try await bench.perform("mcp.gateway.tools", tools).json[0]?["on"] == false)
            try await bench.perform(Self.use, ["session": "s1", "on": ["git"]])
            #expect(lab.chosen?["enabled_servers"] == ["time", "git"])
            #expect(try await bench.perform("mcp.gateway.tools", tools).json[0]?["on"] == true)
        }
    }

    @Test("a gateway that applies something else is told, and its word is shown")
    func applied() async throws {
        try await GatewayLab.bench { (bench, lab) async throws in
            lab.answer("v1/sessions/s1/tools", with: ["audit_log": true, "enabled_servers": ["time"]])
            let done = try await bench.perform(Self.use, ["session": "s1", "off": ["web"], "audit": "off"])
            #expect(done["audit"] == true && done.notices.contains("did not take all of it"))
            #expect(done["servers"]?.array?.compactMap { $0["on"]?.bool } == [false, true, false])
        }
    }

    @Test("a gateway without these routes shows nothing and says so, and refuses a choice")
    func lacks() async throws {
        try await GatewayLab.bench { (bench, lab) async throws in
            lab.answer("v1/sessions/s1/tools", with: nil)
            let unset = try await bench.failure(Self.use, ["session": "s1", "off": ["web"]])
            #expect(unset?.code == "agent.not-offered" && unset?.message.contains("choices") == true)
            lab.answer("v1/mcp/servers", with: nil)
            lab.answer("v1/mcp/servers/git/tools", with: nil)
            let reading: [(String, JSONObject)] = [
                (Self.list, [:]), (Self.list, ["session": "s1"]), ("mcp.gateway.tools", ["server": "git"]),
            ]
            for (action, arguments) in reading {
                let none = try await bench.perform(action, arguments)
                #expect(none.json == [] && none.notices.contains("lab offers no tool servers"))
            }
            let refused = try await bench.failure(Self.use, ["session": "s1", "off": ["web"]])
            #expect(refused?.code == "agent.not-offered" && refused?.message.contains("tool servers") == true)
            #expect(lab.chosen == nil)
            // What the gateway does have and the caller named wrongly is something else.
            let error: JSON = ["error": ["code": "session_not_found", "message": "no such session"]]
            lab.answer("v1/sessions/s2", with: error)
            #expect(try await bench.failure(Self.use, ["session": "s2", "reset": true])?.code == "agent.not-found")
        }
    }

    @Test("the screens show the servers and tools, and a gateway without them as an empty table that says so")
    func screens() async throws {
        try await GatewayLab.bench { (bench, lab) async throws in
            try await bench.open { (session) async throws in
                func text(_ id: String, _ arguments: JSONObject) async throws -> String {
                    try await session.session.open(
                        id, arguments, as: .person(HeadlessInteraction()), output: RecordingOutput()
                    ) { view in try await view.block { _ in true }.json.text() }
                }
                #expect(try await text("mcp.gateway.servers", ["session": "s1"]).contains("\"git\""))
                #expect(try await text("mcp.gateway.server", ["server": "git"]).contains("\"push\""))
                lab.answer("v1/mcp/servers", with: nil)
                let empty = try await text("mcp.gateway.servers", [:])
                #expect(empty.contains("lab offers no tool servers") && !empty.contains("\"git\""))
            }
        }
    }

    @Test("without a name the gateway of the profile in use counts, or else the only one")
    func chosen() async throws {
        try await GatewayLab.bench { (bench, lab) async throws in
            bench.environment[GatewayModels.variable] = "broken lab=\(lab.address)"
            let several = try await bench.failure(Self.list)
            #expect(several?.exit == .usage && several?.message.contains("--gateway: broken, lab") == true)
            #expect(try await bench.perform(Self.list, ["gateway": "lab"]).json.array?.count == 3)
            bench.settings = "{profile: 'lab', profiles: {lab: {server: '\(lab.address)', kind: 'gateway'}}}"
            #expect(try await bench.perform(Self.list).json.array?.count == 3)
            // One that is set up wrongly tells why.
            #expect(try await bench.failure(Self.list, ["gateway": "broken"])?.code.hasPrefix("mcp.") == false)
            for name in ["lap", "vendor"] {
                let unknown = try await bench.failure(Self.list, ["gateway": .string(name)])
                #expect(
                    unknown?.code == "mcp.server-unknown" && unknown?.message.contains("known: broken, lab") == true)
            }
            bench.environment[GatewayModels.variable] = ""
            let none = try await bench.perform(Self.list)
            #expect(none.json == [] && none.notices.contains("martlet auth server add"))
            #expect(try await bench.failure(Self.use, ["session": "s1", "reset": true])?.code == "mcp.server-unknown")
        }
    }

    @Test(
        "a choice of what is not there is refused, and nothing is sent",
        arguments: [
            ([:], "mcp.tool-arguments", "nothing is to be changed"),
            (["off": ["gitt"]], "mcp.server-unknown", "git"), (["on": ["nobody/x"]], "mcp.server-unknown", "nobody"),
            (["off": ["git/lo"]], "mcp.tool-unknown", "log"), (["off": ["git/"]], "mcp.tool-unknown", "no tool"),
            (["priority": ["git,tim"]], "mcp.server-unknown", "time"),
        ] as [(JSONObject, String, String)])
    func refuses(_ arguments: JSONObject, _ code: String, _ reason: String) async throws {
        try await GatewayLab.bench { (bench, lab) async throws in
            var given = arguments
            given["session"] = "s1"
            let failure = try await bench.failure(Self.use, given)
            #expect(failure?.code == code && failure?.exit == .usage && failure?.message.contains(reason) == true)
            #expect(lab.chosen == nil)
        }
    }

    @Test("rows that could be taken for others, and lists without end, are not shown")
    func hostile() async throws {
        try await GatewayLab.bench { (bench, lab) async throws in
            let rows: [JSON] = ["git", "git", "gi\u{200B}t"].map { ["id": .string($0)] }
            lab.answer("v1/mcp/servers", with: ["data": .array(rows)])
            let shown = try await bench.perform(Self.list)
            #expect(shown.json.array?.count == 1 && shown.notices.contains("2 of the tool servers"))
            bench.settings = "{mcp: {'list-limit': 2}}"
            let many = try await bench.failure(Self.list)
            #expect(many?.code == "mcp.limit" && many?.message.contains("mcp.list-limit") == true)
            lab.answer("v1/mcp/servers", with: "rubbish")
            #expect(try await bench.failure(Self.list)?.code == "remote-gateway.bad-answer")
        }
    }

    @Test("who may not connect to the gateway gets nothing of it, and only who is told the action may choose")
    func rights() async throws {
        try await GatewayLab.bench { (bench, lab) async throws in
            let host = String(lab.address.dropFirst("http://".count))
            try await bench.open { (session) async throws in
                func attempt(_ action: String, _ arguments: JSONObject, _ layer: Grant.Layer) async -> AnyFailure? {
                    let caller = Caller.person(HeadlessInteraction()).narrowed(by: Grant(layer))
                    do {
                        _ = try await session.session.perform(action, arguments, as: caller, output: RecordingOutput())
                        return nil
                    } catch { return AnyFailure(error) }
                }
                let choice: JSONObject = ["session": "s1", "off": ["web"]]
                let sending: [(String, JSONObject)] = [
                    (Self.list, [:]), ("mcp.gateway.tools", ["server": "git"]), (Self.use, choice),
                ]
                for (action, arguments) in sending {
                    for hosts in [["elsewhere.test"], [host]] {
                        let before = lab.requests.count
                        let layer = Grant.Layer(
                            .bundle("b"), effects: .writes, actions: [action], hosts: .named(hosts))
                        let failure = await attempt(action, arguments, layer)
                        if hosts == [host] {
                            #expect(failure == nil && lab.requests.count > before, "\(action)")
                        } else {
                            #expect(failure?.code == "http.not-permitted" && lab.requests.count == before, "\(action)")
                        }
                    }
                }
                // Every effect is not enough for a choice: it must be named.
                let all = Grant.Layer(.bundle("b"), effects: .destroys, actions: ["*"], hosts: .named([host]))
                let before = lab.requests.count
                #expect(await attempt(Self.use, choice, all)?.code == "access.denied" && lab.requests.count == before)
                #expect(await attempt(Self.list, [:], all) == nil)
            }
        }
    }
}
