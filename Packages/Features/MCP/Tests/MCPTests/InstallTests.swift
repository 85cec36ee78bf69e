import Capabilities
import CoreTesting
import FileKit
import Glibc
import HostTesting
import JSON
import MCPServers
import Registry
import Testing

@testable import MCP

/// Servers whose programs are not installed.
struct InstallTests {
    private static let making = "echo making it; ln -s /usr/bin/python3 \"$0\""

    /// A server whose program the command makes.
    private func entry(_ bench: TestWorkbench, _ script: String = making, more: JSONObject = [:]) -> JSON {
        let program = bench.folder + "/tools/python"
        var entry: JSONObject = [
            "command": .string(program), "args": [.string(Plain.script)],
            "install": ["/bin/sh", "-c", .string(script), .string(program)],
        ]
        for (key, value) in more { entry[key] = value }
        return .object(entry)
    }

    private func bench(_ body: (inout TestWorkbench) async throws -> Void) async throws {
        try await TestWorkbench.run([MCPFeature.self]) { (bench) async throws in
            try Files.makeDirectories(bench.folder + "/tools")
            try await body(&bench)
        }
    }

    @Test("a missing program is installed after a yes to the command that was shown, and not without")
    func asks() async throws {
        try await bench { (bench) async throws in
            try bench.write(settings: Plain.settings(entry(bench)))
            for action in ["mcp.test", "mcp.install"] {
                let failure = try await bench.failure(action, ["name": "plain"])
                #expect(failure?.code == "mcp.server-not-installed" && failure?.exit == .unanswered)
                #expect(failure?.message.contains("making it") == true, "It says what would be run.")
                #expect(failure?.message.contains("mcp.install.plain") == true)
            }
            let no = ScriptedPerson(says: false)
            bench.person = no
            #expect(try await bench.failure("mcp.tools", ["server": "plain"])?.code == "mcp.server-not-installed")
            #expect(no.asked == ["mcp.install.plain"] && !Files.exists(bench.folder + "/tools/python"))
            let yes = ScriptedPerson(says: true)
            bench.person = yes
            let output = RecordingOutput()
            let tools = try await bench.perform("mcp.tools", ["server": "plain"], to: output).json
            #expect(tools.array?.count == 11 && yes.asked == ["mcp.install.plain"])
            #expect(output.notices.contains { $0.contains("ln -s") && $0.contains("/tools/python") })
            #expect(output.activities.contains { $0.contains("making it") })
            bench.person = HeadlessInteraction()
            #expect(try await bench.perform("mcp.test", ["name": "plain"])["server"] == "plain")
            let again = try await bench.perform("mcp.install", ["name": "plain"])
            #expect(again["command"]?.string == nil && again.notices.contains("already"))
        }
    }

