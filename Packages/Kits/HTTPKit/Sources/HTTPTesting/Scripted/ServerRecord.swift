public import HTTPCore

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
