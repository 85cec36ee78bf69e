import CoreTesting
import FileKit
import Glibc
import Testing

@Suite("File lock", .timeLimit(.minutes(5)))
struct FileLockTests {
    @Test("Another program is locked out until the lock is released")
    func otherProgram() async throws {
        try await TemporaryDirectory.run { directory in
            let path = "\(directory)/lock"
            let lock = try await FileLock.acquire(path, within: .zero)
            #expect(unsafe system("flock --nonblock \(path) true") != 0)
            lock.release()
            #expect(unsafe system("flock --nonblock \(path) true") == 0)
        }
    }

    @Test("A released lock is free, even while a child that is about to start has copies of all descriptors")
    func copied() async throws {
        try await TemporaryDirectory.run { directory in
            let path = "\(directory)/lock"
            let lock = try await FileLock.acquire(path, within: .zero)
            let copy = try #require(try copyOfDescriptor(on: path))
            defer { close(copy) }
            lock.release()
            #expect(unsafe system("flock --nonblock \(path) true") == 0)
        }
    }

    @Test("Two writers that use the lock lose no update")
    func twoWriters() async throws {
        try await TemporaryDirectory.run { directory in
            try Files.writeAtomically(Array("0".utf8), to: "\(directory)/count")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        for _ in 0..<50 {
                            let lock = try await FileLock.acquire("\(directory)/lock", within: .seconds(30))
                            let text = String(decoding: try Files.read("\(directory)/count", limit: 9), as: UTF8.self)
                            let next = try #require(Int(text)) + 1
                            try Files.writeAtomically(Array("\(next)".utf8), to: "\(directory)/count")
                            lock.release()
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try Files.read("\(directory)/count", limit: 9) == Array("100".utf8))
        }
    }

    @Test("A wait for a held lock ends at its time limit")
    func bounded() async throws {
        try await TemporaryDirectory.run { directory in
            let held = try FileLock.tryAcquire("\(directory)/lock")
            let error = await #expect(throws: FileError.self) {
                _ = try await FileLock.acquire("\(directory)/lock", within: .milliseconds(20))
            }
            #expect(error?.kind == .busy)
            held?.release()
        }
    }

    @Test("A cancelled wait ends")
    func cancelled() async throws {
        try await TemporaryDirectory.run { directory in
            let held = try FileLock.tryAcquire("\(directory)/lock")
            let waiting = Task {
                let lock = try await FileLock.acquire("\(directory)/lock", within: .seconds(3600))
                lock.release()
            }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
            held?.release()
        }
    }

    @Test("A symbolic link in place of the lock file is refused")
    func symbolicLink() async throws {
        try await TemporaryDirectory.run { directory in
            try #require(unsafe symlink("elsewhere", "\(directory)/lock") == 0)
            #expect(failure { () throws(FileError) in _ = try FileLock.tryAcquire("\(directory)/lock") } == .symlink)
            #expect(!Files.exists("\(directory)/elsewhere"))
        }
    }
}
