import Capabilities
import CoreTesting
import HTTPCore
import HostTesting
import JSON
import KamiwazaTesting
import MCPServers
import Registry
import Testing

@testable import MCP

/// The tools of a platform among the servers.
@Suite(.timeLimit(.minutes(5)))
struct PlatformListTests {
    private static let tools = [
        KamiwazaSetup.Tool("1", name: "web search"), KamiwazaSetup.Tool("2", name: "old", status: "STOPPED"),
        KamiwazaSetup.Tool("3", name: "new", status: "DEPLOYING"),
    ]
    private static let discover = "/api/tool/discover"

    private func names(_ bench: TestWorkbench, to output: RecordingOutput? = nil) async throws -> [String] {
        try await bench.perform("mcp.list", to: output).json.array?.compactMap { $0["name"]?.string } ?? []
    }

    @Test("only tools that are deployed are listed, as servers of the person", arguments: [true, false])
    func lists(_ isOlder: Bool) async throws {
        try await Lab.run(Self.tools, list: isOlder ? .discover : .extensions) { (bench, platform) async throws in
            let rows = try await bench.perform("mcp.list").json
            #expect(rows.array?.count == 1 && rows[0]?["name"] == "web-search" && rows[0]?["scope"] == "user")
            #expect(rows[0]?["from"] == "platform of the profile lab" && rows[0]?["state"] == "ready")
            #expect(rows[0]?["target"] == .string("\(platform.origin)/runtime/tools/1"))
            #expect(platform.requests.filter { $0.path == Self.discover }.map(\.credential) == [.accessToken])
            // Whatever is deployed later is listed then.
            platform.deploy(Self.tools.map { KamiwazaSetup.Tool($0.id, name: $0.name) })
            #expect(try await names(bench) == ["new", "old", "web-search"])
        }
    }

    @Test("a platform that knows no tools has none, without a word")
    func none() async throws {
        try await Lab.run(Self.tools, list: .nowhere) { (bench, platform) async throws in
            let output = RecordingOutput()
            #expect(try await names(bench, to: output) == [])
            #expect(!output.notices.contains { $0.contains("platform") })
            #expect(platform.count(.get, Self.discover) == 1 && platform.count(.get, "/api/extensions") == 1)
        }
    }

    @Test("a platform is asked when servers are needed, at most once a minute, and by nothing else")
    func asksSeldom() async throws {
        try await Lab.run(Self.tools) { (bench, platform) async throws in
            let plain: JSONObject = ["servers": ["plain": Plain.entry()]]
            try bench.write(settings: Lab.settings(["lab": platform.origin], mcp: plain))
            let time = try #require(bench.time)
            try await bench.open { (session) async throws in
                try await session.perform("mcp.logs", ["name": "plain"])
                try await session.perform("mcp.disable", ["name": "plain"])
                try await session.perform("mcp.enable", ["name": "plain"])
            }
            try await bench.open { (session) async throws in
                try await session.perform(
                    "mcp.call", ["server": "plain", "tool": "echo", "arguments": ["--text", "a"]])
                #expect(platform.requests.isEmpty)
                // A name that nobody knows is asked for.
                let unknown = await session.attempt("mcp.show", ["name": "nobody"])
                #expect(unknown.failure?.code == "mcp.server-unknown" && platform.count(.get, Self.discover) == 1)
                try await session.perform("mcp.list")
                try await session.perform("mcp.use", ["off": ["web-search"]])
                _ = try await session.registry.toolSources(at: ToolPlace(folder: bench.folder)) { _ in }
                #expect(platform.count(.get, Self.discover) == 1)
                time.advance(by: .seconds(61))
                _ = try await session.registry.toolSources(at: ToolPlace(folder: bench.folder)) { _ in }
                try await session.perform("mcp.list")
                #expect(platform.count(.get, Self.discover) == 2)
            }
        }
    }

    @Test("of a platform that does not answer the last list is used, and that is told once")
    func down() async throws {
        try await Lab.run(Self.tools) { (bench, platform) async throws in
            platform.fail(Self.discover, with: .status(.internalServerError))
            let first = RecordingOutput()
            #expect(try await names(bench, to: first) == [])
            #expect(first.notices.contains { $0.contains("profile lab") && $0.contains("none is used") })
            platform.heal(Self.discover)
            #expect(try await names(bench) == ["web-search"])

            platform.fail(Self.discover, with: .status(.internalServerError))
            let time = try #require(bench.time)
            try await bench.open { (session) async throws in
                let output = RecordingOutput()
                for _ in 1...3 {
                    let rows = try await session.perform("mcp.list", to: output).json
                    #expect(rows[0]?["name"] == "web-search" && rows.array?.count == 1)
                    time.advance(by: .seconds(61))
                }
                let told = output.notices.filter { $0.contains("profile lab") }
                #expect(told.count == 1 && told[0].contains("listed last"), "\(told)")
                // When it works again and fails again, that is news.
                platform.heal(Self.discover)
                try await session.perform("mcp.list", to: output)
                platform.fail(Self.discover, with: .webPage())
                time.advance(by: .seconds(61))
                try await session.perform("mcp.list", to: output)
                #expect(output.notices.count { $0.contains("profile lab") } == 2)
            }
        }
    }

