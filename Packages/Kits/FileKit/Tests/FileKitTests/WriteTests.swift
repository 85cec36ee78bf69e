import Capabilities
import CoreTesting
import Glibc
import Testing

@testable import FileKit

@Suite("Atomic writes", .timeLimit(.minutes(5)))
struct WriteTests {
    @Test(
        "A new file is private whatever the umask, and an explicit mode is applied exactly",
        arguments: [nil, 0o644, 0o640])
    func newMode(mode: UInt32?) async throws {
        try await TemporaryDirectory.run { directory in
            try Files.writeAtomically([1], to: "\(directory)/a", mode: mode)
            #expect(try Files.info("\(directory)/a").mode == mode ?? 0o600)
        }
    }

    @Test("An existing file keeps its mode")
    func keptMode() async throws {
        try await TemporaryDirectory.run { directory in
            try Files.writeAtomically([1], to: "\(directory)/a", mode: 0o664)
            try Files.writeAtomically([2], to: "\(directory)/a")
            #expect(try Files.info("\(directory)/a").mode == 0o664)
            #expect(try Files.read("\(directory)/a", limit: 9) == [2])
        }
    }

    @Test("A symbolic link is kept and its target is replaced", arguments: ["real/a", "real/../real/a", "hop"])
    func link(target: String) async throws {
        try await TemporaryDirectory.run { directory in
            try Files.makeDirectories("\(directory)/real")
            try #require(unsafe symlink("real/a", "\(directory)/hop") == 0)
            try #require(unsafe symlink(target, "\(directory)/link") == 0)
            for content: [UInt8] in [[1], [2, 2]] {
                // In the first round the target of the link does not exist yet.
                try Files.writeAtomically(content, to: "\(directory)/link")
                #expect(try Files.read("\(directory)/real/a", limit: 9) == content)
                #expect(try Files.info("\(directory)/link", followLinks: false).kind == .symbolicLink)
            }
            #expect(try Files.list("\(directory)/real").map(\.name) == ["a"])
        }
    }

