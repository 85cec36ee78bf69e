import Capabilities
import JSON
import RPCKit
import Synchronization
import Testing

@testable import MCPKit

@Suite("Streams that are kept for clients that come back", .timeLimit(.minutes(1)))
struct ServerStreamTests {
    private static func notice(_ number: Int) -> RPCMessage {
        .notification(RPCNotification("notifications/progress", ["progressToken": 1, "progress": .int(number)]))
    }

    private static func change(_ address: String) -> RPCMessage {
        .notification(RPCNotification("notifications/resources/updated", ["uri": .string(address)]))
    }

    private static let answer = RPCMessage.response(RPCResponse(RPCID(1), .success([:])))

    /// The numbers of the events after one, until the stream ends.
    private static func numbers(_ stream: ServerStream, after number: Int = 0) async throws -> [Int] {
        var numbers: [Int] = []
        try await stream.play(after: number) { numbers += $0.map(\.number) }
        return numbers
    }

    @Test("Everything is read in order, and again from any place")
    func order() async throws {
        let stream = ServerStream(keeping: 1 << 20)
        for number in 1...5 { stream.append(Self.notice(number)) }
        stream.append(Self.answer)
        stream.finish()
        stream.append(Self.notice(9))
        #expect(try await Self.numbers(stream) == [1, 2, 3, 4, 5, 6])
        #expect(try await Self.numbers(stream, after: 4) == [5, 6])
        #expect(stream.goesOn(after: 5) && !stream.goesOn(after: 6) && !stream.goesOn(after: 7))
        #expect(!stream.goesOn(after: -1) && stream.written == 6)
        await #expect(throws: ServerStream.Gap.self) { try await Self.numbers(stream, after: 7) }
    }

    @Test("What is not read is bounded, except for answers")
    func flood() async throws {
        let stream = ServerStream(keeping: 1 << 20)
        for number in 0..<5_000 { stream.append(Self.notice(number)) }
        stream.append(Self.answer)
        stream.finish()
        #expect(try await Self.numbers(stream).count == 1_001)
        let large = ServerStream(keeping: 1_000)
        for number in 0..<100 { large.append(Self.notice(number)) }
        large.append(Self.answer)
        #expect(large.size < 2_300)
    }

    @Test("A change that waits is not told twice, and everything else is")
    func changes() async throws {
        let stream = ServerStream(keeping: 1 << 20)
        for _ in 0..<3 { for address in ["a", "b"] { stream.append(Self.change(address)) } }
        for _ in 0..<2 { stream.append(Self.notice(1)) }
        #expect(stream.goesOn(after: 4) && !stream.goesOn(after: 5))
        let reader = Task { try await Self.numbers(stream) }
        while stream.written < 4 {
            try Task.checkCancellation()
            await Task.yield()
        }
        // It was read, so that this is another change.
        stream.append(Self.change("a"))
        stream.finish()
        #expect(try await reader.value == [1, 2, 3, 4, 5])
    }

    @Test("What was read is dropped when it is too much, and who comes back for it is told")
    func ring() async throws {
        let stream = ServerStream(keeping: 500)
        let reader = Task { try await Self.numbers(stream) }
        for number in 1...50 {
            stream.append(Self.notice(number))
            while stream.written < number {
                try Task.checkCancellation()
                await Task.yield()
            }
        }
        stream.append(Self.answer)
        stream.finish()
        #expect(try await reader.value == Array(1...51))
        #expect(stream.size <= 500 && !stream.goesOn(after: 0) && stream.goesOn(after: 49))
        await #expect(throws: ServerStream.Gap.self) { try await Self.numbers(stream) }
    }

    @Test("A reader ends when another one comes, and when it is cancelled")
    func readers() async throws {
        let stream = ServerStream(keeping: 500)
        stream.append(Self.notice(1))
        let first = Task { try await Self.numbers(stream) }
        while stream.written < 1 {
            try Task.checkCancellation()
            await Task.yield()
        }
        let second = Task { try await Self.numbers(stream) }
        #expect(try await first.value == [1])
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
    }
}