    @Test("a platform that is not there at all, and one that never answers, hold nothing up")
    func silent() async throws {
        let origin = try await Lab.run(Self.tools) { (bench, platform) async throws in
            _ = try await names(bench)
            platform.fail(Self.discover, with: .held)
            let settings = Lab.settings(["lab": platform.origin], mcp: ["platform-limit": "200ms"])
            try bench.write(settings: settings)
            let output = RecordingOutput()
            #expect(try await names(bench, to: output) == ["web-search"])
            #expect(output.notices.contains { $0.contains("200ms") && $0.contains("mcp.platform-limit") })
            platform.heal(Self.discover)
            return platform.origin
        }
        try await TestWorkbench.run([MCPFeature.self, LabSession.self]) { (bench) async throws in
            try bench.write(settings: Lab.settings(["lab": origin]))
            let output = RecordingOutput()
            #expect(try await names(bench, to: output) == [])
            #expect(output.notices.contains { $0.contains("profile lab") && $0.contains("reach") })
        }
    }

    @Test("whoever needs servers, a platform is asked with the rights of the person who set it up")
    func rights() async throws {
        try await Lab.run(Self.tools) { (bench, platform) async throws in
            try await bench.open { (session) async throws in
                let nobody = Caller.person(HeadlessInteraction()).narrowed(by: .nobody)
                let folder = bench.folder
                let sources = try await Caller.$current.withValue(nobody) {
                    try await session.registry.toolSources(at: ToolPlace(folder: folder)) { _ in }
                }
                #expect(sources.map(\.name) == ["web-search"] && platform.count(.get, Self.discover) == 1)
            }
        }
    }

    @Test("of a platform with too many tools the first are used, and that is told")
    func many() async throws {
        let tools = (1...Platforms.most + 1).map { KamiwazaSetup.Tool("\($0)", name: "t\($0)") }
        try await Lab.run(tools) { (bench, _) async throws in
            let output = RecordingOutput()
            #expect(try await names(bench, to: output).count == Platforms.most)
            #expect(output.notices.contains { $0.contains("profile lab") && $0.contains("first \(Platforms.most)") })
        }
    }

    @Test("those who hold tools learn when a platform has others")
    func changes() async throws {
        try await Lab.run(Self.tools) { (bench, platform) async throws in
            let time = try #require(bench.time)
            try await bench.open { (session) async throws in
                let catalog = try #require(session.registry.all((any ToolCatalog).self).first)
                try await session.perform("mcp.list")
                let before = catalog.changes.count
                time.advance(by: .seconds(61))
                try await session.perform("mcp.list")
                #expect(catalog.changes.count == before)
                platform.deploy([])
                time.advance(by: .seconds(61))
                try await session.perform("mcp.list")
                #expect(catalog.changes.count == before + 1)
            }
        }
    }

    @Test("a list that another platform gave is not used for this one")
    func otherAddress() async throws {
        try await Lab.run(Self.tools) { (bench, _) async throws in
            #expect(try await names(bench) == ["web-search"])
            try await KamiwazaServer.run { (other) async throws in
                other.fail(Self.discover, with: .status(.internalServerError))
                try bench.write(settings: Lab.settings(["lab": other.origin]))
                #expect(try await names(bench) == [])
            }
        }
    }

    @Test("a platform that a project names is left out, and told")
    func ofProject() async throws {
        try await Lab.run(Self.tools) { (bench, platform) async throws in
            try bench.write(settings: "{}")
            bench.current = "\(bench.folder)/work"
            try bench.write(Lab.settings(["lab": platform.origin]), to: "work/.martlet/config.json")
            try await bench.perform("config.trust", ["path": .string(bench.current)])
            let output = RecordingOutput()
            #expect(try await names(bench, to: output) == [] && platform.requests.isEmpty)
            #expect(output.notices.contains { $0.contains("profiles.lab.server") })
        }
    }

    @Test("names are those of the tools, and with the profile where another has the name")
    func named() async throws {
        try await Lab.run(Self.tools) { (bench, platform) async throws in
            let own: JSONObject = ["servers": ["web-search": ["command": "/bin/true"]]]
            try bench.write(settings: Lab.settings(["lab": platform.origin], mcp: own))
            #expect(try await names(bench) == ["lab-web-search", "web-search"])
        }
    }

    @Test("a tool of a platform is switched by a choice, and neither removed nor signed in to by itself")
    func switches() async throws {
        try await Lab.run(Self.tools) { (bench, platform) async throws in
            let before = try bench.readSettings()
            #expect(try await bench.perform("mcp.disable", ["name": "web-search"])["state"] == "off")
            #expect(try await bench.perform("mcp.list").json[0]?["state"] == "off")
            #expect(try await bench.perform("mcp.enable", ["name": "web-search"])["state"] == "ready")
            #expect(try await bench.failure("mcp.remove", ["name": "web-search"])?.exit == .usage)
            let login = try await bench.failure("mcp.login", ["name": "web-search"])
            #expect(login?.message.contains("martlet auth login lab") == true)
            #expect(try bench.readSettings() == before)
            // Its name is free for a server of the person.
            try await bench.perform("mcp.add", ["name": "web-search", "command": ["/bin/true"], "test": false])
            #expect(try await names(bench) == ["lab-web-search", "web-search"])
        }
    }
}
