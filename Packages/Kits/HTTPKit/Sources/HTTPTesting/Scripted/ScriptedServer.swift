import Glibc
public import HTTPCore
import LoopKit
import Synchronization

/// A server that follows a test's script exactly, to the byte, and records what it received.
///
///     try await ScriptedServer.run { connection in
///         try connection.receiveHead()
///         try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
///         connection.reset()
///     } during: { server in
///         // talk to 127.0.0.1 at server.port
///         try await server.until { $0.openNow == 0 }
///     }
///
/// Each connection runs the script on a separate thread, because scripts are straight-line code that blocks. When the
/// body ends, open connections are reset, and the server waits until every thread has ended.
public final class ScriptedServer: Sendable {
    /// The address at which a server listens.
    public enum Address: Sendable, Hashable {
        /// 127.0.0.1, at a port of the system's choice.
        case loopback
        /// ::1, at a port of the system's choice.
        case loopback6
        /// A Unix socket at this path.
        case unix(path: String)
    }

    /// The blocking calls of one connection. A thrown `ScriptError` ends the connection and is recorded.
    public typealias Script = @Sendable (ScriptedConnection) throws -> Void

    /// The port, or 0 for a path.
    public let port: Int
    private let listener: Int32
    private let script: Script
    private let tls: ScriptedTLS?
    private let watched = Watched(ServerRecord())
    private let threads = Mutex(Threads())

    private struct Threads: ~Copyable {
        var isStopped = false
        /// The sockets of the connections with a running thread.
        var sockets: [Int: Int32] = [:]
    }

    /// The number of running threads, including the one that accepts.
    private let running = Watched(1)

    private init(_ address: Address, tls: ScriptedTLS?, _ script: @escaping Script) throws {
        (listener, port) = try Sockets.listen(at: address)
        self.tls = tls
        self.script = script
    }

    /// Runs a server for the length of `body`.
    ///
    /// - Parameters:
    ///   - tls: The server's certificate; without one the server does not use TLS.
    ///   - script: The script of each connection; `ScriptedConnection.number` distinguishes them.
    public static func run<Result>(
        at address: Address = .loopback, tls: ScriptedTLS? = nil, isolation: isolated (any Actor)? = #isolation,
        _ script: @escaping Script, during body: (ScriptedServer) async throws -> Result
    ) async throws -> Result {
        let server = try ScriptedServer(address, tls: tls, script)
        do {
            _ = try OwnThread { server.acceptAll() }
        } catch {
            close(server.listener)
            throw error
        }
        let result: Swift.Result<Result, any Error>
        do { result = .success(try await body(server)) } catch { result = .failure(error) }
        await server.stop()
        return try result.get()
    }

    /// The record so far.
    public var record: ServerRecord { watched.value }

    /// Waits until the record meets the condition. Give a test a time limit, which cancels the wait if the condition is
    /// never met.
    @discardableResult
    public func until(_ condition: @escaping @Sendable (ServerRecord) -> Bool) async throws -> ServerRecord {
        try await watched.first(where: condition)
    }

    // MARK: - Threads

    private func acceptAll() {
        while true {
            let socket = accept(listener, nil, nil)
            guard socket >= 0 else {
                if errno == EINTR || errno == ECONNABORTED { continue }
                break
            }
            _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
            Sockets.sendAtOnce(socket)
            let number = watched.change { record in
                record.connections.append(ServerRecord.Connection())
                return record.connections.count - 1
            }
            let mayStart = threads.withLock { threads in
                guard !threads.isStopped else { return false }
                threads.sockets[number] = socket
                return true
            }
            guard mayStart else {
                close(socket)
                continue
            }
            running.change { $0 += 1 }
            do {
                _ = try OwnThread { self.play(number, socket) }
            } catch {
                finish(number, socket, failure: error.message)
            }
        }
        close(listener)
        running.change { $0 -= 1 }
    }

