import Capabilities
import CoreTesting
import HostTesting
import JSON
import MCPServers
import Testing

@testable import MCP

/// Setting servers up, and taking them over.
struct SetupTests {
    @Test("a server is added once it has shown what it offers, and removed again")
    func addsAndRemoves() async throws {
        try await TestWorkbench.run([MCPFeature.self]) { (bench) async throws in
            let entry = Plain.entry()
            let words: JSON = .array([entry["command"] ?? nil] + (entry["args"]?.array ?? []))
            let row = try await bench.perform("mcp.add", ["name": "plain", "command": words])
            #expect(row["state"] == "ready" && row["tools"] == 11 && row["scope"] == "user")
            #expect(try bench.readSettings()["mcp"]?["servers"]?["plain"] == entry)
            let again = try await bench.failure("mcp.add", ["name": "plain", "command": ["true"]])
            #expect(again?.code == "mcp.server-exists")
            try await bench.perform("mcp.remove", ["name": "plain"])
            #expect(try bench.readSettings()["mcp"]?["servers"]?["plain"] == nil)
            #expect(try await bench.failure("mcp.show", ["name": "plain"])?.code == "mcp.server-unknown")
        }
    }

    @Test("a server that does not start is not added, and its last words are told")
    func broken() async throws {
        try await TestWorkbench.run([MCPFeature.self]) { (bench) async throws in
            let output = RecordingOutput()
            let failed = try await bench.attempt(
                "mcp.add", ["name": "bad", "command": ["/bin/sh", "-c", "echo no such repository >&2; exit 3"]],
                to: output)
            #expect(failed.failure?.message.contains("exit code 3") == true)
            #expect(failed.failure?.message.contains("no such repository") == true)
            #expect(output.notices.contains { $0.contains("not added") })
            #expect(try bench.readSettings() == [:])
            let absent = try await bench.failure("mcp.add", ["name": "bad", "command": ["no-such-program"]])
            #expect(absent?.message.contains("no-such-program") == true && absent?.message.contains("PATH") == true)
            try await bench.perform("mcp.add", ["name": "bad", "command": ["no-such-program"], "test": false])
            #expect(try bench.readSettings()["mcp"]?["servers"]?["bad"]?["command"] == "no-such-program")
        }
    }

    @Test(
        "what makes no server is refused",
        arguments: [
            (["name": "a b", "command": ["x"]], "name"), (["name": "files", "command": ["x"]], "files"),
            (["name": "a", "command": []], "command"), (["name": "a", "command": ["x"], "header": ["A=b"]], "--env"),
            (["name": "a", "command": ["https://a.example"], "env": ["A=b"]], "--header"),
            (["name": "a", "command": ["x"], "env": ["novalue"]], "NAME=VALUE"),
        ] as [(JSONObject, String)])
    func refuses(_ arguments: JSONObject, _ reason: String) async throws {
        try await TestWorkbench.run([MCPFeature.self]) { (bench) async throws in
            let failure = try await bench.failure("mcp.add", arguments)
            #expect(failure?.exit == .usage && failure?.message.contains(reason) == true, "\(failure?.message ?? "")")
        }
    }

    @Test("a server whose entry cannot be used is told, and the others stay")
    func badEntry() async throws {
        try await TestWorkbench.run([MCPFeature.self]) { (bench) async throws in
            let servers: JSON = [
                "good": Plain.entry(), "bad": ["url": "tools.example"],
                "both": ["command": "a", "url": "https://b.example"],
                "none": [:],
            ]
            try bench.write(settings: (["mcp": ["servers": servers]] as JSON).text())
            let output = RecordingOutput()
            let rows = try await bench.perform("mcp.list", to: output).json
            #expect(rows.array?.compactMap { $0["name"]?.string } == ["good"])
            let reasons = [
                ("bad", "left out: its url needs an address"), ("both", "left out: it has both a command"),
                ("none", "left out: it needs a command"),
            ]
            for (name, reason) in reasons {
                #expect(output.notices.contains { $0.contains("server \(name) of") && $0.contains(reason) }, "\(name)")
            }
            #expect(try await bench.perform("mcp.tools", ["server": "good"]).json.array?.count == 11)
        }
    }

