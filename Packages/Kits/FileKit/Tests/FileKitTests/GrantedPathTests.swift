import Capabilities
import CoreTesting
import Glibc
import Synchronization
import Testing

@testable import FileKit

@Suite("Granted path")
struct GrantedPathTests {
    /// A caller with access to the folder `in`; the file next to it is out of bounds.
    private struct Place {
        let folder: String
        let grant: Grant

        init(_ folder: String) throws {
            self.folder = folder
            for path in ["in/sub", "in/own", "in/.git/hooks", "out"] { try Files.makeDirectories("\(folder)/\(path)") }
            for path in ["in/a", "in/sub/b", "in/own/vault", "out/secret"] {
                try Files.writeAtomically(Array(path.utf8), to: "\(folder)/\(path)")
            }
            grant = Grant(
                Grant.Layer(
                    .bundle("b"),
                    folders: .init(
                        roots: [try FolderRoot(opening: "\(folder)/in")],
                        closed: [try Files.canonical("\(folder)/in/own")])))
        }

        func link(_ name: String, to target: String) throws {
            try #require(unsafe symlink(target, "\(folder)/in/\(name)") == 0)
        }

        func read(_ path: String) throws -> String {
            String(decoding: try grant.path(ReadPath(path), from: "\(folder)/in").read(limit: 1000), as: UTF8.self)
        }

        func write(_ text: String, _ path: String) throws {
            try grant.path(WritePath(path), from: "\(folder)/in").write(Array(text.utf8))
        }

        func append(_ text: String, _ path: String) throws {
            try grant.path(WritePath(path), from: "\(folder)/in").append(Array(text.utf8))
        }

        func content(_ path: String) throws -> String {
            String(decoding: try Files.read("\(folder)/\(path)", limit: 1000), as: UTF8.self)
        }
    }

    private func within(_ body: (Place) throws -> Void) async throws {
        try await TemporaryDirectory.run { try body(Place($0)) }
    }

    @Test("Reading and replacing in pieces obey the same rules, and an uncommitted file does not appear")
    func pieces() async throws {
        try await within { place in
            func path<Use>(_ given: GivenPath<Use>, as grant: Grant) throws -> GrantedPath {
                try grant.path(given, from: "\(place.folder)/in")
            }
            for grant in [place.grant, .person] {
                let file = try path(ReadPath("a"), as: grant).open()
                #expect(try file.read(upTo: 2) == Array("in".utf8) && file.read(upTo: 9) == Array("/a".utf8))
                do {
                    let given = try path(WritePath("a"), as: grant).replacement()
                    try given.write(Array("half".utf8).span)
                }
                #expect(try place.content("in/a") == "in/a")
                let whole = try path(WritePath("made/new"), as: grant).replacement()
                for piece in ["one ", "two"] { try whole.write(Array(piece.utf8).span) }
                #expect(!Files.exists("\(place.folder)/in/made/new"))
                try whole.commit()
                #expect(try place.content("in/made/new") == "one two")
                #expect(try Files.list("\(place.folder)/in/made").map(\.name) == ["new"])
                try Files.remove("\(place.folder)/in/made/new")
                #expect(throws: FileError.self) { _ = try path(ReadPath("sub"), as: grant).open() }
            }
            try place.link("away", to: "../out/secret")
            #expect(throws: FileError.self) { _ = try path(ReadPath("away"), as: place.grant).open() }
            #expect(throws: FileError.self) { _ = try path(WritePath("away"), as: place.grant).replacement() }
            // Control: a caller without bounds can read it.
            #expect(try path(ReadPath("away"), as: .person).open().read(upTo: 20) == Array("out/secret".utf8))
        }
    }

