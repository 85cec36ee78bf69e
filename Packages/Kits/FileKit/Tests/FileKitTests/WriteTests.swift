import Glibc
import Testing

@testable import FileKit

@Suite("Writing atomically", .timeLimit(.minutes(5)))
struct WriteTests {
    @Test("a new file is private, whatever the umask, and a given mode is exact", arguments: [nil, 0o644, 0o640])
    func newMode(mode: UInt32?) async throws {
        try await withTemporaryDirectory { directory in
            try Files.writeAtomically([1], to: "\(directory)/a", mode: mode)
            #expect(try Files.info("\(directory)/a").mode == mode ?? 0o600)
        }
    }

    @Test("the mode of an existing file is kept")
    func keptMode() async throws {
        try await withTemporaryDirectory { directory in
            try Files.writeAtomically([1], to: "\(directory)/a", mode: 0o664)
            try Files.writeAtomically([2], to: "\(directory)/a")
            #expect(try Files.info("\(directory)/a").mode == 0o664)
            #expect(try Files.read("\(directory)/a", limit: 9) == [2])
        }
    }

    @Test("a symbolic link stays and its target is replaced", arguments: ["real/a", "real/../real/a", "hop"])
    func link(target: String) async throws {
        try await withTemporaryDirectory { directory in
            try Files.makeDirectories("\(directory)/real")
            try #require(unsafe symlink("real/a", "\(directory)/hop") == 0)
            try #require(unsafe symlink(target, "\(directory)/link") == 0)
            for content: [UInt8] in [[1], [2, 2]] {
                // The first round meets a link whose target does not exist yet.
                try Files.writeAtomically(content, to: "\(directory)/link")
                #expect(try Files.read("\(directory)/real/a", limit: 9) == content)
                #expect(try Files.info("\(directory)/link", followLinks: false).kind == .symbolicLink)
            }
            #expect(try Files.list("\(directory)/real").map(\.name) == ["a"])
        }
    }

    @Test("what is no regular file is not replaced")
    func notRegular() async throws {
        try await withTemporaryDirectory { directory in
            try #require(unsafe mkfifo("\(directory)/pipe", 0o600) == 0)
            let cases: [(String, FileError.Kind)] = [
                (directory, .isDirectory), ("\(directory)/pipe", .notRegular), ("/dev/full", .notRegular),
                ("\(directory)/missing/a", .notFound), ("/etc/passwd/a", .notDirectory),
            ]
            for (path, code) in cases {
                #expect(failure { () throws(FileError) in try Files.writeAtomically([1], to: path) } == code)
            }
            #expect(try Files.list(directory).map(\.name) == ["pipe"])
        }
    }

    @Test("a full device is reported as full")
    func full() throws {
        let device = try FileDescriptor.open("/dev/full", O_WRONLY, for: "write")
        let bytes: [UInt8] = [1]
        #expect(failure { () throws(FileError) in try device.writeAll(bytes.span) } == .full)
    }

    @Test("a crash before the rename leaves the old file, and the next write succeeds")
    func crash() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/a"
            try Files.writeAtomically([1], to: path)
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
                let write = try AtomicWrite(replacing: path, mode: nil)
                let new: [UInt8] = [2, 2, 2]
                try write.write(new.span)
                kill(getpid(), SIGKILL)
            }
            #expect(try Files.list(directory).count == 2, "the killed writer had begun")
            #expect(try Files.read(path, limit: 9) == [1])
            try Files.writeAtomically([3], to: path)
            #expect(try Files.read(path, limit: 9) == [3])
        }
    }

    @Test("a write over the size limit of the process keeps the old file and removes the new")
    func sizeLimit() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/a"
            try Files.writeAtomically([1], to: path)
            await #expect(processExitsWith: .exitCode(42)) { [path = path as String] in
                signal(SIGXFSZ, SIG_IGN)
                var limit = rlimit(rlim_cur: 4096, rlim_max: 4096)
                try #require(unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
                let big = [UInt8](repeating: 7, count: 10_000)
                let code = failure { () throws(FileError) in try Files.writeAtomically(big, to: path) }
                exit(code == .tooLarge ? 42 : 1)
            }
            #expect(try Files.read(path, limit: 9) == [1])
            #expect(try Files.list(directory).map(\.name) == ["a"])
        }
    }

    @Test("a directory that the user may not write in is reported as denied")
    func denied() async throws {
        try await withTemporaryDirectory { directory in
            try Files.makeDirectories("\(directory)/locked", mode: 0o555)
            try #require(unsafe chmod(directory, 0o755) == 0)
            await #expect(processExitsWith: .exitCode(42)) { [directory = directory as String] in
                // Permissions do not bind root, so become nobody; an ordinary user stays who they are.
                if geteuid() == 0 { try #require(setuid(65534) == 0) }
                let code = failure { () throws(FileError) in
                    try Files.writeAtomically([1], to: "\(directory)/locked/a")
                }
                exit(code == .denied ? 42 : 1)
            }
        }
    }
}
