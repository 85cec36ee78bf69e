import Capabilities
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import Synchronization
import Testing

/// The Python peer of these tests, `websocket.py`, while it runs.
struct WebSocketPeer: Sendable {
    let port: Int
    let rawPort: Int
    let client = WebSocketClient(withoutCaller: .person)

    func connect(_ path: String, isRaw: Bool = false) async throws -> WebSocket {
        try await client.connect(WebSocketRequest("ws://127.0.0.1:\(isRaw ? rawPort : port)\(path)"))
    }

    /// Opens a WebSocket on which the raw server sends these bytes.
    func frames(_ bytes: [UInt8], id: Int, _ more: String = "") async throws -> WebSocket {
        try await connect("/frames?id=\(id)&hex=\(hex(bytes))\(more)", isRaw: true)
    }

    /// The peer's log of a connection.
    func log(_ id: Int) async throws -> JSON {
        let socket = try await connect("/log?id=\(id)")
        let message = try #require(try await socket.receive())
        await socket.close()
        return try JSON(parsing: message.bytes)
    }

    /// Runs the peer for the length of `body`.
    static func run(_ body: @Sendable (WebSocketPeer) async throws -> Void) async throws {
        try await PythonPeer.run(file: PythonPeer.path("websocket.py")) { python in
            let rawPort = try #require(try await python.nextLine().flatMap { Int($0) })
            try await body(WebSocketPeer(port: python.port, rawPort: rawPort))
        }
    }
}

func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

/// Percent-encodes a text for a query, except for letters and digits.
func escaped(_ text: String) -> String {
    text.utf8.map { byte in
        let isPlain = (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
        return isPlain ? String(UnicodeScalar(byte)) : "%" + hex([byte])
    }.joined()
}

/// Counts the passed rows of a table.
final class Tally: Sendable {
    private let count = Mutex(0)

    func pass() { count.withLock { $0 += 1 } }

    func report(_ name: String) { print("\(name): \(count.withLock { $0 }) cases passed") }
}