    @Test("A granted path can be read, written and appended to, and missing folders are created")
    func inside() async throws {
        try await within { place in
            #expect(try place.read("a") == "in/a" && place.read("./sub/../sub/b") == "in/sub/b")
            #expect(try place.read("\(place.folder)/in/a") == "in/a")
            try place.link("near", to: "sub/b")
            #expect(try place.read("near") == "in/sub/b")
            try place.write("new", "x/y/z")
            try place.append("er", "x/y/z")
            try place.append("first", "x/list")
            try place.write("changed", "near")
            #expect(try place.content("in/x/y/z") == "newer" && place.content("in/x/list") == "first")
            #expect(try place.content("in/sub/b") == "changed", "A link that stays inside is followed, and stays.")
            #expect(try Files.info("\(place.folder)/in/near", followLinks: false).kind == .symbolicLink)
            #expect(try place.grant.path(ReadPath("a"), from: "\(place.folder)/in").size() == 4)
            for (name, kind) in [("a", FileInfo.Kind.regular), ("near", .regular), ("sub", .directory)] {
                #expect(try place.grant.path(ReadPath(name), from: "\(place.folder)/in").kind() == kind, "\(name)")
            }
        }
    }

    @Test("A granted path cannot leave its folder through links to read, write or append")
    func links() async throws {
        try await within { place in
            try place.link("abs", to: "\(place.folder)/out/secret")
            try place.link("up", to: "../out/secret")
            try place.link("folder", to: "../out")
            try place.link("hang", to: "../out/new")
            try place.link("loop", to: "loop")
            for path in ["abs", "up", "folder/secret"] {
                #expect(throws: FileError.self) { try place.read(path) }
                #expect(throws: FileError.self) { try place.write("x", path) }
                #expect(throws: FileError.self) { try place.append("x", path) }
            }
            for path in ["hang", "folder/new", "folder/deep/new", "loop"] {
                #expect(throws: FileError.self) { try place.write("x", path) }
                #expect(throws: FileError.self) { try place.append("x", path) }
            }
            #expect(try place.content("out/secret") == "out/secret")
            #expect(try Files.list("\(place.folder)/out").map(\.name) == ["secret"])
            // Control: a caller without bounds can follow the link.
            let person = try Grant.person.path(ReadPath("in/up"), from: place.folder)
            #expect(try person.read(limit: 100) == Array("out/secret".utf8))
        }
    }

    @Test("A folder root knows whether it is a git work tree or repository")
    func git() async throws {
        try await TemporaryDirectory.run { folder in
            for path in ["tree/.git/objects", "tree/.git/refs", "tree/.git/hooks", "plain"] {
                try Files.makeDirectories("\(folder)/\(path)")
            }
            try Files.writeAtomically([], to: "\(folder)/tree/.git/HEAD")
            for (path, git) in [
                ("tree", FolderRoot.Git.workTree), ("tree/.git", .repository), ("tree/.git/hooks", .other),
                ("plain", .other),
            ] {
                #expect(try FolderRoot(opening: "\(folder)/\(path)").git == git, "\(path)")
            }
        }
    }

    @Test("A granted path cannot reach closed or guarded folders through links")
    func closed() async throws {
        try await within { place in
            try place.link("vault", to: "own/vault")
            try place.link("own-too", to: "own")
            try place.link("hook", to: ".git/hooks/pre-commit")
            try place.link("git", to: ".git")
            try place.link("sub/turned", to: "../.martlet/config.json")
            for path in ["vault", "own-too/vault"] {
                #expect(throws: FileError.self) { try place.read(path) }
                #expect(throws: FileError.self) { try place.write("x", path) }
            }
            for path in ["hook", "git/hooks/pre-commit", "git/new/x", "sub/turned"] {
                #expect(throws: FileError.self) { try place.write("x", path) }
                #expect(throws: FileError.self) { try place.append("x", path) }
            }
            #expect(throws: AccessFailure.self) { try place.read("own/vault") }
            #expect(throws: AccessFailure.self) { try place.write("x", ".git/hooks/pre-commit") }
            #expect(try Files.list("\(place.folder)/in/.git").map(\.name) == ["hooks"])
            #expect(try Files.list("\(place.folder)/in/.git/hooks").isEmpty)
            #expect(!Files.exists("\(place.folder)/in/.martlet"))
            #expect(try place.content("in/own/vault") == "in/own/vault")
        }
    }

