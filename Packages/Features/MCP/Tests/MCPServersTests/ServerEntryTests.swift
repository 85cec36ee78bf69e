import Capabilities
import CoreTesting
import JSON
import Testing

@testable import MCPServers

/// Entries of servers as settings and other programs write them.
struct ServerEntryTests {
    @Test("a program and an address are read and written back")
    func readsAndWrites() throws {
        let program: JSON = [
            "command": "uvx", "args": ["mcp-server-git"], "env": ["A": "b"], "cwd": "sub", "required": true,
            "tools": ["git_log"], "call-limit": "1m",
        ]
        let entry = try ServerEntry(json: program)
        #expect(entry.way == .program("uvx", ["mcp-server-git"]))
        #expect(entry.callLimit == .seconds(60) && entry.isRequired && entry.tools == ["git_log"])
        #expect(try ServerEntry(json: entry.json) == entry)
        let address = try ServerEntry(json: ["url": "https://tools.example/mcp", "headers": ["X": "${Y}"]])
        #expect(address.way == .address("https://tools.example/mcp"))
        #expect(try ServerEntry(json: address.json) == address)
    }

    @Test(
        "what cannot be used is refused with a reason",
        arguments: [
            ("{}", "needs a command"), (#"{"command": "a", "url": "https://b"}"#, "both"),
            (#"{"url": "tools.example"}"#, "address"), (#"{"command": "a", "args": "b"}"#, "list"),
            (#"{"command": "a", "install": []}"#, "program first"),
            (#"{"url": "https://b.example", "install": ["a"]}"#, "program"),
            (#"{"comand": "a"}"#, "command"), (#"{"command": "a", "env": {"A=B": "c"}}"#, "malformed"),
        ])
    func refuses(_ text: String, _ reason: String) throws {
        let json = try JSON(parsing: text)
        let error = try #require(throws: ValueError.self) { try ServerEntry(json: json) }
        #expect(error.description.contains(reason))
    }

    @Test("variables are found with the fields that they go into, and secrets among them")
    func variables() throws {
        let entry = try ServerEntry(json: [
            "url": "https://${HOST:-tools.example}/mcp",
            "headers": ["Authorization": "Bearer ${GITHUB_TOKEN}", "X-Key": "${secret:github}"],
        ])
        #expect(
            entry.variables.map { "\($0.name) \($0.field) \($0.isSecret)" } == [
                "HOST url false", "GITHUB_TOKEN headers.Authorization true", "secret:github headers.X-Key true",
            ])
    }

    @Test("a text is filled in, and what is no variable stays")
    func fillsIn() async throws {
        let text = TextTemplate("a ${B} ${C:-d:-e} ${env:F} $G ${ ${workspaceFolder}/x")
        #expect(text.variables.map(\.name) == ["B", "C", "F", " ${workspaceFolder"])
        let filled = try await text.filled { variable in variable.defaultValue ?? "<\(variable.name)>" }
        #expect(filled == "a <B> d:-e <F> $G < ${workspaceFolder>/x")
    }

    @Test("the names of servers are plain, and none is that of tools of the program")
    func names() {
        for name in ["git", "my-server.2", "A_b"] { #expect(ServerName.problem(name) == nil) }
        for name in ["", "a b", "a/b", "-x", "ä", String(repeating: "a", count: 41), "files", "martlet"] {
            #expect(ServerName.problem(name) != nil, "\(name)")
        }
        #expect(ServerName.plain("Git Hub (work)") == "Git-Hub--work-")
        #expect(ServerName.plain("files") == "mcp-files" && ServerName.plain("日本") == "server")
    }
}

/// Files in which other programs keep their servers.
struct ForeignFileTests {
    private func content(_ text: String, _ file: ForeignFile = .named("/x/mcp.json")) throws -> ForeignFile.Content {
        try file.content(of: Array(text.utf8))
    }

    @Test("each program's form is read")
    func forms() throws {
        let claude = try content(
            """
            {"mcpServers": {"git": {"command": "uvx", "args": ["mcp-server-git"], "env": {"A": "1"}},
                            "web": {"type": "http", "url": "https://a.example/mcp", "headers": {"X": "y"}},}} // comment
            """)
        #expect(claude.servers["git"]?.way == .program("uvx", ["mcp-server-git"]))
        #expect(claude.servers["git"]?.environment == ["A": "1"])
        #expect(claude.servers["web"]?.headers == ["X": "y"])
        let code = try content(#"{"servers": {"a": {"type": "stdio", "command": "${workspaceFolder}/run"}}}"#)
        #expect(code.servers["a"]?.way == .program("${workspaceFolder}/run", []))
        let zed = try content(
            #"{"context_servers": {"z": {"command": {"path": "p", "args": ["q"], "env": {"E": "f"}}}}}"#)
        #expect(zed.servers["z"]?.way == .program("p", ["q"]) && zed.servers["z"]?.environment == ["E": "f"])
        let gemini = try content(
            #"{"mcpServers": {"g": {"httpUrl": "https://g.example/mcp"}, "off": {"command": "x", "disabled": true}}}"#)
        #expect(gemini.servers["g"]?.way == .address("https://g.example/mcp"))
        #expect(gemini.servers["off"]?.isEnabled == false)
    }

    @Test("what cannot be used is left out and told, and the rest is kept")
    func leavesOut() throws {
        let found = try content(
            #"{"servers": {"good": {"command": "a"}, "empty": {}, "asks": {"command": "b", "env": {"K": "${input:key}"}}}}"#
        )
        #expect(found.servers.keys.sorted() == ["good"])
        #expect(found.problems.count == 2)
        #expect(found.problems.contains { $0.contains("input:key") && $0.contains("asks") })
    }

    @Test("rubbish is refused with its place", arguments: ["{", "[1", #"{"other": {}}"#])
    func rubbish(_ text: String) {
        let error = #expect(throws: ServerError.self) { try content(text) }
        #expect(error?.message.contains("/x/mcp.json") == true)
    }

    @Test("a file that is not there has nothing")
    func absent() async throws {
        try await TemporaryDirectory.run { folder in
            let content = try ForeignFile.named(folder + "/none.json").read()
            #expect(content == nil)
        }
    }
}
