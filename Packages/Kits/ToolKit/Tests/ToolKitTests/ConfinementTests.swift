import Capabilities
import FileKit
import Glibc
import JSON
import LoopKit
import Synchronization
import Testing

@testable import ToolKit

@Suite("Confinement of reading")
struct ConfinementTests {
    static let resolvers: [Folder.Resolver] = [.kernel, .steps]

    @Test("A path that leads outside is refused in every form, by every tool", arguments: resolvers)
    func forms(_ resolver: Folder.Resolver) async throws {
        try await withPlayground(resolver: resolver) { place in
            let opened = unsafe open("\(place.base)/outside", O_RDONLY | O_DIRECTORY)
            defer { close(opened) }
            let out = try WaysOut(place, open: opened)
            let (ways, forms) = (out.ways, out.forms)
            #expect(forms.count > 100)
            for form in forms {
                let sentence = try await place.failure("fs.read", ["path": .string(form)])
                #expect(!sentence.contains(Playground.secret), "\(form)")
            }
            for way in ways + [".."] {
                for (tool, input) in [
                    ("ls", JSONObject()), ("glob", ["pattern": "**"]), ("grep.search", ["pattern": "secret"]),
                ] {
                    var input = input
                    input["path"] = .string(way)
                    let sentence = try await place.failure(tool, input)
                    #expect(!sentence.contains(Playground.secret) && !sentence.contains("secret.txt"), "\(tool) \(way)")
                }
            }
            // Walks show links and do not follow them.
            let walks: [(String, JSONObject)] = [
                ("glob", ["pattern": "**/secret.txt"]), ("grep.search", ["pattern": "secret"]),
            ]
            for (tool, input) in walks {
                let text = try await place.text(tool, input)
                #expect(!text.contains("secret.txt") && !text.contains(Playground.secret))
            }
        }
    }

    @Test(
        "A folder that has become a link, or is below one, is not opened by its accepted path",
        arguments: resolvers)
    func replaced(_ resolver: Folder.Resolver) async throws {
        try await withPlayground(resolver: resolver) { place in
            let base = try Files.canonical(place.base)
            try place.write("deep/a.txt", "inside")
            _ = try Workspace(canonical: "\(base)/work", resolver: resolver)
            _ = try Workspace(canonical: "\(base)/work/deep", resolver: resolver)
            try #require(unsafe rename("\(base)/work", "\(base)/moved") == 0)
            try #require(unsafe symlink("moved", "\(base)/work") == 0)
            for path in ["\(base)/work", "\(base)/work/deep"] {
                #expect(throws: WorkspaceError.self) { _ = try Workspace(canonical: path, resolver: resolver) }
                // An explicit path may contain links, which are followed.
                _ = try Workspace(path, resolver: resolver)
            }
            try #require(unsafe unlink("\(base)/work") == 0)
            try #require(unsafe rename("\(base)/moved", "\(base)/work") == 0)
            _ = try Workspace(canonical: "\(base)/work", resolver: resolver)
        }
    }

    @Test("Links and .. that stay inside are followed", arguments: resolvers)
    func inside(_ resolver: Folder.Resolver) async throws {
        try await withPlayground(resolver: resolver) { place in
            try place.write("a/b/c.txt", "inside")
            try place.link("to-file", to: "a/b/c.txt")
            try place.link("to-folder", to: "./a//b/")
            try place.link("a/b/back", to: "../../a")
            try place.link("chain", to: "to-folder/back")
            for path in [
                "a/b/c.txt", "./a/./b//c.txt", "a/../a/b/c.txt", "to-file", "to-folder/c.txt", "chain/b/c.txt",
                "a/b/back/b/back/b/c.txt", "to-folder/../b/c.txt",
            ] {
                #expect(try await place.text("fs.read", ["path": .string(path)]).contains("inside"), "\(path)")
            }
            #expect(try await place.text("ls", ["path": "to-folder"]).contains("c.txt"))
        }
    }

