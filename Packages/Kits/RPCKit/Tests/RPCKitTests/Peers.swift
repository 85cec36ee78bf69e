import Glibc
import JSON
import LoopKit
import Synchronization

@testable import RPCKit

/// Both ends of a connection.
enum Peers {
    /// Two channels that are connected with each other.
    static func channels(on loop: EventLoop) throws -> (DescriptorChannel, DescriptorChannel) {
        var ends: [Int32] = [0, 0]
        guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0
        else { throw RPCFailure(.closed, "no socket pair") }
        func channel(_ descriptor: Int32) throws -> DescriptorChannel {
            let watched = try LoopDescriptor(owning: descriptor, loop: loop)
            return DescriptorChannel(reading: watched, writing: watched)
        }
        return (try channel(ends[0]), try channel(ends[1]))
    }
}

/// A peer that writes and reads text as a test tells it to.
final class RawPeer: Sendable {
    private let channel: DescriptorChannel
    private let rest = Mutex([UInt8]())

    init(_ channel: DescriptorChannel) {
        self.channel = channel
    }

    func write(_ text: String) async throws {
        let bytes = Array(text.utf8)
        var written = 0
        while written < bytes.count {
            let count = try channel.writeNow(bytes, from: written)
            written += count
            if count == 0 { try await channel.waitUntilWritable() }
        }
    }

    /// The next line as JSON; null at the end.
    func line() async throws -> JSON {
        while true {
            let line = rest.withLock { rest -> [UInt8]? in
                guard let end = rest.firstIndex(of: 0x0A) else { return nil }
                defer { rest.removeFirst(end + 1) }
                return Array(rest[..<end])
            }
            if let line { return try JSON(parsing: line) }
            guard let piece = try await channel.read() else { return nil }
            rest.withLock { $0 += piece }
        }
    }

    func close() { channel.close() }
}

/// Keeps what it is told, and answers by a closure.
final class Recorder: RPCHandler {
    private struct Heard {
        var notifications: [RPCNotification] = []
        var problems: [RPCProblem] = []
    }
    private let heard = Mutex(Heard())
    private let answering: @Sendable (RPCRequest) async throws -> JSON

    init(_ answering: @escaping @Sendable (RPCRequest) async throws -> JSON = { throw RPCError.noMethod($0.method) }) {
        self.answering = answering
    }

    var notifications: [RPCNotification] { heard.withLock { $0.notifications } }
    var problems: [RPCProblem] { heard.withLock { $0.problems } }
    func answer(_ request: RPCRequest) async throws -> JSON { try await answering(request) }
    func receive(_ notification: RPCNotification) { heard.withLock { $0.notifications.append(notification) } }
    func tell(_ problem: RPCProblem) { heard.withLock { $0.problems.append(problem) } }
}

extension RPCConventions {
    static let test = RPCConventions(
        cancellation: Notice("cancelled", "requestId"), progress: Notice("progress", "token"),
        progressToken: ["_meta", "token"])
}

/// What progress was told.
final class Steps: Sendable {
    private let steps = Mutex([JSON?]())
    var all: [JSON?] { steps.withLock { $0 } }
    func add(_ step: JSON?) { steps.withLock { $0.append(step) } }
}
