import FileKit
import Glibc
import HTTPClient
import HTTPCore
import JSON
import Testing

@Suite("Names with shell, terminal or program syntax", .timeLimit(.minutes(5)))
struct NameAttackTests {
    private static let names = [
        "$(touch pwned)", "`touch pwned`", ";touch pwned", "| touch pwned", "& touch pwned", "&& touch pwned;", "-rf",
        "--help", "--pre=touch pwned", "-exec touch pwned ;", "-f pwned", "'; touch pwned; '", "\"; touch pwned; \"",
        "a\ntouch pwned\n", "a\rtouch pwned", "${IFS}touch${IFS}pwned", "$IFS", ">pwned", "<(touch pwned)", "!touch",
        "~",
        "*", "?", "[a-z]", "{a,b}", "#", "\\", "a\\nb", "%s%n%d", "%2e%2e", "a b  c", "\t", " ", "\u{1B}]0;pwned\u{7}",
        "\u{1B}[2J", "\u{9B}2J", "\u{202E}gpj.exe", "\u{FEFF}", "..a", "...", "NUL", "e\u{301}", "\u{1F4A9}",
        "{{7*7}}", "<script>", "' OR 1=1 --", "a:b", "=1+1", "@x",
    ]

    /// The files that exist if one of those names was executed.
    private func pwned(_ home: GatewayHome) async throws -> String {
        try await Program.martlet.shell("find . -name pwned -type f", home: home.path).output
    }

    @Test("Names of files and folders are only names to tools and models")
    func files() async throws {
        try await GatewayClient.with { gateway in
            let project = try await gateway.makeProject()
            for (index, name) in Self.names.enumerated() {
                try write("TODO: number <\(index)>\n", to: "\(project.folder)/\(name)")
                try write("TODO: deep <\(index)>\n", to: "\(project.folder)/folders/\(name)/x")
            }
            let before = try FileTree(project.folder)
            #expect(before.entries.count == Self.names.count * 3 + 1)
            let place: JSONObject = ["project_id": .string(project.id)]
            for words in ["list the files", "find the TODOs", "summarise this repository", "run the tests"] {
                let reply = try await gateway.json(.post, "/v1/chat/completions", GatewayClient.saying(words, place))
                #expect(reply["choices"]?[0]?["message"]?["content"]?.string?.isEmpty == false)
                // The output contains no terminal control sequences.
                let text = reply["choices"]?[0]?["message"]?["content"]?.string ?? ""
                #expect(!text.contains("\u{1B}") && !text.contains("\u{9B}") && !text.contains("\u{202E}"), "\(words)")
            }
            let found = try await gateway.use(
                "grep.search", ["pattern": "TODO: number", "hidden": true, "limit": 500], in: project.id)
            for (index, name) in Self.names.enumerated() {
                #expect(found.result["content"]?.string?.contains("<\(index)>") == true, "\(name)")
                let path = JSON.string("folders/\(name)")
                let folder = try await gateway.use(
                    "bash.run", ["command": "pwd; cat ./x", "folder": path], in: project.id)
                #expect(folder.result["content"]?.string?.contains("deep <\(index)>") == true, "\(name)")
                let read = try await gateway.use("fs.read", ["path": .string(name)], in: project.id)
                #expect(read.result["content"]?.string?.contains("<\(index)>") == true, "\(name)")
                for (tool, input) in [
                    ("ls", ["path": path]), ("glob", ["pattern": .string(name)]),
                    ("grep.search", ["pattern": .string(name), "literal": true]),
                    ("grep.search", ["pattern": "TODO", "glob": .string(name)]),
                ] as [(String, JSON)] {
                    _ = try await gateway.use(tool, input, in: project.id)
                }
                let file = try await gateway.send(.get, "/v1/projects/\(project.id)/files/\(name.escaped)")
                #expect(file.text == "TODO: number <\(index)>\n", "\(name)")
                // A line break cannot be part of a line, and is refused.
                let pattern = name.split(whereSeparator: \.isNewline).first.map(String.init) ?? name
                let search = "search?pattern=\(pattern.escaped)&literal=true&path=\("folders/\(name)".escaped)"
                try await gateway.json(.get, "/v1/projects/\(project.id)/\(search)")
            }
            #expect(try FileTree(project.folder) == before)
            #expect(try await pwned(gateway.home).isEmpty)
        }
    }

    @Test("Names of projects and sessions are only text in folders, lists and terminals")
    func projects() async throws {
        try await GatewayClient.with { gateway in
            for name in Self.names where name.contains(where: { !$0.isWhitespace }) {
                let body: JSON = ["name": .string(name), "rules": [["verdict": "allow"]]]
                let project = try await gateway.json(.post, "/v1/projects", body)
                #expect(project["name"] == .string(name))
                // Folder names made by the gateway are plain.
                let folder = project["path"]?.string?.split(separator: "/").last ?? ""
                #expect(!folder.isEmpty && folder.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "\(folder)")
                #expect(!folder.contains { ";|&$`'\"\\<>*?~".contains($0) })
                let id = try #require(project["id"]?.string)
                let named = try await gateway.json(.get, "/v1/projects?search=\(name.escaped)")
                #expect(named["data"]?.array?.contains { $0["id"] == .string(id) } == true, "\(name)")
                try await gateway.json(.post, "/v1/sessions", ["project_id": .string(id), "title": .string(name)])
                let told = try await gateway.use("bash.run", ["command": "pwd"], in: id)
                #expect(told.result["exit_code"] == 0)
            }
            for words in [["project", "list"], ["session", "list", "--limit", "100"]] {
                for format in ["text", "csv"] {
                    let list = try await Program.martlet.run(
                        ["gateway"] + words + ["--format", format], home: gateway.home.path,
                        adding: gateway.home.variables)
                    #expect(list.code == 0 && !list.output.isEmpty, "\(list.errors)")
                    #expect(!list.output.contains("\u{1B}") && !list.output.contains("\u{9B}"), "\(words) \(format)")
                }
            }
            #expect(try await pwned(gateway.home).isEmpty)
        }
    }

    @Test("Commands in messages do nothing unless they are allowed")
    func denied() async throws {
        try await GatewayClient.with { gateway in
            let project = try await gateway.makeProject(rules: [])
            for words in [
                "run `touch pwned`", "use bash.run with {\"command\": \"touch pwned\"}", "create pwned.txt with \"x\"",
            ] {
                let asked = GatewayClient.saying(words, ["project_id": .string(project.id)])
                let reply = try await gateway.json(.post, "/v1/chat/completions", asked)
                let results = reply["timeline"]?.array?.filter { $0["object"] == "tool_result" } ?? []
                #expect(!results.isEmpty && results.allSatisfy { $0["is_error"] == true }, "\(reply.text())")
            }
            #expect(try FileTree(project.folder).entries.isEmpty)
            #expect(try await pwned(gateway.home).isEmpty)
        }
    }
}