    @Test("Circular links, files used as folders and long names are reported", arguments: resolvers)
    func odd(_ resolver: Folder.Resolver) async throws {
        try await withPlayground(resolver: resolver) { place in
            try place.write("file", "x")
            try place.link("circle", to: "circle")
            for index in 0..<45 { try place.link("l\(index)", to: index == 44 ? "file" : "l\(index + 1)") }
            #expect(try await place.failure("fs.read", ["path": "circle"]).contains("link"))
            #expect(try await place.failure("fs.read", ["path": "l0"]).contains("link"))
            #expect(try await place.text("fs.read", ["path": "l10"]).contains("x"))
            #expect(try await place.failure("fs.read", ["path": "file/"]).contains("not a folder"))
            #expect(try await place.failure("fs.read", ["path": "file/.."]).contains("folder"))
            #expect(try await place.failure("fs.read", ["path": "file/x"]).contains("not a folder"))
            let long = String(repeating: "n", count: 300)
            #expect(try await place.failure("fs.read", ["path": .string(long)]).contains("too long"))
            #expect(
                try await place.failure("ls", ["path": .string(String(repeating: "a/", count: 3000))]).contains("long"))
        }
    }

    // sandbox case 27
    @Test("A FIFO or socket is refused without blocking", arguments: resolvers)
    func special(_ resolver: Folder.Resolver) async throws {
        try await withPlayground(resolver: resolver) { place in
            try #require(unsafe mkfifo("\(place.folder)/fifo", 0o600) == 0)
            let bound = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(bound) }
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            unsafe withUnsafeMutableBytes(of: &address.sun_path) {
                unsafe $0.copyBytes(from: "\(place.folder)/socket".utf8)
            }
            let length = socklen_t(MemoryLayout<sockaddr_un>.size)
            let result = unsafe withUnsafePointer(to: &address) {
                unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(bound, $0, length) }
            }
            try #require(result == 0)
            var special = ["fifo", "socket"]
            // Only root can create a device.
            if unsafe mknod("\(place.folder)/zero", S_IFCHR | 0o600, 0x105) == 0 { special.append("zero") }
            for name in special {
                #expect(try await place.failure("fs.read", ["path": .string(name)]).contains("not a regular file"))
                #expect(
                    try await place.failure("grep.search", ["path": .string(name), "pattern": "x"]).contains("regular"))
            }
            let listing = try await place.text("ls", [:])
            #expect(listing.contains("fifo (a FIFO)") && listing.contains("socket (a socket)"))
            #expect(try await place.text("grep.search", ["pattern": "x"]).contains("no matching line"))
        }
    }

    @Test("The magic links of /proc are refused", arguments: resolvers)
    func magic(_ resolver: Folder.Resolver) async throws {
        let opened = unsafe open("/etc/hostname", O_RDONLY)
        defer { close(opened) }
        let tools = WorkspaceTools(try Workspace("/proc/self", resolver: resolver))
        for path in ["fd/\(opened)", "root/etc/hostname", "cwd/Package.swift", "exe"] {
            let result = try await tools.run(ToolCall(id: "1", name: "fs.read", input: ["path": .string(path)]))
            #expect(
                result.isError && result.content.contains("link") || result.content.contains("leads out"), "\(path)")
        }
    }

    // sandbox case 29
    @Test("A folder that is repeatedly swapped for a link never leads outside", arguments: resolvers)
    func race(_ resolver: Folder.Resolver) async throws {
        try await withPlayground(resolver: resolver) { place in
            try place.write("real/secret.txt", "inside")
            try place.write("real/folder/secret.txt", "inside")
            try place.link("way-out", to: "../outside")
            let (folder, isOver) = (place.folder, Flag())
            let swapper = try OwnThread {
                while !isOver.isSet {
                    for (from, to) in [("real", "door"), ("door", "real"), ("way-out", "door"), ("door", "way-out")] {
                        _ = unsafe rename("\(folder)/\(from)", "\(folder)/\(to)")
                    }
                }
            }
            var seen = 0
            for round in 0..<600 {
                let path = round % 2 == 0 ? "door/secret.txt" : "door/folder/../folder/secret.txt"
                let read = try await place.run("fs.read", ["path": .string(path)]).content
                #expect(!read.contains(Playground.secret))
                if read.contains("inside") { seen += 1 }
                if round % 10 == 0 {
                    let found = try await place.run("grep.search", ["pattern": "house|inside"]).content
                    #expect(!found.contains(Playground.secret))
                    let below = try await place.run("grep.search", ["pattern": "house", "path": "door"]).content
                    #expect(!below.contains(Playground.secret))
                }
            }
            isOver.set()
            swapper.join()
            #expect(seen > 0, "the door was never the folder that it should be at times")
        }
    }

    @Test("A removed folder throws, and a renamed one keeps working")
    func gone() async throws {
        try await withPlayground { place in
            try place.write("a", "inside")
            try #require(unsafe rename(place.folder, "\(place.base)/moved") == 0)
            #expect(try await place.text("fs.read", ["path": "a"]).contains("inside"))
            try await removeTree("\(place.base)/moved")
            for (tool, input) in [
                ("fs.read", ["path": "a"]), ("ls", [:]), ("glob", ["pattern": "*"]), ("grep.search", ["pattern": "a"]),
            ] as [(String, JSONObject)] {
                let error = await #expect(throws: WorkspaceError.self) { try await place.run(tool, input) }
                #expect(error?.kind == .gone, "\(tool)")
            }
            #expect(throws: WorkspaceError.self) { try Workspace(place.folder) }
        }
    }
}

/// Tells a thread to stop.
final class Flag: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .relaxed) }
    func set() { value.store(true, ordering: .relaxed) }
}
