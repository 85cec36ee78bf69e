import Capabilities
import FileKit
import Glibc
import JSON
import Testing

@testable import ToolKit

@Suite("Write tools", .timeLimit(.minutes(10)))
struct WriteToolTests {
    @Test("The offered tools follow from the choice, and each has the right effect")
    func offers() async throws {
        try await withPlayground { place in
            let reading = ["fs.read", "ls", "glob", "grep.search"]
            let writing = ["fs.write", "multi.write", "edit.file", "multi.edit"]
            for (offer, names) in [
                (WorkspaceTools.Offer.reading, reading), (.editing, reading + writing),
                (.all, reading + writing + ["bash.run"]),
            ] {
                let tools = try await WorkspaceTools(place.workspace, offering: offer).tools()
                #expect(tools.map(\.name) == names)
                #expect(tools.allSatisfy { $0.effect == (reading.contains($0.name) ? .reads : .writes) })
                #expect(
                    tools.first { $0.name == "bash.run" }.map { $0.limit.map { $0 > .seconds(600) } == true } != false)
            }
            #expect(try await WorkspaceTools(place.workspace).tools().map(\.name) == reading)
            let refused = try await WorkspaceTools(place.workspace).run(
                ToolCall(id: "1", name: "fs.write", input: ["path": "x", "content": "y"]))
            #expect(refused.isError && refused.content.contains("unknown tool"))
            #expect(try place.names() == [])
        }
    }

    @Test("A new file has the mode of the user's umask, and no other file is left behind")
    func makes() async throws {
        try await withPlayground { place in
            #expect(
                try await place.text("fs.write", ["path": "notes.md", "content": "a\nb\n"])
                    == "[notes.md is new, with 2 lines]")
            #expect(try place.content("notes.md") == "a\nb\n")
            let mask = umask(0)
            umask(mask)
            #expect(try Files.info("\(place.folder)/notes.md").mode == 0o666 & ~UInt32(mask))
            #expect(try await place.failure("fs.write", ["path": "a/b/c", "content": "x"]).contains("create_folders"))
            _ = try await place.text("fs.write", ["path": "a/b/c", "content": "x", "create_folders": true])
            _ = try await place.text("fs.write", ["path": "empty", "content": ""])
            #expect(try place.content("a/b/c") == "x" && place.content("empty") == "")
            #expect(try place.names() == ["a", "empty", "notes.md"] && place.names("a/b") == ["c"])
        }
    }

    @Test("A replaced file keeps its encoding, line endings and mode, and the result shows the diff")
    func keeps() async throws {
        try await withPlayground { place in
            try place.write("f", [0xEF, 0xBB, 0xBF] + Array("one\r\ntwo\r\n".utf8))
            unsafe chmod("\(place.folder)/f", 0o751)
            let answer = try await place.text("fs.write", ["path": "f", "content": "one\n2\nthree\n"])
            #expect(try place.bytes("f") == [0xEF, 0xBB, 0xBF] + Array("one\r\n2\r\nthree\r\n".utf8))
            #expect(try Files.info("\(place.folder)/f").mode == 0o751)
            #expect(answer.contains("-two\n+2\n+three\n") && answer.contains("line ends of CR LF are kept"))
            // CR LF in the content is intended.
            try place.write("g", "a\nb\n")
            _ = try await place.text("fs.write", ["path": "g", "content": "a\r\nb\r\n"])
            #expect(try place.content("g") == "a\r\nb\r\n")
            #expect(
                try await place.text("fs.write", ["path": "g", "content": "a\nb\n"]).contains(
                    "already has this content"))
            try place.write("u", [0xFF, 0xFE] + utf16("eins\r\nzwei 🎈\r\n"))
            _ = try await place.text("fs.write", ["path": "u", "content": "eins\nzwei 🎈\ndrei\n"])
            #expect(try place.bytes("u") == [0xFF, 0xFE] + utf16("eins\r\nzwei 🎈\r\ndrei\r\n"))
            try place.write("picture", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0])
            #expect(try await place.text("fs.write", ["path": "picture", "content": "x"]).contains("PNG"))
            #expect(try place.content("picture") == "x")
        }
    }

    @Test("A write follows a link and keeps it, and separates a hard link from its other name")
    func links() async throws {
        try await withPlayground { place in
            try place.write("real/f", "old\n")
            try place.link("link", to: "chain")
            try place.link("chain", to: "real/../real/f")
            try place.link("new", to: "real/made")
            try place.link("real/folder", to: "../real")
            _ = try await place.text("fs.write", ["path": "link", "content": "new\n"])
            _ = try await place.text("fs.write", ["path": "new", "content": "made\n"])
            _ = try await place.text("fs.write", ["path": "real/folder/folder/g", "content": "g\n"])
            #expect(try place.content("real/f") == "new\n" && place.content("real/made") == "made\n")
            #expect(try place.content("real/g") == "g\n")
            #expect(
                try Files.list(place.folder).filter { $0.kind == .symbolicLink }.map(\.name) == [
                    "chain", "link", "new",
                ])
            try #require(unsafe Glibc.link("\(place.base)/outside/secret.txt", "\(place.folder)/hard") == 0)
            _ = try await place.text("fs.write", ["path": "hard", "content": "x"])
            #expect(try Files.read("\(place.base)/outside/secret.txt", limit: 100) == Array(Playground.secret.utf8))
        }
    }

    @Test("A file that has changed since it was read must be read again before it is replaced")
    func changed() async throws {
        try await withPlayground { place in
            try place.write("f", "first\n")
            _ = try await place.text("fs.read", ["path": "f"])
            try place.write("f", "somebody's work\n")
            let input: JSONObject = ["path": "./f", "content": "mine\n"]
            #expect(try await place.failure("fs.write", input).contains("has changed since it was read (was 6 B"))
            let edit: JSONObject = ["path": "f", "edits": [["old_text": "work", "new_text": "labour"]]]
            #expect(
                try await place.text("multi.edit", edit).contains("another program has changed it since it was read"))
            #expect(try place.content("f") == "somebody's labour\n")
            // The edit has recorded the current state of the file.
            _ = try await place.text("fs.write", input)
            #expect(try place.content("f") == "mine\n")
        }
    }

    @Test("Several files are written together or not at all")
    func several() async throws {
        try await withPlayground { place in
            try place.write("a", "old\n")
            try place.write("folder/x", "x")
            func files(_ names: [String]) -> JSONObject {
                [
                    "files": .array(names.map { ["path": .string($0), "content": .string("new \($0)\n")] }),
                    "create_folders": true,
                ]
            }
            let answer = try await place.text("multi.write", files(["a", "b", "new/deep/c"]))
            #expect(answer.contains("-old\n+new a\n") && answer.contains("[b is new"))
            #expect(try place.content("a") == "new a\n" && place.content("new/deep/c") == "new new/deep/c\n")
            _ = try await place.text("fs.write", ["path": "a", "content": "old\n"])
            for (bad, words) in [
                ("../out", "outside of"), ("folder", "folder"), ("a", "twice"), ("./a", "twice"),
                ("a/b", "not a folder"),
                ("more/x/../../..", "folder"), ("", "path"), ("z/", "folder"), ("z/.git/config", "git"),
            ] {
                let names = ["a", "other/d", bad]
                #expect(try await place.failure("multi.write", files(names)).contains(words), "\(bad)")
                #expect(try place.content("a") == "old\n" && place.names() == ["a", "b", "folder", "new"], "\(bad)")
            }
            // A file and a folder of the same name, which shows only while writing. Everything is undone.
            _ = try await place.failure("multi.write", files(["a", "q", "q/r"]))
            #expect(try place.content("a") == "old\n" && place.names() == ["a", "b", "folder", "new"])
            #expect(try await place.failure("multi.write", ["files": []]).contains("0 files"))
        }
    }

    @Test("Files of git are never written")
    func git() async throws {
        try await withPlayground { place in
            try place.write(".git/config", "")
            try place.write("a/x", "")
            try place.write("sub/.git/hooks/x", "")
            try place.link("door", to: ".git")
            for path in [
                ".git/config", ".git/hooks/pre-commit", "sub/.git/hooks/x", "door/config", "a/../.git/new", ".git",
            ] {
                for folders in [true, false] {
                    let sentence = try await place.failure(
                        "fs.write", ["path": .string(path), "content": "x", "create_folders": .bool(folders)])
                    #expect(sentence.contains("git") || sentence.contains("folder"), "\(path): \(sentence)")
                }
            }
            #expect(try place.content(".git/config") == "" && place.names(".git") == ["config"])
            _ = try await place.text("fs.write", ["path": ".gitignore", "content": "x\n"])
        }
    }

    @Test("Invalid input and unsuitable files are rejected with a remedy, and nothing is written")
    func refusals() async throws {
        try await withPlayground { place in
            try place.write("f", "text\n")
            try place.write("picture", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0])
            try place.write("half", [0xFF, 0xFE, 0x00, 0xD8, 0x61, 0x00])
            try #require(unsafe mkfifo("\(place.folder)/fifo", 0o600) == 0)
            let edit: JSON = [["old_text": "text", "new_text": "x"]]
            let calls: [(String, JSONObject, String)] = [
                ("fs.write", ["path": "f"], "content: is missing"), ("fs.write", ["content": "x"], "path: is missing"),
                ("fs.write", ["path": "f", "content": 3], "needs text"),
                ("fs.write", ["path": ".", "content": ""], "folder"),
                ("fs.write", ["path": "f", "content": "", "mode": "x"], "not known"),
                ("fs.write", ["path": "fifo", "content": "x"], "not a regular file"),
                ("fs.write", ["path": "f/x", "content": "x"], "not a folder"),
                ("multi.write", ["files": "x"], "needs a list"), ("multi.write", ["files": [["path": "x"]]], "content"),
                ("edit.file", ["path": "f", "patch": "x"], "no changes"),
                ("edit.file", ["path": "g", "patch": "@@\n-a"], "g does not exist"),
                ("edit.file", ["path": "picture", "patch": "@@\n-a"], "PNG"),
                ("multi.edit", ["path": "half", "edits": edit], "UTF-16"),
                ("multi.edit", ["path": "F", "edits": edit], "'f'"),
                ("multi.edit", ["path": "fifo", "edits": edit], "regular"),
                ("multi.edit", ["path": "f", "edits": []], "0 edits"),
                ("multi.edit", ["path": ".", "edits": edit], "folder"),
                ("multi.edit", ["path": "f", "edits": [["old_text": "", "new_text": "x"]]], "no old_text"),
            ]
            for (tool, input, words) in calls {
                let sentence = try await place.failure(tool, input)
                #expect(sentence.contains(words), "\(tool) \(input): \(sentence)")
            }
            #expect(try place.content("f") == "text\n" && place.names() == ["f", "fifo", "half", "picture"])
        }
    }

    @Test("A file size limit leaves everything unchanged")
    func full() async {
        // In a separate process, because the file size limit applies to the whole process.
        await #expect(processExitsWith: .success) {
            try await withPlayground { place in
                try place.write("f", "old\n")
                signal(SIGXFSZ, SIG_IGN)
                var limit = rlimit()
                unsafe getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
                limit.rlim_cur = 4096
                unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
                let large = JSON.string(String(repeating: "x", count: 10_000))
                #expect(try await place.failure("fs.write", ["path": "f", "content": large]).contains("size limit"))
                let files: JSON = [["path": "f", "content": "new"], ["path": "d/g", "content": large]]
                let input: JSONObject = ["files": files, "create_folders": true]
                #expect(try await place.failure("multi.write", input).contains("size limit"))
                #expect(try place.content("f") == "old\n" && place.names() == ["f"])
            }
        }
    }

    @Test("A full or read-only disk leaves everything unchanged", .enabled(if: geteuid() == 0))
    func fullDisk() async throws {
        try await withPlayground { place in
            let disk = "\(place.folder)/disk"
            let view = "\(place.folder)/view"
            try Files.makeDirectories(disk)
            try Files.makeDirectories(view)
            try #require(unsafe mount("tmpfs", disk, "tmpfs", 0, "size=64k") == 0, "only root may mount")
            // A child that another test has just forked may still hold a file of the disk.
            defer { unsafe umount2(disk, Int32(MNT_DETACH)) }
            try place.write("disk/f", "old\n")
            let large = JSON.string(String(repeating: "x", count: 100_000))
            let files: JSON = [["path": "disk/f", "content": "new"], ["path": "disk/g", "content": large]]
            #expect(try await place.failure("multi.write", ["files": files]).contains("no space left"))
            #expect(try place.content("disk/f") == "old\n" && place.names("disk") == ["f"])

            try #require(unsafe mount(disk, view, nil, UInt(MS_BIND), nil) == 0)
            defer { unsafe umount2(view, Int32(MNT_DETACH)) }
            try #require(unsafe mount(nil, view, nil, UInt(MS_BIND | MS_REMOUNT | MS_RDONLY), nil) == 0)
            #expect(try await place.failure("fs.write", ["path": "view/f", "content": "x"]).contains("read-only"))
            #expect(try place.content("disk/f") == "old\n")
        }
    }

    @Test("A read-only file is not replaced", .enabled(if: geteuid() != 0))
    func protected() async throws {
        try await withPlayground { place in
            try place.write("f", "old\n")
            unsafe chmod("\(place.folder)/f", 0o444)
            #expect(try await place.failure("fs.write", ["path": "f", "content": "x"]).contains("permission denied"))
            #expect(try place.content("f") == "old\n")
        }
    }

    @Test("If another program replaces a file at the same moment, neither content is lost")
    func exchanged() throws {
        // The tools check the file as late as possible; here it is replaced at the last moment.
        var template = Array("/tmp/toolkit-XXXXXX".utf8CString)
        try #require(unsafe mkdtemp(&template) != nil)
        let folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        defer { unsafe rmdir(folder) }
        let workspace = try Workspace(folder)
        try Files.writeAtomically(Array("old".utf8), to: "\(folder)/f")
        let place = try WritePlace(EntryPath("f"), in: workspace)
        let former = try #require(try ExistingFile(place))
        do {
            let replacement = try FileReplacement(Array("ours".utf8), at: place, replacing: former.status)
            try Files.writeAtomically(Array("theirs".utf8), to: "\(folder)/f")
            let error = #expect(throws: WorkspaceError.self) { try replacement.commit() }
            #expect(error?.kind == .changed)
        }
        #expect(try Files.read("\(folder)/f", limit: 100) == Array("theirs".utf8))
        unsafe unlink("\(folder)/f")
        do {
            let gone = try FileReplacement(Array("ours".utf8), at: place, replacing: former.status)
            #expect(throws: WorkspaceError.self) { try gone.commit() }
            let new = try FileReplacement(Array("ours".utf8), at: place, replacing: nil)
            try Files.writeAtomically(Array("theirs".utf8), to: "\(folder)/f")
            #expect(throws: WorkspaceError.self) { try new.commit() }
        }
        #expect(try Files.read("\(folder)/f", limit: 100) == Array("theirs".utf8))
        unsafe unlink("\(folder)/f")
        #expect(try Files.list(folder).map(\.name) == [])
    }

    private func utf16(_ text: String) -> [UInt8] {
        text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    }
}