    @Test("a server is switched off and on")
    func switches() async throws {
        try await Plain.bench { (bench) async throws in
            #expect(try await bench.perform("mcp.disable", ["name": "plain"])["state"] == "off")
            #expect(try await bench.perform("mcp.list").json[0]?["state"] == "off")
            #expect(try await bench.failure("mcp.tools", ["server": "plain"])?.code == "mcp.server-off")
            #expect(try await bench.perform("mcp.enable", ["name": "plain"])["state"] == "ready")
            #expect(try await bench.perform("mcp.tools", ["server": "plain"]).json.array?.count == 11)
        }
    }

    @Test("servers of another program are listed, and taken over with a yes for each")
    func imports() async throws {
        try await TestWorkbench.run([MCPFeature.self]) { (bench) async throws in
            let file = bench.folder + "/.cursor/mcp.json"
            try bench.write(
                #"{"mcpServers": {"one": {"command": "a"}, "two": {"url": "https://b.example/mcp"}}}"#, to: file)
            // The file is in the home folder, which here is the project's folder too.
            bench.settings = "{mcp: {'project-files': false}}"
            let found = try await bench.perform("mcp.import").json
            #expect(found.array?.compactMap { $0["name"]?.string } == ["one", "two"])
            bench.person = HeadlessInteraction(answers: ["mcp.import.one": true, "mcp.import.two": false])
            let rows = try await bench.perform("mcp.import", ["from": "cursor"]).json
            #expect(rows.array?.compactMap { $0["state"]?.string } == ["added", "declined"])
            bench.person = HeadlessInteraction()
            let named = try await bench.perform("mcp.import", ["from": .string(file), "names": ["two"]]).json
            #expect(named[0]?["state"] == "added")
            #expect(try bench.readSettings()["mcp"]?["servers"]?.object?.map(\.key) == ["one", "two"])
            #expect(try await bench.failure("mcp.import", ["from": "cursr"])?.message.contains("cursor") == true)
            #expect(try await bench.failure("mcp.import", ["from": "zed"])?.message.contains("settings.json") == true)
        }
    }

    @Test("the servers of Codex are found where it keeps them, and taken over")
    func importsFromCodex() async throws {
        try await TestWorkbench.run([MCPFeature.self]) { (bench) async throws in
            try bench.write(
                "[mcp_servers.one]\ncommand = \"a\"\nenabled_tools = [\"x\"]\nscopes = []\n", to: ".codex/config.toml")
            #expect(try await bench.perform("mcp.import").json[0]?["from"] == "codex")
            let rows = try await bench.perform("mcp.import", ["from": "codex", "names": ["one"]])
            #expect(rows.json[0]?["state"] == "added" && rows.notices.contains("'scopes' is not taken over"))
            #expect(try bench.readSettings()["mcp"]?["servers"]?["one"] == ["command": "a", "tools": ["x"]])
            bench.environment = ["CODEX_HOME": bench.folder + "/other"]
            #expect(try await bench.failure("mcp.import", ["from": "codex"])?.code == "mcp.file")
        }
    }

    @Test("what is set is chosen by scope, and what is not there is refused")
    func uses() async throws {
        try await Plain.bench { (bench) async throws in
            try await bench.perform("mcp.test", ["name": "plain"])
            let rows = try await bench.perform("mcp.use", ["scope": "project", "off": ["plain/echo"]]).json
            #expect(rows[0]?["tools"] == 10 && rows[0]?["off"] == ["echo"])
            let shown = try await bench.perform("mcp.show", ["name": "plain"]).json
            let echo = shown["tools"]?.array?.first { $0["name"] == "echo" }
            #expect(echo?["on"] == false)
            let session = try await bench.perform(
                "mcp.use", ["session": "abc", "scope": "session", "on": ["plain/echo"], "off": ["plain/die"]]
            ).json
            #expect(session[0]?["off"] == ["die"])
            #expect(try await bench.perform("mcp.use", ["scope": "project", "reset": true]).json[0]?["tools"] == 11)
            #expect(try await bench.perform("mcp.used", ["session": "abc"]).json[0]?["off"] == ["die"])
            #expect(try await bench.failure("mcp.use")?.exit == .usage)
            #expect(try await bench.failure("mcp.use", ["off": ["plan"]])?.message.contains("plain") == true)
            #expect(try await bench.failure("mcp.use", ["off": ["plain/ecko"]])?.message.contains("echo") == true)
            #expect(try await bench.failure("mcp.use", ["scope": "session", "off": ["plain"]])?.exit == .usage)
        }
    }
}
