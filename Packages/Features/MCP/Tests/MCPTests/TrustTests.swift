import Capabilities
import CoreTesting
import FileKit
import HostKit
import HostTesting
import JSON
import MCPServers
import Registry
import Testing

@testable import MCP

/// Servers that come with a project.
struct TrustTests {
    private func bench(_ body: (inout TestWorkbench) async throws -> Void) async throws {
        try await TestWorkbench.run([MCPFeature.self]) { (bench) async throws in
            try bench.write(Plain.project(Plain.entry()), to: ".mcp.json")
            try await body(&bench)
        }
    }

    @Test("none is started without a yes, whatever is asked of it, and with one it is")
    func needsYes() async throws {
        try await bench { (bench) async throws in
            #expect(try await bench.perform("mcp.list").json[0]?["state"] == "not-agreed")
            for action in ["mcp.tools", "mcp.call", "mcp.ping", "mcp.resources"] {
                let arguments: JSONObject =
                    action == "mcp.call" ? ["server": "theirs", "tool": "echo"] : ["server": "theirs"]
                let failure = try await bench.failure(action, arguments)
                #expect(failure?.code == "mcp.server-not-agreed" && failure?.exit == .unanswered, "\(action)")
            }
            #expect(try await bench.failure("mcp.test", ["name": "theirs"])?.exit == .unanswered)
            // Nothing has run: there is no log.
            let state = try bench.workbench.host.locations.state
            #expect(!Files.exists(state + "/mcp/theirs.log"))
            bench.person = HeadlessInteraction(answers: ["mcp.agree.theirs": true])
            #expect(try await bench.perform("mcp.test", ["name": "theirs"])["server"] == "theirs")
            bench.person = HeadlessInteraction()
            #expect(try await bench.perform("mcp.tools", ["server": "theirs"]).json.array?.count == 11)
            #expect(try await bench.perform("mcp.list").json[0]?["state"] == "ready")
        }
    }

    @Test("a changed entry is asked about again")
    func changed() async throws {
        try await bench { (bench) async throws in
            bench.person = HeadlessInteraction(answers: ["mcp.agree.theirs": true])
            try await bench.perform("mcp.test", ["name": "theirs"])
            bench.person = HeadlessInteraction()
            try bench.write(Plain.project(Plain.entry("noisy")), to: ".mcp.json")
            #expect(try await bench.failure("mcp.tools", ["server": "theirs"])?.code == "mcp.server-not-agreed")
        }
    }

    @Test("what is started was agreed to at that moment: a file that a model has changed meanwhile is not run")
    func changedMeanwhile() async throws {
        try await TestWorkbench.run([MCPFeature.self]) { (bench) async throws in
            let project = bench.folder + "/project"
            let script = "exec /usr/bin/python3 \(Plain.script)\n"
            try bench.write(script, to: "project/serve.sh")
            try bench.write(Plain.project(["command": "/bin/sh", "args": ["serve.sh"]]), to: "project/.mcp.json")
            // One of the person's own, which runs a file of the project too.
            try bench.write(settings: Plain.settings(["command": "/bin/sh", "args": ["serve.sh"]], named: "own"))
            bench.current = project
            bench.person = HeadlessInteraction(answers: ["mcp.agree.theirs": true, "mcp.agree.own": true])
            for name in ["theirs", "own"] { try await bench.perform("mcp.test", ["name": .string(name)]) }
            bench.person = HeadlessInteraction()
            for name in ["theirs", "own"] {
                try await bench.open { (session) async throws in
                    let place = ToolPlace(folder: project, isLastTurn: true)
                    let sources = try await session.registry.toolSources(at: place) { _ in }
                    let source = try #require(sources.first { $0.name == name })
                    // Its tools are known, so that it does not run yet.
                    #expect(try await source.tools().count == 11)
                    let call = ToolCall(id: "1", name: "echo", input: ["text": "a"])
                    try bench.write("touch '\(project)/owned'\n" + script, to: "project/serve.sh")
                    let error = await #expect(throws: ServerError.self) { _ = try await source.reach(of: call) }
                    #expect(error?.kind == .notAgreed)
                    #expect(!Files.exists(project + "/owned"))
                    // The control: with the file that was agreed to it starts.
                    try bench.write(script, to: "project/serve.sh")
                    #expect(try await source.run(call).content == "a")
                }
            }
        }
    }

    @Test("a server that the person adds runs files of the project until they change")
    func ownFiles() async throws {
        try await TestWorkbench.run([MCPFeature.self]) { (bench) async throws in
            let script = "exec /usr/bin/python3 \(Plain.script)\n"
            try bench.write(script, to: "project/serve.sh")
            bench.current = bench.folder + "/project"
            try await bench.perform("mcp.add", ["name": "own", "command": ["/bin/sh", "serve.sh"]])
            #expect(try await bench.perform("mcp.tools", ["server": "own"]).json.array?.count == 11)
            try bench.write("# changed\n" + script, to: "project/serve.sh")
            #expect(try await bench.failure("mcp.tools", ["server": "own"])?.exit == .unanswered)
            #expect(try await bench.perform("mcp.list").json[0]?["state"] == "not-agreed")
            bench.person = HeadlessInteraction(answers: ["mcp.agree.own": true])
            #expect(try await bench.perform("mcp.tools", ["server": "own"]).json.array?.count == 11)
        }
    }

    @Test("models get no tools of a server without a yes, and it is told once")
    func models() async throws {
        try await bench { (bench) async throws in
            try await bench.open { (session) async throws in
                let told = Said()
                for _ in 1...2 {
                    let sources = try await session.registry.toolSources(
                        at: ToolPlace(folder: bench.folder), telling: told.add)
                    #expect(sources.isEmpty)
                }
                #expect(told.all.count { $0.contains("theirs") } == 1)
            }
        }
    }

    @Test("a required server that does not start ends the turn, and any other does not")
    func required() async throws {
        try await TestWorkbench.run([MCPFeature.self]) { (bench) async throws in
            try bench.write(
                settings: Plain.settings(Plain.entry("silent", more: ["required": true, "start-limit": "100ms"])))
            try await bench.open { (session) async throws in
                let error = await #expect(throws: (any Error).self) {
                    _ = try await session.registry.toolSources(at: ToolPlace(folder: bench.folder)) { _ in }
                }
                #expect(error.map { AnyFailure($0).message.contains("plain") } == true)
            }
            try bench.write(settings: Plain.settings(Plain.entry("silent", more: ["start-limit": "100ms"])))
            try await bench.open { (session) async throws in
                let sources = try await session.registry.toolSources(at: ToolPlace(folder: bench.folder)) { _ in }
                #expect(sources.map(\.name) == ["plain"])
            }
        }
    }

    @Test("a project cannot answer for a server of the person")
    func shadows() async throws {
        try await TestWorkbench.run([MCPFeature.self]) { (bench) async throws in
            try bench.write(settings: Plain.settings(Plain.entry()))
            try bench.write(Plain.project(["command": "/bin/false"], named: "plain"), to: ".mcp.json")
            let output = RecordingOutput()
            let rows = try await bench.perform("mcp.list", to: output).json
            #expect(rows.array?.count == 1 && rows[0]?["scope"] == "user")
            #expect(output.notices.contains { $0.contains("plain") && $0.contains("left out") })
        }
    }
}
