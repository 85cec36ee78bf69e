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
            (#"{"command": "${input:a}"}"#, "input:a"),
            (#"{"command": "a", "inputs": {"b": {"prompt": "B", "options": []}}}"#, "answer"),
            (#"{"command": "a", "inputs": {"b": {"prompt": "B", "options": ["c"], "default": "d"}}}"#, "options"),
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

    @Test("what editors fill in without asking is known, and what only they know is told by its name")
    func editors() throws {
        let text = TextTemplate(
            "${workspaceFolder}${/}${workspaceFolderBasename}${pathSeparator}${env:A}${input:b}${config:c}")
        #expect(
            text.variables.map(\.source) == [
                .workspace, .separator, .workspaceName, .separator, .environment, .input, .foreign,
            ])
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

    @Test("the servers of Codex are read, with their variables and limits")
    func codex() throws {
        let found = try content(
            """
            model = "gpt-5"
            [mcp_servers.git]
            command = "uvx"
            args = ["mcp-server-git"]
            cwd = "/srv"
            startup_timeout_sec = 2.5
            enabled_tools = ["git_log", "git_push"]
            disabled_tools = ["git_push"]
            env_vars = ["HOME_TOKEN", {name = "FAR", source = "remote"}]
            env = { A = "1" }

            [mcp_servers."web search"]
            url = "https://a.example/mcp"
            bearer_token_env_var = "A_TOKEN"
            http_headers = { X = "y" }
            env_http_headers = { "X-Key" = "A_KEY" }
            tool_timeout_sec = 60
            enabled = false
            """, .named("/x/config.toml"))
        let git = try #require(found.servers["git"])
        #expect(git.way == .program("uvx", ["mcp-server-git"]) && git.folder == "/srv")
        #expect(git.startLimit == .milliseconds(2_500) && git.tools == ["git_log"])
        #expect(git.environment == ["A": "1", "HOME_TOKEN": "${HOME_TOKEN:-}"])
        let web = try #require(found.servers["web-search"])
        #expect(web.headers == ["X": "y", "X-Key": "${A_KEY}", "Authorization": "Bearer ${A_TOKEN}"])
        #expect(web.callLimit == .seconds(60) && !web.isEnabled)
        #expect(try ServerEntry(json: git.json) == git && ServerEntry(json: web.json) == web)
        #expect(found.problems.count == 1 && found.problems[0].contains("FAR"))
    }

    @Test("what of an entry of Codex has no counterpart is named, and what is wrong is refused")
    func codexLeavesOut() throws {
        let found = try content(
            """
            [mcp_servers.a]
            command = "a"
            args = ["${HOME}"]
            disabled_tools = ["rm"]
            supports_parallel_tool_calls = true
            [mcp_servers.a.tools.x]
            approval_mode = "approve"
            [mcp_servers.b]
            command = 1
            [mcp_servers.c]
            [mcp_servers.d]
            url = "https://d.example"
            command = "d"
            [mcp_servers.e]
            command = "e"
            tool_timeout_sec = -1
            """, .named("/x/config.toml"))
        #expect(found.servers.keys.sorted() == ["a"])
        for words in [
            "'disabled_tools'", "rm", "'supports_parallel_tool_calls'", "'tools'", "${HOME} in args.0",
            "its command needs", "neither a command", "both a command", "its tool_timeout_sec needs",
        ] {
            #expect(found.problems.contains { $0.contains(words) }, "\(words): \(found.problems)")
        }
        let error = #expect(throws: ServerError.self) { try content("a = [1", .named("/x/config.toml")) }
        #expect(error?.message.contains("/x/config.toml:1:") == true)
        let other = #expect(throws: ServerError.self) { try content("a = 1", .named("/x/config.toml")) }
        #expect(other?.message.contains("mcp_servers") == true)
    }

    @Test("a file of variables that is not read is named")
    func variableFile() throws {
        let found = try content(#"{"servers": {"a": {"command": "a", "envFile": "${workspaceFolder}/.env"}}}"#)
        #expect(found.servers.keys.sorted() == ["a"] && found.problems.contains { $0.contains("'envFile'") })
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
