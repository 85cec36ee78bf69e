import Capabilities
import Glibc
import LoopKit
import Synchronization

/// An HTTP/1.1 server.
///
/// ```swift
/// let routes = try Routes([
///     Route(.get, "/hello/{name}", "hello", "A greeting", .path("name", "Whom")) { _, name in "Hello, \(name)" }
/// ])
/// try await HTTPServer(routes).run { addresses in print(addresses[0]) }     // until the task is cancelled
/// ```
///
/// One task serves each connection, on the thread of its loop, and nothing runs outside of `run`. A handler must
/// therefore not block, and long computations belong elsewhere. When its task is cancelled, the server accepts no more
/// clients, lets running handlers finish within a limit, cancels the rest, and returns.
public struct HTTPServer: Sendable {
    private let routes: Routes
    private let configuration: ServerConfiguration

    /// Creates the server without opening a socket.
    public init(_ routes: Routes, _ configuration: ServerConfiguration = ServerConfiguration()) {
        self.routes = routes
        self.configuration = configuration
    }

    /// Serves until the task is cancelled. `started` is called with the listen addresses once they are open.
    ///
    /// Throws `ServerError` when it cannot listen. Cancellation is its normal end, not an error.
    public func run(_ started: @escaping @Sendable ([BoundAddress]) async -> Void = { _ in }) async throws {
        try await run(ServerCore(routes, configuration), started)
    }

    /// Like `run`, with the state that all connections share.
    func run(_ core: ServerCore, _ started: @escaping @Sendable ([BoundAddress]) async -> Void) async throws {
        Self.raiseDescriptorLimit()
        let listeners = try makeListeners(core)
        defer {
            core.files.end()
            for loop in core.loops { loop.stop() }
        }
        let (ending, signal) = AsyncStream.makeStream(of: Never.self)
        // An unstructured task, because a cancelled task could not let its children finish. It is awaited right here.
        let work = Task {
            // A request belongs to the trace of its client, or begins one, and not to that of whoever runs the server.
            await TraceContext.$current.withValue(nil) { await Self.serve(listeners, core, ending, started) }
        }
        await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            core.isEnding.store(true, ordering: .sequentiallyConsistent)
            for listener in listeners { listener.close() }
            signal.finish()
        }
    }

    private func makeListeners(_ core: ServerCore) throws -> [Listener] {
        var listeners: [Listener] = []
        do {
            for address in configuration.addresses {
                if !address.isLocal, configuration.authenticate == nil {
                    throw ServerError(
                        .configuration,
                        "cannot listen at \(address): other machines can reach it, so an authenticator is required")
                }
                listeners.append(
                    try Listener(address, allowed: configuration.hosts, loop: core.loops[0]))
            }
        } catch {
            for listener in listeners { listener.close() }
            for loop in core.loops { loop.stop() }
            throw error
        }
        return listeners
    }

    /// Thousands of streams need more descriptors than the default soft limit allows.
    private static func raiseDescriptorLimit() {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0,
            limit.rlim_cur < limit.rlim_max
        else { return }
        limit.rlim_cur = limit.rlim_max
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}

// MARK: The tasks of a server

extension HTTPServer {
    private static func serve(
        _ listeners: [Listener], _ core: ServerCore, _ ending: AsyncStream<Never>,
        _ started: @escaping @Sendable ([BoundAddress]) async -> Void
    ) async {
        await withDiscardingTaskGroup { group in
            group.addTask { await started(listeners.map(\.facts.address)) }
            group.addTask { await beat(core) }
            group.addTask { await end(core, after: ending) }
            await withDiscardingTaskGroup { clients in
                for listener in listeners {
                    clients.addTask(executorPreference: core.loops[0].executor) { await accept(at: listener, core) }
                }
            }
            group.cancelAll()
        }
    }

    /// Accepts clients until the listener is closed; returns after the last of them was served.
    private static func accept(at listener: Listener, _ core: ServerCore) async {
        await withDiscardingTaskGroup { group in
            var goesOn = true
            while goesOn {
                switch listener.descriptor.accept() {
                case .moved(let descriptor):
                    guard let connection = admit(Int32(descriptor), listener.facts, core) else { continue }
                    group.addTask(executorPreference: core.loop(of: connection.id).executor) {
                        await connection.run()
                        core.connections.remove(connection)
                        core.connections.giveBack(connection.peer)
                    }
                case .wouldBlock: goesOn = await isWorthATry(listener.descriptor)
                // The client disconnected before it was accepted.
                case .failed(ECONNABORTED), .failed(EPROTO): continue
                // Descriptors or memory are exhausted until a connection closes.
                case .failed: goesOn = await pause(.milliseconds(50))
                case .closed: goesOn = false
                }
            }
        }
    }

