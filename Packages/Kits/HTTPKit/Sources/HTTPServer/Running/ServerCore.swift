import Capabilities
import Glibc
import HTTPCore
import JSON
import LoopKit
import Synchronization

/// What all connections of a server share.
final class ServerCore: Sendable {
    let routes: Routes
    let configuration: ServerConfiguration
    let limits: ServerLimits
    let dateLine = DateLine()
    let connections = ConnectionSet()
    /// The event streams, which get a sign of life when they are silent.
    let streams = ConnectionSet()
    /// Each client belongs to one of them, on whose thread it is served. The first also listens.
    let loops: [EventLoop]
    let files = FileThreads()
    let isEnding = Atomic(false)
    private let handlers = Atomic(0)
    private let lastID = Atomic<UInt64>(0)
    // Two servers, or two runs of one, should not name two requests alike.
    private let idPrefix: String

    init(_ routes: Routes, _ configuration: ServerConfiguration) {
        self.routes = routes
        self.configuration = configuration
        limits = configuration.limits
        loops = (0..<Self.loopCount).map { _ in EventLoop() }
        idPrefix = String(UInt32.random(in: .min ... .max), radix: 36) + "-"
    }

    /// A thread for each processor, but not so many that a large machine has more threads than clients.
    private static var loopCount: Int { min(max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1), 4) }

    /// The loop for a client.
    func loop(of id: UInt64) -> EventLoop { loops[Int(id % UInt64(loops.count))] }

    func newID() -> String {
        idPrefix + String(lastID.add(1, ordering: .relaxed).newValue, radix: 36)
    }

    /// The client's own id where it has a harmless one, so that one name follows a request through several programs.
    func requestID(_ head: HTTPRequestHead) -> String {
        guard let given = head.headers["X-Request-ID"], !given.isEmpty, given.utf8.count <= 64,
            given.utf8.allSatisfy({ HTTPHeaders.isTokenByte($0) })
        else { return newID() }
        return given
    }

    /// Counts a handler that begins, and throws when there are too many; otherwise `leave` has to follow.
    @inline(never)
    func enter() throws {
        guard handlers.add(1, ordering: .relaxed).newValue <= limits.handlers else {
            leave()
            throw RequestProblem.unavailable("the server is busy with \(limits.handlers) requests", retryAfter: 1)
        }
    }

    /// Counts a handler that ends.
    @inline(never)
    func leave() {
        handlers.subtract(1, ordering: .relaxed)
    }
}
