import Glibc
import LoopKit
import Testing

@testable import RPCKit

@Suite("Streams that are shared with another program", .timeLimit(.minutes(1)))
struct SharedChannelTests {
    private let loop = EventLoop()

    private static func isBlocking(_ descriptor: Int32) -> Bool { fcntl(descriptor, F_GETFL) & O_NONBLOCK == 0 }

    /// Writes and reads through the channel; the other ends are read and written without Swift.
    private func check(input: [Int32], output: [Int32]) async throws {
        let channel = try DescriptorChannel(sharing: input[0], and: output[1], loop: loop)
        #expect(Self.isBlocking(input[0]) && Self.isBlocking(output[1]))
        async let read = channel.read()
        #expect(unsafe write(input[1], "abc", 3) == 3)
        #expect(try await read == Array("abc".utf8))
        #expect(try channel.writeNow(Array("xyz".utf8), from: 1) == 2)
        var bytes = [UInt8](repeating: 0, count: 10)
        #expect(unsafe Glibc.read(output[0], &bytes, 10) == 2 && bytes[0] == UInt8(ascii: "y"))
        // A peer that does not read must not hold a thread.
        var written = 0
        let much = [UInt8](repeating: 0x78, count: 1 << 20)
        while case let count = try channel.writeNow(much, from: 0), count > 0 { written += count }
        #expect(written > 0)
        channel.close()
        #expect(Self.isBlocking(input[0]) && fcntl(input[0], F_GETFD) >= 0)
        for descriptor in Set(input + output) { close(descriptor) }
    }

    @Test("Pipes stay blocking for the others, and are never blocked on")
    func pipes() async throws {
        var (one, two) = ([Int32](repeating: 0, count: 2), [Int32](repeating: 0, count: 2))
        try #require(unsafe pipe(&one) == 0 && pipe(&two) == 0)
        try await check(input: one, output: two)
    }

    @Test("So do sockets, as some programs give them to their children")
    func sockets() async throws {
        var (one, two) = ([Int32](repeating: 0, count: 2), [Int32](repeating: 0, count: 2))
        let stream = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        try #require(unsafe socketpair(AF_UNIX, stream, 0, &one) == 0 && socketpair(AF_UNIX, stream, 0, &two) == 0)
        try await check(input: one, output: two)
    }

    @Test("A file is read to its end")
    func file() async throws {
        let descriptor = try #require(unsafe fopen("/proc/self/status", "r").map { unsafe fileno($0) })
        let channel = try DescriptorChannel(sharing: descriptor, and: 1, loop: loop)
        var text: [UInt8] = []
        while let piece = try await channel.read() { text += piece }
        #expect(String(decoding: text, as: UTF8.self).contains("VmRSS"))
        close(descriptor)
    }
}
