import FileKit
import Glibc
import HTTPClient
import HTTPCore
import JSON
import ProcessKit
import Testing

@Suite("Escapes from a folder through a running gateway", .timeLimit(.minutes(30)))
struct PathAttackTests {
    /// A gateway that allows projects beneath the parent folder of `outside`.
    private func withPlayground(_ body: (GatewayClient, Playground) async throws -> Void) async throws {
        try await GatewayHome.with { home in
            let place = try Playground(in: home.path)
            let settings = "{gateway: {folders: ['\(place.folder)']}}"
            try write(settings, to: "\(home.path)/martlet/config/config.json")
            try await home.attack { try await body($0, place) }
        }
    }

    @Test("The path of a project cannot leave the folders for projects")
    func projects() async throws {
        try await withPlayground { gateway, place in
            let home = "\(try Files.canonical(gateway.home.path))/martlet/data/projects"
            try Files.makeDirectories(home)
            for (target, name) in [(place.outside, "out"), ("loop", "loop"), ("/", "root"), ("../../..", "up")] {
                try #require(unsafe symlink(target, "\(home)/\(name)") == 0)
            }
            // Siblings whose names start like those of allowed folders.
            for neighbour in [place.folder + "-not", home + "-not"] { try Files.makeDirectories(neighbour) }
            let before = try place.surroundings()
            let near = ["-not", "x", "/../secret", "/../../outside", "/out", "/in/out", "/root/etc", "/file"]
            let paths =
                place.out.paths + place.out.systemPaths + near.map { place.folder + $0 } + [
                    "up/x", "up", "root/tmp/x", "out/new", home + "-not",
                ]
            #expect(paths.count > 150)
            var made = 0
            for path in paths {
                let body: JSON = ["name": "x", "path": .string(path)]
                let answer = try await gateway.send(.post, "/v1/projects", body)
                let reply = try JSON(parsing: answer.body)
                if answer.status == .ok {
                    made += 1
                    let folder = try #require(reply["path"]?.string)
                    #expect(
                        folder == home || folder.hasPrefix(home + "/") || (folder + "/").hasPrefix(place.folder + "/"),
                        "\(path) became \(folder)")
                    #expect(try Files.canonical(folder) == folder)
                } else {
                    #expect(answer.status.code == 400, "\(path): \(answer.text)")
                    #expect(reply["error"]?["code"] == "invalid_path" && reply["error"]?["param"] == "path")
                }
                #expect(try place.surroundings() == before, "\(path)")
            }
            // Names that are only strange are accepted, so the others were refused for the right reason.
            #expect(made > 30 && made < paths.count - 50)
            for name in ["../../../x", "/etc", "..", ".", "a/b", "\u{0}", "..\\x"] {
                let project = try await gateway.json(.post, "/v1/projects", ["name": .string(name)])
                #expect(project["path"]?.string?.hasPrefix(home + "/") == true, "\(name)")
            }
            #expect(try place.surroundings() == before)
        }
    }

    @Test("The file API reads and writes nothing outside, however a path is written")
    func files() async throws {
        try await withPlayground { gateway, place in
            let id = try await gateway.makeProject(place.folder).id
            let before = try place.surroundings()
            let base = "/v1/projects/\(id)"
            let forms = place.out.paths.flatMap { path -> [String] in
                // Unescaped if a request line can contain it, and with its bytes escaped.
                let plain = path.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "?") }
                return (plain ? [path] : []) + (path.utf8.count < 2000 ? [path.escaped, path.escapedParts] : [])
            }
            #expect(forms.count > 300)
            let inside = try await gateway.exchange(GatewayClient.raw("GET", "\(base)/files/\("in/a".escapedParts)"))
            #expect(inside.answerStatus == 200 && inside.hasSuffix("inside"))
            for form in forms {
                for (method, target) in [
                    ("GET", "\(base)/files/\(form)"), ("PUT", "\(base)/files/\(form)"),
                    ("GET", "\(base)/files?depth=9&ignored=true&path=\(form)"), ("GET", "\(base)/files?glob=\(form)/*"),
                    ("GET", "\(base)/search?pattern=secret&path=\(form)"),
                    ("GET", "\(base)/search?pattern=secret&glob=\(form)"),
                ] {
                    let answer = try await gateway.exchange(
                        GatewayClient.raw(method, target, body: method == "PUT" ? "overwritten" : ""))
                    #expect((200..<500).contains(answer.answerStatus), "\(method) \(target): \(answer.prefix(300))")
                    #expect(!answer.contains("root:"), "\(method) \(target)")
                }
            }
            for path in place.out.systemPaths.flatMap({ [$0, $0.escaped, $0.escapedParts] }) {
                let answer = try await gateway.exchange(GatewayClient.raw("GET", "\(base)/files/\(path)"))
                #expect((400..<500).contains(answer.answerStatus) && !answer.contains("root:"), "\(path)")
            }
            #expect(try place.surroundings() == before)
        }
    }

    @Test("No tool of a model reads, writes or runs outside the folder")
    func tools() async throws {
        try await withPlayground { gateway, place in
            let id = try await gateway.makeProject(place.folder).id
            let before = try place.surroundings()
            let edits: JSON = [["old_text": .string(Playground.secret), "new_text": "hacked"]]
            let patch = JSON.string("@@ -1 +1 @@\n-\(Playground.secret)\n+hacked\n")
            let forms = place.out.paths.filter { !$0.isEmpty && $0.utf8.count < 3000 }
            #expect(forms.count > 150)
            let inside = try await gateway.use("fs.read", ["path": "in/a"], in: id).result
            #expect(inside["content"]?.string?.contains("inside") == true)
            for path in place.out.systemPaths {
                let read = try await gateway.use("fs.read", ["path": .string(path)], in: id).result
                #expect(read["is_error"] == true && read["content"]?.string?.contains("root:") == false, "\(path)")
            }
            for form in forms {
                let path = JSON.string(form)
                let calls: [(String, JSON)] = [
                    ("fs.read", ["path": path]), ("ls", ["path": path, "depth": 2]),
                    ("glob", ["pattern": "**/*", "path": path]), ("glob", ["pattern": path]),
                    ("grep.search", ["pattern": "secret", "path": path]),
                    ("grep.search", ["pattern": "secret", "glob": path]),
                    ("bash.run", ["command": "cat secret", "folder": path]),
                    ("fs.write", ["path": path, "content": "hacked", "create_folders": true]),
                    ("multi.write", ["files": [["path": path, "content": "hacked"]], "create_folders": true]),
                    ("multi.edit", ["path": path, "edits": edits]), ("edit.file", ["path": path, "patch": patch]),
                ]
                for (tool, input) in calls {
                    let (call, result) = try await gateway.use(tool, input, in: id)
                    #expect(call["name"] == .string(tool) && call["input"] == input)
                    // The answer may repeat the requested path, but no content.
                    let content = result["content"]?.string ?? ""
                    #expect(!content.contains("root:"), "\(tool) \(form): \(content)")
                }
                #expect(try place.surroundings() == before, "\(form)")
            }
        }
    }

    @Test("A project's folder that was replaced by a link is refused, and works again when it is restored")
    func replaced() async throws {
        try await withPlayground { gateway, place in
            let id = try await gateway.makeProject(place.folder).id
            let target = "/v1/projects/\(id)/files/secret"
            try #require(unsafe rename(place.folder, "\(place.outside)/aside") == 0)
            try #require(unsafe symlink(place.outside, place.folder) == 0)
            let before = try place.surroundings()
            for request in [GatewayClient.raw("GET", target), GatewayClient.raw("PUT", target, body: "overwritten")] {
                let answer = try await gateway.exchange(request)
                #expect(answer.answerStatus == 409 && !answer.contains("root:"), "\(answer)")
            }
            let turn = try await gateway.send(
                .post, "/v1/chat/completions",
                GatewayClient.saying("read secret", ["project_id": .string(id), "stream": false]))
            #expect(!turn.text.contains("root:") && turn.text.contains("its path contains a link"), "\(turn.text)")
            #expect(try place.surroundings() == before)
            try #require(unsafe unlink(place.folder) == 0)
            try #require(unsafe rename("\(place.outside)/aside", place.folder) == 0)
            let inside = try await gateway.exchange(GatewayClient.raw("GET", "/v1/projects/\(id)/files/in/a"))
            #expect(inside.answerStatus == 200 && inside.hasSuffix("inside"))
        }
    }

    @Test("A folder that is constantly swapped for a link leaks no reads or writes")
    func race() async throws {
        try await withPlayground { gateway, place in
            let id = try await gateway.makeProject(place.folder).id
            try write("inside", to: "\(place.folder)/real/secret")
            let before = try place.surroundings()
            let script = "while :; do mv -T real door; mv -T door real; mv -T out door; mv -T door out; done"
            let swapper = Command(
                "/bin/sh", ["-c", script], environment: ["PATH": "/usr/bin:/bin"], workingDirectory: place.folder)
            var seen: Set<Int> = []
            try await Launcher.standalone.withChild(swapper) { _ in
                for round in 0..<600 {
                    let isWriting = round % 3 == 2
                    let answer = try await gateway.exchange(
                        GatewayClient.raw(
                            isWriting ? "PUT" : "GET", "/v1/projects/\(id)/files/door/\(isWriting ? "new" : "secret")",
                            body: isWriting ? "hacked" : ""))
                    seen.insert(answer.answerStatus)
                    #expect(!answer.contains("root:"))
                }
            }
            #expect(try place.surroundings() == before)
            // Both cases occurred: the allowed folder, and the link or nothing.
            #expect(seen.contains(200) && seen.count > 1 && seen.allSatisfy { $0 < 500 }, "\(seen)")
        }
    }
}