    @Test("A granted path is compared by bytes, as in the kernel, and cannot contain a zero byte")
    func characters() async throws {
        try await within { place in
            try place.link("l\u{600}", to: "\(place.folder)/out")
            for path in [
                "l\u{600}/made/x", "sub\u{600}/.git/config", ".git/\u{301}a/b", "../\u{301}z/f",
                "sub/.git\u{0}" + String(repeating: "a", count: 210), "l\u{600}/secret",
            ] {
                #expect(throws: (any Error).self, "\(path)") { try place.write("x", path) }
                #expect(throws: (any Error).self, "\(path)") { try place.append("x", path) }
            }
            #expect(try Files.list("\(place.folder)/out").map(\.name) == ["secret"])
            #expect(try Files.list(place.folder).map(\.name) == ["in", "out"])
            #expect(!Files.exists("\(place.folder)/in/sub/.git") && !Files.exists("\(place.folder)/in/.git/\u{301}a"))
            try place.write("x", "sub\u{600}/\u{301}fine")
            #expect(try place.read("sub\u{600}/\u{301}fine") == "x")
        }
    }

    @Test("A granted path needs no permission to list the folders along it")
    func passing() async throws {
        try await within { place in
            try #require(unsafe chmod("\(place.folder)/in/sub", 0o300) == 0)
            #expect(try place.read("sub/b") == "in/sub/b")
            try #require(unsafe chmod("\(place.folder)/in/sub", 0o700) == 0)
        }
    }

    @Test("A granted path must be a file, and folders, pipes and devices are refused without waiting")
    func kinds() async throws {
        try await within { place in
            try #require(unsafe mkfifo("\(place.folder)/in/pipe", 0o600) == 0)
            for path in ["pipe", "sub", "."] {
                #expect(throws: FileError.self) { try place.read(path) }
                #expect(throws: FileError.self) { try place.write("x", path) }
                #expect(throws: FileError.self) { try place.append("x", path) }
            }
            #expect(throws: FileError.self) { try place.read("a\u{0}b") }
            #expect(throws: FileError.self) { try place.read("a/b") }
        }
    }

    // sandbox case 30
    @Test("A granted path stops working when its folder is replaced")
    func replaced() async throws {
        try await within { place in
            try #require(unsafe rename("\(place.folder)/in", "\(place.folder)/before") == 0)
            try #require(unsafe rename("\(place.folder)/out", "\(place.folder)/in") == 0)
            #expect(throws: FileError.self) { try place.read("secret") }
            try #require(unsafe rename("\(place.folder)/in", "\(place.folder)/out") == 0)
            try #require(unsafe symlink("\(place.folder)/out", "\(place.folder)/in") == 0)
            #expect(throws: FileError.self) { try place.read("secret") }
        }
    }

    @Test("A granted path does not leave its folder while folders are swapped for links")
    func race() async throws {
        try await TemporaryDirectory.run { folder in
            let place = try Place(folder)
            try Files.makeDirectories("\(folder)/in/turn")
            try Files.writeAtomically(Array("inside".utf8), to: "\(folder)/in/turn/secret")
            try place.link("way-out", to: "../out")
            let isOver = Mutex(false)
            async let turning: Void = turn("\(folder)/in", until: isOver)
            var inside = 0
            for round in 0..<2000 {
                do {
                    #expect(try place.read("turn/secret") == "inside")
                    if round.isMultiple(of: 2) { try place.append("", "turn/secret") }
                    try place.write("inside", "turn/secret")
                    inside += 1
                } catch is FileError {
                    // At this moment it was a link, or nothing.
                }
            }
            isOver.withLock { $0 = true }
            await turning
            #expect(inside > 0, "the folder was never the one that it should be")
            #expect(try place.content("out/secret") == "out/secret")
            #expect(try Files.list("\(folder)/out").map(\.name) == ["secret"])
        }
    }

    /// Replaces a folder with a link and restores it, repeatedly.
    private func turn(_ folder: String, until isOver: borrowing Mutex<Bool>) async {
        let steps = [("turn", "aside"), ("way-out", "turn"), ("turn", "way-out"), ("aside", "turn")]
        while !isOver.withLock({ $0 }) {
            for (from, to) in steps { _ = unsafe rename("\(folder)/\(from)", "\(folder)/\(to)") }
        }
    }
}
