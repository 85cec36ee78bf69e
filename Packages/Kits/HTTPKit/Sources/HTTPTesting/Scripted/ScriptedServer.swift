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
/// Each connection plays the script on a thread of its own, since scripts are straight lines that block. When the body
/// ends, whatever is still open is reset and every thread has ended.
public final class ScriptedServer: Sendable {
    /// Where a server listens.
    public enum Address: Sendable, Hashable {
        /// 127.0.0.1, at a port of the system's choice.
        case loopback
        /// ::1, at a port of the system's choice.
        case loopback6
        case unix(path: String)
    }

    /// What a connection does, in blocking calls. A thrown `ScriptError` ends the connection and is recorded.
    public typealias Script = @Sendable (ScriptedConnection) throws -> Void

    /// The port, or 0 at a path.
    public let port: Int
    private let listener: Int32
    private let script: Script
    private let tls: ScriptedTLS?
    private let watched = Watched(ServerRecord())
    private let threads = Mutex(Threads())

    private struct Threads: ~Copyable {
        var isStopped = false
        /// The sockets of the connections whose threads run.
        var sockets: [Int: Int32] = [:]
    }

    /// How many threads run, the one that accepts among them.
    private let running = Watched(1)

    private init(_ address: Address, tls: ScriptedTLS?, _ script: @escaping Script) throws {
        (listener, port) = try Sockets.listen(at: address)
        self.tls = tls
        self.script = script
    }

    /// Runs a server for the length of `body`.
    ///
    /// - Parameters:
    ///   - tls: The certificate to show; without one the server speaks plainly.
    ///   - script: What each connection does; `ScriptedConnection.number` tells them apart.
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

    /// What has happened so far.
    public var record: ServerRecord { watched.value }

    /// Waits until the record meets the condition. A test that may wait in vain has a time limit, which cancels this.
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
        // Out of the list before it is closed: `stop` must not shut down a stranger's descriptor.
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
        // This wakes the thread that accepts; closing the descriptor would not.
        _ = shutdown(listener, Int32(SHUT_RDWR))
        // Also in a cancelled task: nothing may go on after the test.
        await running.reach { $0 == 0 }
    }
}

/// What a `ScriptedServer` has seen and done so far.
public struct ServerRecord: Sendable {
    /// Every connection in the order in which they came.
    public var connections: [Connection] = []

    /// How many connections are open now.
    public var openNow: Int { connections.count { $0.isOpen } }
    /// The requests of all connections, in the order of the connections.
    public var requests: [RecordedRequest] { connections.flatMap(\.requests) }
    /// How many bytes were sent to all connections.
    public var bytesSent: Int { connections.reduce(0) { $0 + $1.bytesSent } }
    /// How many bytes were received from all connections.
    public var bytesReceived: Int { connections.reduce(0) { $0 + $1.bytesReceived } }

    /// One connection.
    public struct Connection: Sendable {
        /// The requests whose heads were received.
        public var requests: [RecordedRequest] = []
        /// Bytes of the application: what TLS adds is not counted, and a refused handshake leaves 0.
        public var bytesReceived = 0
        /// Bytes that the socket has taken; the peer may not have read them.
        public var bytesSent = 0
        public var isOpen = true
        /// Whether the peer was seen to leave before the script was over.
        public var peerLeft = false
        /// What went wrong in the script, such as a TLS handshake that the peer broke off.
        public var failure: String?
    }
}

/// A request as it came.
public struct RecordedRequest: Sendable {
    public var method: String
    public var target: String
    public var version: String
    public var headers: HTTPHeaders
    /// What of the body the script received.
    public var body: [UInt8] = []

    /// Reads a head, leniently: a test may send what a server would refuse.
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

/// Why a script ended before its last line.
public enum ScriptError: Error, Sendable, Hashable {
    /// The peer closed or broke the connection.
    case peerLeft
    /// The test is over.
    case stopped
    /// Something else, in words.
    case failed(String)
}