    private static func isWorthATry(_ descriptor: LoopDescriptor) async -> Bool {
        do { return try await descriptor.readable() == .ready } catch { return false }
    }

    /// False when the task was cancelled.
    private static func pause(_ time: Duration) async -> Bool {
        do { try await Task.sleep(for: time) } catch { return false }
        return true
    }

    private static func admit(_ descriptor: Int32, _ facts: ListenerFacts, _ core: ServerCore) -> Connection? {
        let peer = facts.address.port == nil ? PeerAddress.unix : PeerAddress(ofPeerAt: descriptor)
        let limits = core.limits
        guard let id = core.connections.admit(peer, limit: limits.connections, perPeer: limits.connectionsPerPeer)
        else {
            refuse(descriptor)
            return nil
        }
        let connection: Connection
        do {
            let watched = try LoopDescriptor(owning: descriptor, loop: core.loop(of: id))
            let transport = try facts.tls.map { Transport.tls(try TLSChannel($0, descriptor)) } ?? .plain
            connection = Connection(id: id, watched, transport, peer: peer, listener: facts, core: core)
        } catch {
            // Memory is exhausted, or the loop cannot watch it; it is already closed.
            core.connections.giveBack(peer)
            return nil
        }
        core.connections.add(connection)
        // The shutdown may have begun in between, and would have missed this connection.
        if core.isEnding.load(ordering: .sequentiallyConsistent) { connection.drain() }
        return connection
    }

    /// Tells a client that there are too many connections, without reading its request.
    private static func refuse(_ descriptor: Int32) {
        let answer =
            "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n"
        _ = unsafe Array(answer.utf8).withUnsafeBytes { bytes in
            unsafe send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        }
        shutdown(descriptor, Int32(SHUT_WR))
        close(descriptor)
    }

    /// Sends heartbeats to silent event streams.
    private static func beat(_ core: ServerCore) async {
        let interval = core.limits.heartbeat
        while await pause(min(.seconds(1), interval / 4)) {
            let now = ContinuousClock.now
            for connection in core.streams.all { connection.heartbeat(quietFor: interval, now: now) }
        }
    }

    /// Runs after the shutdown began: idle clients are closed at once, others after their response, and those left at
    /// the time limit are cancelled.
    private static func end(_ core: ServerCore, after ending: AsyncStream<Never>) async {
        for await _ in ending {}
        let connections = core.connections.all
        // All are marked before the first is closed: a client that sees one end may rely on the end of the others.
        for connection in connections { connection.state.withLock { $0.isLast = true } }
        for connection in connections { connection.drain() }
        guard await pause(core.limits.drain) else { return }
        for connection in core.connections.all { connection.abort() }
    }
}

/// The open connections of one kind.
final class ConnectionSet: Sendable {
    private struct State {
        var open: [UInt64: Connection] = [:]
        var perPeer: [PeerAddress: Int] = [:]
        var lastID: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Counts one more connection of the peer, if the limits allow it.
    func admit(_ peer: PeerAddress, limit: Int, perPeer: Int?) -> UInt64? {
        state.withLock { state in
            guard state.open.count < limit else { return nil }
            if let perPeer {
                guard state.perPeer[peer, default: 0] < perPeer else { return nil }
                state.perPeer[peer, default: 0] += 1
            }
            state.lastID += 1
            return state.lastID
        }
    }

    func add(_ connection: Connection) {
        state.withLock { $0.open[connection.id] = connection }
    }

    func remove(_ connection: Connection) {
        // This may release the last reference, which should not happen under the lock.
        let removed = state.withLock { state in state.open.removeValue(forKey: connection.id) }
        _ = removed
    }

    /// Removes a connection that was counted for a peer.
    func giveBack(_ peer: PeerAddress) {
        state.withLock { state in
            if let count = state.perPeer[peer] { state.perPeer[peer] = count > 1 ? count - 1 : nil }
        }
    }

    var all: [Connection] { state.withLock { Array($0.open.values) } }
    var count: Int { state.withLock { $0.open.count } }
}