    private func play(_ number: Int, _ socket: Int32) {
        var failure: String?
        var peerLeft = false
        do {
            let transport = try tls?.accept(socket) ?? PlainTransport(socket)
            let connection = ScriptedConnection(number: number, transport: transport, record: watched) { [self] in
                threads.withLock { $0.isStopped }
            }
            defer { connection.end() }
            try script(connection)
        } catch ScriptError.peerLeft {
            peerLeft = true
        } catch ScriptError.stopped {
        } catch ScriptError.failed(let words) {
            failure = words
        } catch {
            failure = String(describing: error)
        }
        finish(number, socket, failure: failure, peerLeft: peerLeft)
    }

    private func finish(_ number: Int, _ socket: Int32, failure: String?, peerLeft: Bool = false) {
        // Removed from the list before it is closed: otherwise `stop` could shut down an unrelated descriptor with the
        // same number.
        threads.withLock { _ = $0.sockets.removeValue(forKey: number) }
        close(socket)
        watched.change { record in
            record.connections[number].isOpen = false
            record.connections[number].failure = failure
            if peerLeft { record.connections[number].peerLeft = true }
        }
        running.change { $0 -= 1 }
    }

    private func stop() async {
        threads.withLock { threads in
            threads.isStopped = true
            for socket in threads.sockets.values {
                Sockets.resetOnClose(socket)
                _ = shutdown(socket, Int32(SHUT_RDWR))
            }
        }
        // This wakes the accepting thread; closing the descriptor would not.
        _ = shutdown(listener, Int32(SHUT_RDWR))
        // Also in a cancelled task: nothing may continue after the test.
        await running.reach { $0 == 0 }
    }
}

/// Everything that a `ScriptedServer` has received and sent so far.
public struct ServerRecord: Sendable {
    /// Every connection in order of arrival.
    public var connections: [Connection] = []

    /// The number of open connections.
    public var openNow: Int { connections.count { $0.isOpen } }
    /// The requests of all connections, in the order of the connections.
    public var requests: [RecordedRequest] { connections.flatMap(\.requests) }
    /// The number of bytes sent to all connections.
    public var bytesSent: Int { connections.reduce(0) { $0 + $1.bytesSent } }
    /// The number of bytes received from all connections.
    public var bytesReceived: Int { connections.reduce(0) { $0 + $1.bytesReceived } }

    /// One connection.
    public struct Connection: Sendable {
        /// The requests whose heads were received.
        public var requests: [RecordedRequest] = []
        /// Application bytes: TLS overhead is not counted, and a refused handshake leaves 0.
        public var bytesReceived = 0
        /// Bytes that the socket has accepted; the peer may not have read them.
        public var bytesSent = 0
        /// False after the script has ended and the connection was closed.
        public var isOpen = true
        /// Whether the peer left before the script was over.
        public var peerLeft = false
        /// Why the script failed, such as a TLS handshake that the peer broke off.
        public var failure: String?
    }
}

/// A request as it was received.
public struct RecordedRequest: Sendable {
    /// The first word of the request line; empty if there is none.
    public var method: String
    /// The second word of the request line, such as `/v1/models?limit=5`; empty if there is none.
    public var target: String
    /// The third word of the request line, such as `HTTP/1.1`; empty if there is none.
    public var version: String
    /// The header lines in the order received.
    public var headers: HTTPHeaders
    /// The part of the body that the script received.
    public var body: [UInt8] = []

    /// Parses a head leniently: a test may send one that a server would refuse.
    init(head: [UInt8]) {
        let lines = String(decoding: head, as: UTF8.self).split(whereSeparator: \.isNewline)
        let words = (lines.first ?? "").split(separator: " ", maxSplits: 2).map(String.init)
        method = words.first ?? ""
        target = words.count > 1 ? words[1] : ""
        version = words.count > 2 ? words[2] : ""
        headers = HTTPHeaders(
            lines.dropFirst().map { line in
                let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                return (name: String(parts[0]), value: parts.count > 1 ? String(parts[1].trimmingSpaces) : "")
            })
    }
}

/// Why a script ended early.
public enum ScriptError: Error, Sendable, Hashable {
    /// The peer closed or broke the connection.
    case peerLeft
    /// The test is over.
    case stopped
    /// Another reason, in words.
    case failed(String)
}
