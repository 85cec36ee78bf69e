import CoreTesting
import Glibc
import Testing

@testable import FileKit

@Suite("Reading", .timeLimit(.minutes(5)))
struct ReadTests {
    @Test("Written data is read back", arguments: [0, 1, 4096, 1 << 20])
    func roundTrip(size: Int) async throws {
        try await TemporaryDirectory.run { directory in
            let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            try Files.writeAtomically(bytes, to: "\(directory)/a")
            #expect(try Files.read("\(directory)/a", limit: size) == bytes)
        }
    }

    @Test("A file one byte over the limit is refused, and the error names the limit")
    func limit() async throws {
        try await TemporaryDirectory.run { directory in
            let path = "\(directory)/a"
            try Files.writeAtomically([1, 2, 3], to: path)
            let error = try #require(throws: FileError.self) { try Files.read(path, limit: 2) }
            #expect(error.kind == .tooLarge)
            #expect(error.message == "cannot read \(path): it is larger than the limit of 2 bytes")
        }
    }

    @Test("A sparse file of 5 GB is refused without being read")
    func sparse() async throws {
        try await TemporaryDirectory.run { directory in
            try Files.writeAtomically([], to: "\(directory)/big")
            try #require(unsafe truncate("\(directory)/big", 5 << 30) == 0)
            #expect(
                failure { () throws(FileError) in _ = try Files.read("\(directory)/big", limit: 1 << 20) } == .tooLarge)
        }
    }

    @Test("A file that reports size zero is read to its end, within the limit")
    func proc() throws {
        #expect(try Files.info("/proc/self/status").size == 0)
        #expect(try Files.read("/proc/self/status", limit: 1 << 16).starts(with: "Name:".utf8))
        #expect(failure { () throws(FileError) in _ = try Files.read("/proc/self/status", limit: 9) } == .tooLarge)
    }

    @Test("A FIFO without a writer is refused at once")
    func fifo() async throws {
        try await TemporaryDirectory.run { directory in
            try #require(unsafe mkfifo("\(directory)/pipe", 0o600) == 0)
            let code = failure { () throws(FileError) in _ = try Files.read("\(directory)/pipe", limit: 10) }
            #expect(code == .notRegular)
        }
    }

    @Test(
        "Anything but a readable file is refused with the reason",
        arguments: [
            ("/", FileError.Kind.isDirectory), ("/dev/zero", .notRegular), ("/nowhere/at/all", .notFound),
            ("/etc/passwd/below", .notDirectory), (String(repeating: "n", count: 300), .other),
        ])
    func refused(path: String, code: FileError.Kind) {
        #expect(failure { () throws(FileError) in _ = try Files.read(path, limit: 10) } == code)
    }

    @Test("A loop of symbolic links is an error")
    func loop() async throws {
        try await TemporaryDirectory.run { directory in
            try #require(unsafe symlink("b", "\(directory)/a") == 0)
            try #require(unsafe symlink("a", "\(directory)/b") == 0)
            #expect(failure { () throws(FileError) in _ = try Files.read("\(directory)/a", limit: 1) } == .symlink)
            #expect(failure { () throws(FileError) in try Files.writeAtomically([], to: "\(directory)/a") } == .symlink)
        }
    }
}
