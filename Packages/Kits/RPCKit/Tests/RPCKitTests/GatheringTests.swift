import Capabilities
import JSON
import LoopKit
import Testing

@testable import RPCKit

/// While many messages come together, what is sent is gathered and written together.
@Suite("Messages that are written together", .timeLimit(.minutes(2)))
struct GatheringTests {
    private let loop = EventLoop()
    private static let burst = String(repeating: #"{"method":"n"}"# + "\n", count: 8)

    /// A connection that has just received a burst, and one that has not.
    private func with(
        bursts: Bool, limits: StreamTransport.Limits = StreamTransport.Limits(),
        _ body: @escaping @Sendable (RPCConnection, RawPeer) async throws -> Void
    ) async throws {
        let (ours, theirs) = try Peers.channels(on: loop)
        let recorder = Recorder()
        let connection = RPCConnection(
            to: "the peer", over: StreamTransport(ours, limits: limits), conventions: .test, handler: recorder)
        let peer = RawPeer(theirs)
        try await connection.whileRunning {
            // The call is answered by the last line of the piece, so that all of it has been read then.
            async let answer = connection.call("a")
            _ = try await peer.line()
            try await peer.write((bursts ? Self.burst : "") + #"{"id":1,"result":0}"# + "\n")
            #expect(try await answer == 0)
            try await body(connection, peer)
        }
        #expect(recorder.problems.isEmpty)
    }

    @Test("Everything is sent whole and in its order", arguments: [true, false])
    func order(bursts: Bool) async throws {
        try await with(bursts: bursts) { connection, peer in
            let long = String(repeating: "x", count: 200_000)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for number in 0..<5_000 {
                        let isLong = number % 1_000 == 7
                        try connection.notify("n", ["number": .int(number), "text": isLong ? .string(long) : nil])
                    }
                }
                for number in 0..<5_000 {
                    let message = try await peer.line()
                    #expect(message["params"]?["number"] == .int(number))
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("A peer that does not read is told by the limit's name", arguments: [true, false])
    func limit(bursts: Bool) async throws {
        try await with(bursts: bursts, limits: StreamTransport.Limits(outgoing: 1 << 20)) { connection, _ in
            let text = String(repeating: "x", count: 1_000)
            var failure: RPCFailure?
            for _ in 0..<100_000 where failure == nil {
                do throws(RPCFailure) { try connection.notify("n", ["text": .string(text)]) } catch { failure = error }
            }
            #expect(failure?.kind == .limit && failure?.message.contains("1.0 MiB") == true)
        }
    }

    @Test("A hundred calls at once get their own answers, and single ones go on at once")
    func many() async throws {
        let (left, right) = try Peers.channels(on: loop)
        let echo = Recorder { $0.params ?? nil }
        let one = RPCConnection(to: "right", over: StreamTransport(left), handler: Recorder())
        let two = RPCConnection(to: "left", over: StreamTransport(right), handler: echo)
        try await two.whileRunning {
            try await one.whileRunning {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<100 {
                        group.addTask {
                            for round in 0..<50 {
                                let value: JSONObject = ["number": .int(number), "round": .int(round)]
                                let answer = try await one.call("echo", value, within: .seconds(60))
                                #expect(answer == .object(value))
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                for round in 0..<100 {
                    #expect(try await one.call("echo", ["x": .int(round)], within: .seconds(60)) == ["x": .int(round)])
                }
            }
        }
    }

    @Test("Messages of any size come in their order")
    func sizes() async throws {
        let recorder = Recorder()
        let (ours, theirs) = try Peers.channels(on: loop)
        let connection = RPCConnection(to: "the peer", over: StreamTransport(ours), handler: recorder)
        let peer = RawPeer(theirs)
        try await connection.whileRunning {
            async let answer = connection.call("a")
            _ = try await peer.line()
            var text = ""
            for number in 0..<40 {
                let size = number % 3 == 0 ? 100_000 : 10
                text +=
                    #"{"method":"n","params":{"number":\#(number),"x":"\#(String(repeating: "x", count: size))"}}"#
                    + "\n"
            }
            try await peer.write(text + #"{"id":1,"result":0}"# + "\n")
            #expect(try await answer == 0)
        }
        #expect(recorder.notifications.map { $0.params?["number"] } == (0..<40).map { .int($0) })
    }

    @Test("What was gathered is written although the peer sends no more")
    func end() async throws {
        for _ in 0..<100 {
            let (ours, theirs) = try Peers.channels(on: loop)
            let (rest, last) = try Peers.channels(on: loop)
            // The peer ends its messages, and still reads.
            let transport = StreamTransport(OneWay(reading: ours, writing: rest))
            let (writer, reader) = (RawPeer(theirs), RawPeer(last))
            async let running: Void = transport.run { event in
                guard case .message(.notification(let notification)) = event, notification.method != "n" else { return }
                do { for _ in 0..<3 { try transport.send(.notification(notification)) } } catch { Issue.record(error) }
            }
            try await writer.write(Self.burst + #"{"method":"first"}"# + "\n")
            for _ in 0..<3 { #expect(try await reader.line()["method"] == "first") }
            try await writer.write(#"{"method":"last"}"# + "\n")
            writer.close()
            try await running
            for _ in 0..<3 { #expect(try await reader.line()["method"] == "last") }
        }
    }

    /// Reads from one channel and writes to the other.
    private struct OneWay: ByteChannel {
        let input: DescriptorChannel
        let output: DescriptorChannel

        init(reading input: DescriptorChannel, writing output: DescriptorChannel) {
            (self.input, self.output) = (input, output)
        }

        func read() async throws -> [UInt8]? { try await input.read() }
        func writeNow(_ bytes: [UInt8], from start: Int) throws -> Int { try output.writeNow(bytes, from: start) }
        func waitUntilWritable() async throws { try await output.waitUntilWritable() }
        func close() {
            input.close()
            output.close()
        }
    }
}