    @Test("Anything but a regular file is not replaced")
    func notRegular() async throws {
        try await TemporaryDirectory.run { directory in
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

    @Test("A full device is reported as full")
    func full() throws {
        let device = try FileDescriptor.open("/dev/full", O_WRONLY, for: "write")
        let bytes: [UInt8] = [1]
        #expect(failure { () throws(FileError) in try device.writeAll(bytes.span) } == .full)
    }

    @Test("A crash before the rename leaves the old file, and the next write succeeds")
    func crash() async throws {
        try await TemporaryDirectory.run { directory in
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
            #expect(try Files.list(directory).map(\.name) == ["a"], "what the killed one left is removed")
        }
    }

    @Test("Temporary files of active writers are not removed, however many there are")
    func together() async throws {
        try await TemporaryDirectory.run { directory in
            let path = "\(directory)/a"
            let first = try AtomicWrite(replacing: path, mode: nil)
            let new: [UInt8] = [1]
            try first.write(new.span)
            for number in 2...20 { try Files.writeAtomically([UInt8(number)], to: path) }
            #expect(try Files.list(directory).count == 2)
            try first.commit()
            #expect(try Files.read(path, limit: 9) == [1])
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        for _ in 0..<20 {
                            let bytes = [UInt8](repeating: UInt8(number), count: 10_000)
                            #expect(
                                failure { () throws(FileError) in try Files.writeAtomically(bytes, to: path) } == nil)
                        }
                    }
                }
            }
            let bytes = try Files.read(path, limit: 1 << 20)
            #expect(bytes.count == 10_000 && Set(bytes).count == 1)
            #expect(try Files.list(directory).map(\.name) == ["a"])
        }
    }

    @Test("A written file is not locked, even while a child that is about to start has copies of all descriptors")
    func unlocked() async throws {
        try await TemporaryDirectory.run { directory in
            let write = try AtomicWrite(replacing: "\(directory)/a", mode: nil)
            let name = try #require(try Files.list(directory).first?.name)
            let copy = try #require(try copyOfDescriptor(on: "\(directory)/\(name)"))
            defer { close(copy) }
            #expect(unsafe system("flock --nonblock \(directory)/\(name) true") != 0)
            try write.commit()
            #expect(unsafe system("flock --nonblock \(directory)/a true") == 0)
        }
    }

    @Test("A file with the longest possible name can be written")
    func longName() async throws {
        try await TemporaryDirectory.run { directory in
            let path = "\(directory)/\(String(repeating: "n", count: 255))"
            try Files.writeAtomically([1], to: path)
            #expect(try Files.read(path, limit: 9) == [1])
        }
    }

    @Test("A path with a zero byte is refused, and nothing is written at the truncated path")
    func zero() async throws {
        try await TemporaryDirectory.run { directory in
            let path = "\(directory)/good\0/../../evil"
            let calls: [() throws -> Void] = [
                { try Files.writeAtomically([1], to: path) }, { _ = try Files.read(path, limit: 1) },
                { try Files.makeDirectories(path) }, { _ = try Files.list(path) }, { _ = try Files.info(path) },
                { _ = try Files.canonical(path) }, { try Files.remove(path) },
                { try Files.rename(directory, toNew: path) }, { _ = try FileLock.tryAcquire(path) },
            ]
            for call in calls {
                let error = #expect(throws: FileError.self) { try call() }
                #expect(error?.kind == .invalid)
            }
            try Files.writeAtomically([1], to: "\(directory)/good")
            #expect(!Files.exists(path) && !Files.isWritable(path))
            #expect(try Files.list(directory).map(\.name) == ["good"])
        }
    }

    @Test("Files in a directory whose name begins with a combining accent are written there")
    func accents() async throws {
        try await TemporaryDirectory.run { directory in
            try Files.makeDirectories("\(directory)/\u{301}a")
            try Files.writeAtomically([1], to: "\(directory)/\u{301}a/\u{301}b")
            #expect(try Files.list(directory).map(\.name) == ["\u{301}a"])
            #expect(try Files.list("\(directory)/\u{301}a").map(\.name) == ["\u{301}b"])
            #expect(PathParts("/\u{301}a").folder == "/")
        }
    }

    @Test("Root does not change the owner of a file", .enabled(if: geteuid() == 0))
    func owner() async throws {
        try await TemporaryDirectory.run { directory in
            let path = "\(directory)/a"
            try Files.writeAtomically([1], to: path, mode: 0o640)
            try #require(unsafe chown(path, 65534, 65533) == 0)
            try Files.writeAtomically([2], to: path)
            var status = stat()
            try #require(unsafe stat(path, &status) == 0)
            #expect(status.st_uid == 65534 && status.st_gid == 65533 && status.st_mode & 0o7777 == 0o640)
        }
    }

    @Test("The permissions of an access control list are kept")
    func accessList() async throws {
        try await TemporaryDirectory.run { directory in
            let path = "\(directory)/a"
            try Files.writeAtomically([1], to: path, mode: 0o640)
            // Version 2; the owner and the user 65534 may read, the owner may also write, the group may do nothing, and
            // the mask is read.
            let list: [UInt8] =
                [2, 0, 0, 0] + [1, 0, 6, 0, 255, 255, 255, 255] + [2, 0, 4, 0, 254, 255, 0, 0]
                + [4, 0, 0, 0, 255, 255, 255, 255] + [16, 0, 4, 0, 255, 255, 255, 255]
                + [32, 0, 0, 0, 255, 255, 255, 255]
            let file = try FileDescriptor.open(path, O_RDWR, for: "read")
            // Some file systems have no access control lists.
            guard AccessList(bytes: list).set(on: file) else { return }
            try Files.writeAtomically([2], to: path)
            #expect(AccessList(of: path)?.bytes == list)
            try Files.writeAtomically([3], to: path, mode: 0o600)
            #expect(AccessList(of: path) == nil, "a mode that is asked for is all there is")
        }
    }

    @Test("A file is renamed only if the new name is free")
    func renamed() async throws {
        try await TemporaryDirectory.run { directory in
            try Files.writeAtomically([1], to: "\(directory)/a")
            try Files.writeAtomically([2], to: "\(directory)/b")
            let kind = failure { () throws(FileError) in try Files.rename("\(directory)/a", toNew: "\(directory)/b") }
            #expect(kind == .exists)
            try Files.rename("\(directory)/a", toNew: "\(directory)/c")
            #expect(try Files.list(directory).map(\.name) == ["b", "c"])
            #expect(try Files.read("\(directory)/b", limit: 9) == [2])
        }
    }

    @Test("A write beyond the process's file size limit keeps the old file and removes the new one")
    func sizeLimit() async throws {
        try await TemporaryDirectory.run { directory in
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

    @Test("A directory without write permission is reported as denied")
    func denied() async throws {
        try await TemporaryDirectory.run { directory in
            try Files.makeDirectories("\(directory)/locked", mode: 0o555)
            try #require(unsafe chmod(directory, 0o755) == 0)
            await #expect(processExitsWith: .exitCode(42)) { [directory = directory as String] in
                // Permissions do not restrict root, so root becomes the user nobody; other users stay.
                if geteuid() == 0 { try #require(setuid(65534) == 0) }
                let code = failure { () throws(FileError) in
                    try Files.writeAtomically([1], to: "\(directory)/locked/a")
                }
                exit(code == .denied ? 42 : 1)
            }
        }
    }
}
