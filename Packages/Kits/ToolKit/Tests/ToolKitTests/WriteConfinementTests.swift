import Capabilities
import FileKit
import Glibc
import JSON
import LoopKit
import Testing

@testable import ToolKit

@Suite("Confinement of writing", .timeLimit(.minutes(30)))
struct WriteConfinementTests {
    /// The folder next to the working folder, with its contents.
    private func outside(_ place: Playground) throws -> [String] {
        try ["", "/outside", "/outside/folder"].flatMap { try Files.list(place.base + $0).map(\.name) }
            + ["outside/secret.txt", "outside/folder/secret.txt"].map {
                String(decoding: try Files.read("\(place.base)/\($0)", limit: 1000), as: UTF8.self)
            }
    }

    @Test("A path that leads outside is refused in every form, by every tool", arguments: ConfinementTests.resolvers)
    func forms(_ resolver: Folder.Resolver) async throws {
        try await withPlayground(resolver: resolver) { place in
            let opened = unsafe open("\(place.base)/outside", O_RDONLY | O_DIRECTORY)
            defer { close(opened) }
            let out = try WaysOut(place, open: opened)
            let before = try outside(place)
            #expect(out.forms.count > 100)
            let edit: JSON = [["old_text": .string(Playground.secret), "new_text": "hacked"]]
            let patch = JSON.string("@@ -1 +1 @@\n-\(Playground.secret)\n+hacked\n")
            for form in out.forms + out.ways.map({ "\($0)/new.txt" }) {
                let path = JSON.string(form)
                let calls: [(String, JSONObject)] = [
                    ("fs.write", ["path": path, "content": "hacked"]), ("edit.file", ["path": path, "patch": patch]),
                    ("multi.write", ["files": [["path": path, "content": "hacked"]]]),
                    ("multi.edit", ["path": path, "edits": edit]),
                    ("bash.run", ["command": "pwd; ls", "folder": path]),
                ]
                for (tool, input) in calls {
                    let sentence = try await place.failure(tool, input)
                    #expect(!sentence.contains(Playground.secret), "\(tool) \(form)")
                }
                #expect(try outside(place) == before, "\(form)")
            }
            // If folders may be created, a path that only looks like a way out is an odd name inside.
            for form in out.forms {
                let input: JSONObject = ["path": .string(form), "content": "hacked", "create_folders": true]
                let made = try await place.run("fs.write", input)
                #expect(made.isError || !form.hasPrefix("/") && !form.hasPrefix("../"), "\(form)")
                #expect(try outside(place) == before, "\(form)")
            }
            #expect(unsafe access("/new.txt", F_OK) != 0 && access("/proc/self/cwd/new.txt", F_OK) != 0)
        }
    }

    @Test("Files that other programs obey cannot be written, by any tool or name")
    func guarded() async throws {
        try await withPlayground { place in
            try place.write(".claude/settings.json", "own\n")
            #expect(unsafe symlink(".claude", "\(place.folder)/link") == 0)
            let names = [
                ".claude/settings.json", "./.claude/new", "link/settings.json", ".mcp.json", ".vscode/tasks.json",
                ".envrc",
                ".martlet/config.json", "sub/../.envrc", ".git/hooks/x", "sub/.git/config",
            ]
            try place.write("sub/f", "")
            for name in names {
                let path = JSON.string(name)
                let calls: [(String, JSONObject)] = [
                    ("fs.write", ["path": path, "content": "x", "create_folders": true]),
                    ("multi.write", ["files": [["path": path, "content": "x"]], "create_folders": true]),
                    ("edit.file", ["path": path, "patch": "@@ -1 +1 @@\n-own\n+x\n"]),
                    ("multi.edit", ["path": path, "edits": [["old_text": "own", "new_text": "x"]]]),
                ]
                for (tool, input) in calls { _ = try await place.failure(tool, input) }
            }
            #expect(try place.content(".claude/settings.json") == "own\n")
            #expect(try place.names().sorted() == [".claude", "link", "sub"])
            // Similar names, or deeper ones, are ordinary files.
            for name in ["sub/.vscode/tasks.json", ".env", ".claude.md"] {
                let done = try await place.run(
                    "fs.write", ["path": .string(name), "content": "x", "create_folders": true])
                #expect(!done.isError, "\(done.content)")
            }
        }
    }

    // sandbox case 29
    @Test(
        "Folders and files that are repeatedly swapped for links never redirect a write outside",
        arguments: ConfinementTests.resolvers)
    func race(_ resolver: Folder.Resolver) async throws {
        try await withPlayground(resolver: resolver) { place in
            try place.write("real/secret.txt", "inside\n")
            try place.link("way-out", to: "../outside")
            try place.write("file", "inside\n")
            try place.link("file-out", to: "../outside/secret.txt")
            let before = try outside(place)
            let (folder, isOver) = (place.folder, Flag())
            let swapper = try OwnThread {
                while !isOver.isSet {
                    for (from, to) in [
                        ("real", "door"), ("file", "target"), ("door", "real"), ("target", "file"), ("way-out", "door"),
                        ("file-out", "target"), ("door", "way-out"), ("target", "file-out"),
                    ] {
                        _ = unsafe rename("\(folder)/\(from)", "\(folder)/\(to)")
                    }
                }
            }
            var written = 0
            for round in 0..<300 {
                let path: JSON = ["door/secret.txt", "door/new.txt", "target", "door/a/b.txt"][round % 4]
                let content = JSON.string("hacked \(round)\n")
                let result = try await place.run(
                    "fs.write", ["path": path, "content": content, "create_folders": .bool(round % 8 > 3)])
                if !result.isError { written += 1 }
                _ = try await place.run(
                    "multi.edit", ["path": path, "edits": EditToolTests.edits([(Playground.secret, "hacked")])])
            }
            isOver.set()
            swapper.join()
            #expect(written > 0, "the door was never the folder that it should be at times")
            #expect(try outside(place) == before)
        }
    }

    @Test("A removed folder throws, and a renamed one is written to")
    func gone() async throws {
        try await withPlayground { place in
            try #require(unsafe rename(place.folder, "\(place.base)/moved") == 0)
            _ = try await place.text("fs.write", ["path": "a", "content": "here"])
            #expect(try Files.read("\(place.base)/moved/a", limit: 100) == Array("here".utf8))
            #expect(try await place.text("bash.run", ["command": "pwd"]) == "\(place.base)/moved\n")
            try await removeTree("\(place.base)/moved")
            for (tool, input) in [
                ("fs.write", ["path": "a", "content": "x"]), ("bash.run", ["command": "pwd"]),
                ("multi.write", ["files": [["path": "a", "content": "x"]]]),
            ] as [(String, JSONObject)] {
                let error = await #expect(throws: WorkspaceError.self) { try await place.run(tool, input) }
                #expect(error?.kind == .gone, "\(tool)")
            }
        }
    }
}