    @Test("a model's turn asks the person once, and a no is not asked about again")
    func models() async throws {
        try await bench { (bench) async throws in
            try bench.write(settings: Plain.settings(entry(bench)))
            let place = ToolPlace(folder: bench.folder, isLastTurn: true)
            func sources(_ session: TestSession, _ person: any Interaction, _ grant: Grant? = nil) async throws -> Int {
                try await Caller.$current.withValue(Caller.person(person).narrowed(by: grant)) {
                    try await session.registry.toolSources(at: place) { _ in }.count
                }
            }
            let no = ScriptedPerson(says: false)
            let yes = ScriptedPerson(says: true)
            try await bench.open { (session) async throws in
                #expect(try await sources(session, HeadlessInteraction()) == 0)
                for _ in 1...2 { #expect(try await sources(session, no) == 0) }
                #expect(no.asked == ["mcp.install.plain"])
            }
            try await bench.open { (session) async throws in
                // A caller that may not run the command is not even asked.
                let bundle = Grant(Grant.Layer(.bundle("b"), effects: .destroys))
                #expect(try await sources(session, yes, bundle) == 0 && yes.asked.isEmpty)
                let permitted = Grant(Grant.Layer(.bundle("b"), effects: .destroys, programs: ["/bin/sh"]))
                #expect(try await sources(session, yes, permitted) == 1 && yes.asked == ["mcp.install.plain"])
            }
        }
    }

    @Test("a command is in the audit log before it is run, and is not run without that")
    func recorded() async throws {
        try await bench { (bench) async throws in
            bench.features.append(BuiltInFeature(AuditLogFeature.self))
            try bench.write(settings: Plain.settings(entry(bench)))
            bench.person = HeadlessInteraction(answers: ["mcp.install.plain": true])
            try await bench.open { (session) async throws in
                let log = try #require(session.registry.optional((any AuditLog).self) as? RecordingAuditLog)
                log.fail(with: ServerError(.badFile, "the disk is full"))
                let refused = await session.attempt("mcp.install", ["name": "plain"])
                #expect(refused.failure?.code == "mcp.call-unrecorded" && !Files.exists(bench.folder + "/tools/python"))
                log.fail(with: nil)
                try await session.perform("mcp.install", ["name": "plain"])
                #expect(log.recorded.map(\.action) == ["server.install"] && log.recorded[0].outcome == "done")
                #expect(log.recorded[0].detail["input"]?.string?.contains("making it") == true)
            }
        }
    }

    @Test("a turn goes on without a server whose command cannot be filled in")
    func unfilled() async throws {
        try await bench { (bench) async throws in
            try bench.write(settings: Plain.settings(entry(bench, more: ["install": ["make", "${NOWHERE}"]])))
            try await bench.open { (session) async throws in
                let told = Said()
                let found = try await Caller.$current.withValue(.person(ScriptedPerson(says: true))) {
                    try await session.registry.toolSources(at: ToolPlace(folder: bench.folder), telling: told.add)
                }
                #expect(found.isEmpty && told.all.contains { $0.contains("NOWHERE") && $0.contains("'plain'") })
            }
        }
    }

    @Test("a command that fails, takes too long or installs something else is told")
    func fails() async throws {
        try await bench { (bench) async throws in
            bench.person = HeadlessInteraction(answers: ["mcp.install.plain": true])
            let cases = [
                ("echo no such package >&2; exit 3", "no such package"), ("exec sleep 60", "mcp.install-limit"),
                ("true", "still missing; PATH is"), ("kill -9 $$", "exit code 137"),
            ]
            for (script, reason) in cases {
                try bench.write(
                    settings: Plain.settings(
                        entry(bench, script),
                        more: ["install-limit": .string(script.hasPrefix("exec") ? "100ms" : "1m")]))
                let failure = try await bench.failure("mcp.install", ["name": "plain"])
                #expect(failure?.code == "mcp.install-failed" && failure?.exit == .toolFailed, "\(script)")
                #expect(failure?.message.contains(reason) == true, "\(failure?.message ?? "")")
            }
            try bench.write(settings: Plain.settings(entry(bench, more: ["install": ["no-such-installer"]])))
            let absent = try await bench.failure("mcp.install", ["name": "plain"])
            #expect(absent?.message.contains("no-such-installer") == true)
            try bench.write(settings: Plain.settings(["command": "no-such-program"]))
            #expect(try await bench.failure("mcp.install", ["name": "plain"])?.message.contains("\"install\"") == true)
        }
    }

    @Test("of a Python package it says the command, which runs only by hand and with a yes, without our variables")
    func packages() async throws {
        try await bench { (bench) async throws in
            let bin = bench.folder + "/bin"
            let made = "\(bin)/mcp-server-x"
            try bench.write(
                "#!/bin/sh\nenv > '\(bin)/seen'\nprintf '#!/bin/sh\\nexec /usr/bin/python3 \(Plain.script)\\n' > '\(made)'\nchmod 755 '\(made)'\n",
                to: bin + "/uv")
            #expect(unsafe chmod(bin + "/uv", 0o755) == 0)
            bench.environment = ["PATH": "\(bin):/usr/bin:/bin", "OPENAI_API_KEY": "canary", "CITY": "Bern"]
            let add: JSONObject = ["name": "x", "command": ["mcp-server-x"]]
            let added = try await bench.failure("mcp.add", add)
            #expect(added?.message.contains("'uv tool install mcp-server-x'") == true)
            #expect(added?.message.contains("martlet mcp install") == false, "It is not set up.")
            try bench.write(
                settings: Plain.settings(
                    ["command": "mcp-server-x", "env": ["PLACE": "${CITY}", "INDEX": "local"]], named: "x"))
            bench.person = ScriptedPerson(says: true)
            let told = try await bench.failure("mcp.test", ["name": "x"])
            #expect(told?.message.contains("martlet mcp install x") == true)
            #expect(!Files.exists(bin + "/seen"), "A guess is not run because a server is needed.")
            #expect(
                try await bench.perform("mcp.install", ["name": "x"])["command"] == "uv tool install mcp-server-x")
            let seen = try bench.read(bin + "/seen")
            #expect(seen.contains("INDEX=local") && !seen.contains("canary") && !seen.contains("Bern"))
            #expect(try await bench.perform("mcp.tools", ["server": "x"]).json.array?.count == 11)
        }
    }

    @Test("what installs a server of a project is part of what is agreed to, and still asked about")
    func projects() async throws {
        try await bench { (bench) async throws in
            try bench.write(Plain.project(entry(bench)), to: ".mcp.json")
            bench.person = HeadlessInteraction(answers: ["mcp.install.theirs": true])
            #expect(try await bench.failure("mcp.install", ["name": "theirs"])?.code == "mcp.server-not-agreed")
            bench.person = HeadlessInteraction(answers: ["mcp.agree.theirs": true])
            #expect(try await bench.failure("mcp.test", ["name": "theirs"])?.code == "mcp.server-not-installed")
            bench.person = HeadlessInteraction(answers: ["mcp.install.theirs": true])
            try bench.write(Plain.project(entry(bench, "touch owned")), to: ".mcp.json")
            #expect(try await bench.failure("mcp.test", ["name": "theirs"])?.code == "mcp.server-not-agreed")
            try bench.write(Plain.project(entry(bench)), to: ".mcp.json")
            #expect(try await bench.perform("mcp.test", ["name": "theirs"])["server"] == "theirs")
        }
    }
}
