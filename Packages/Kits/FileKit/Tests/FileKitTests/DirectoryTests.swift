import CoreTesting
import FileKit
import Glibc
import Testing

@Suite("Directories and their entries")
struct DirectoryTests {
    @Test("Missing directories are created with the mode, and existing ones are unchanged")
    func make() async throws {
        try await TemporaryDirectory.run { directory in
            try Files.makeDirectories("\(directory)/a/b/c/", mode: 0o700)
            try Files.makeDirectories("\(directory)/a/b/c", mode: 0o755)
            #expect(try Files.info("\(directory)/a/b").mode & 0o777 == 0o700)
            #expect(try Files.info("\(directory)/a/b/c").mode & 0o777 == 0o700)
            try Files.makeDirectories("/")
        }
    }

    @Test("A file at the path of a directory is an error")
    func inTheWay() async throws {
        try await TemporaryDirectory.run { directory in
            try Files.writeAtomically([], to: "\(directory)/a")
            #expect(failure { () throws(FileError) in try Files.makeDirectories("\(directory)/a") } == .exists)
            #expect(failure { () throws(FileError) in try Files.makeDirectories("\(directory)/a/b") } == .notDirectory)
        }
    }

    @Test("A listing names every entry once, sorted, with its kind")
    func list() async throws {
        try await TemporaryDirectory.run { directory in
            try Files.writeAtomically([], to: "\(directory)/file")
            try Files.makeDirectories("\(directory)/directory")
            try #require(unsafe symlink("nowhere", "\(directory)/link") == 0)
            try #require(unsafe mkfifo("\(directory)/äöü", 0o600) == 0)
            let entries = try Files.list(directory)
            #expect(entries.map(\.name) == ["directory", "file", "link", "äöü"])
            #expect(entries.map(\.kind) == [.directory, .regular, .symbolicLink, .fifo])
            #expect(failure { () throws(FileError) in _ = try Files.list(directory, limit: 3) } == .tooLarge)
            #expect(failure { () throws(FileError) in _ = try Files.list("\(directory)/file") } == .notDirectory)
        }
    }

    @Test("A dangling link does not exist, and removing a link leaves its target")
    func links() async throws {
        try await TemporaryDirectory.run { directory in
            let (file, link) = ("\(directory)/file", "\(directory)/link")
            try #require(unsafe symlink("file", link) == 0)
            #expect(!Files.exists(link))
            try Files.writeAtomically([1], to: link)
            #expect(Files.exists(link))
            #expect(try Files.canonical(link) == file)
            try Files.remove(link)
            #expect(Files.exists(file))
            #expect(failure { () throws(FileError) in try Files.remove(link) } == .notFound)
            #expect(failure { () throws(FileError) in try Files.remove(directory) } == .other)
        }
    }

    @Test("The modification time matches the file's")
    func modified() async throws {
        try await TemporaryDirectory.run { directory in
            try Files.writeAtomically([1], to: "\(directory)/a")
            let times = [timespec(tv_sec: 1, tv_nsec: 5), timespec(tv_sec: 1_700_000_000, tv_nsec: 250_000_000)]
            try #require(unsafe utimensat(AT_FDCWD, "\(directory)/a", times, 0) == 0)
            #expect(try Files.info("\(directory)/a").modified == .milliseconds(1_700_000_000_250))
        }
    }
}
