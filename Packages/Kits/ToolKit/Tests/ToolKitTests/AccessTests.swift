import FileKit
import Glibc
import Testing

@testable import ToolKit

@Suite("Workspace access", .timeLimit(.minutes(5))) struct AccessTests {
    @Test(
        "Raw bytes are written and read, also in parts",
        arguments: [Folder.Resolver.kernel, .steps])
    func bytes(resolver: Folder.Resolver) async throws {
        try await withPlayground(resolver: resolver) { playground in
            let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            let written = try await playground.workspace.write(bytes, to: "a/b/c.bin")
            #expect(written.isNew && written.entry.path == "a/b/c.bin" && written.entry.size == bytes.count)
            let file = try await playground.workspace.open("a/b/c.bin")
            #expect(file.entry == written.entry)
            #expect(try await file.read(at: 0, count: 1 << 20) == bytes)
            #expect(try await file.read(at: 299_990, count: 100) == Array(bytes.suffix(10)))
            #expect(try await file.read(at: 400_000, count: 100) == [])
            #expect(try playground.names("a/b") == ["c.bin"])
        }
    }

    @Test("A write whose rule does not hold leaves the file unchanged")
    func rules() async throws {
        try await withPlayground { playground in
            let workspace = playground.workspace
            func refused(_ rule: Workspace.WriteRule, _ path: String = "a") async throws -> Bool {
                do {
                    _ = try await workspace.write([9], to: path, when: rule)
                    return false
                } catch let error as WorkspaceError {
                    return error.kind == .changed
                }
            }
            #expect(try await refused(.exists))
            #expect(try await refused(.matches(etag: "\"x\"")))
            let first = try await workspace.write([1], to: "a", when: .isNew)
            #expect(try await refused(.isNew))
            #expect(try await refused(.matches(etag: "\"x\"")))
            let second = try await workspace.write([2], to: "a", when: .matches(etag: first.entry.etag))
            #expect(!second.isNew && second.entry.etag != first.entry.etag)
            #expect(try await refused(.matches(etag: first.entry.etag)))
            #expect(try playground.bytes("a") == [2])
            #expect(try await refused(.exists, "deep/none"))
            #expect(try playground.names() == ["a"])
        }
    }

    @Test("A write keeps the mode of a file, and git's files are refused")
    func modes() async throws {
        try await withPlayground { playground in
            try playground.write("run.sh", "old")
            unsafe chmod("\(playground.folder)/run.sh", 0o750)
            _ = try await playground.workspace.write(Array("new".utf8), to: "run.sh")
            var status = stat()
            #expect(unsafe stat("\(playground.folder)/run.sh", &status) == 0 && status.st_mode & 0o7777 == 0o750)
            await #expect(throws: WorkspaceError.self) {
                try await playground.workspace.write([], to: ".git/hooks/pre-commit")
            }
        }
    }

    @Test(
        "Paths outside cannot be read, written or listed",
        arguments: ["../outside/secret.txt", "/etc/passwd", "out/secret.txt"])
    func outside(path: String) async throws {
        try await withPlayground { playground in
            try playground.link("out", to: "../outside")
            let workspace = playground.workspace
            await #expect(throws: WorkspaceError.self) { try await workspace.open(path) }
            await #expect(throws: WorkspaceError.self) { try await workspace.write([1], to: path) }
            await #expect(throws: WorkspaceError.self) { try await workspace.entries(Workspace.Look(path: path)) }
            await #expect(throws: WorkspaceError.self) { try await workspace.search("s", Workspace.Look(path: path)) }
            #expect(try await workspace.entries(Workspace.Look(), depth: 9).entries.map(\.path) == ["out"])
        }
    }

    @Test("A list and a search report when they are cut")
    func limits() async throws {
        try await withPlayground { playground in
            for number in 0..<20 { try playground.write("f\(number).txt", "same\nsame\n") }
            let look = Workspace.Look(limit: 20)
            #expect(try await playground.workspace.entries(look).isCut == false)
            #expect(try await playground.workspace.find("*.txt", look).entries.count == 20)
            #expect(try await playground.workspace.find("*.txt", Workspace.Look(limit: 19)).isCut)
            let hits = try await playground.workspace.search("same", look)
            #expect(hits.hits.count == 20 && hits.isCut)
            #expect(try await playground.workspace.search("same", Workspace.Look(limit: 40)).isCut == false)
        }
    }
}
