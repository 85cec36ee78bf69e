/// One side of an open WebSocket without its connection: messages in, bytes out, and the other way around.
///
/// It answers pings and the closing handshake by itself. The owner sends the bytes of `takeOutput`, and passes in
/// received bytes.
public struct WebSocketMachine: Sendable {
    /// The phase of the closing handshake.
    public enum Phase: Sendable, Hashable {
        /// Messages can be sent and may arrive.
        case open
        /// This side has started to close; messages may still arrive.
        case closing
        /// Both sides have closed; the value is the peer's close.
        case closed(WebSocketClose)
        /// The peer violated the protocol and was told so.
        case failed(WebSocketViolation)
    }

    /// How far the closing handshake is.
    public private(set) var phase = Phase.open
    private let role: WebSocketRole
    private let makeMask: @Sendable () -> UInt32
    private var reader: WebSocketReader
    private var output: [UInt8] = []
    // Only the last ping needs an answer (section 5.5.3), so a peer that sends nothing else cannot fill the memory.
    private var pong: [UInt8]?

    /// Creates a side after its handshake. By default, a client's masks are system random numbers.
    public init(
        role: WebSocketRole, limits: WebSocketLimits = WebSocketLimits(),
        makeMask: @escaping @Sendable () -> UInt32 = { UInt32.random(in: .min ... .max) }
    ) {
        self.role = role
        self.makeMask = makeMask
        reader = WebSocketReader(role: role, limits: limits)
    }

    /// Whether nothing more will come.
    public var isOver: Bool {
        switch phase {
        case .open, .closing: false
        case .closed, .failed: true
        }
    }
}

// MARK: To the peer

extension WebSocketMachine {
    /// Queues a message; false, and nothing is sent, once this side has closed.
    public mutating func send(_ message: WebSocketMessage) -> Bool {
        guard phase == .open else { return false }
        write(message.kind == .text ? .text : .binary, message.bytes)
        return true
    }

    /// Queues a ping with at most 125 bytes, which come back in a pong; false once this side has closed.
    public mutating func ping(_ payload: [UInt8] = []) -> Bool {
        guard phase == .open, payload.count <= 125 else { return false }
        write(.ping, payload)
        return true
    }

    /// Starts the closing handshake unless it has started. The reason is cut to 123 bytes.
    public mutating func close(_ close: WebSocketClose) {
        guard phase == .open else { return }
        writeClose(close)
        phase = .closing
    }

    /// Whether `takeOutput` would return bytes.
    public var hasOutput: Bool { !output.isEmpty || pong != nil }

    /// Returns the bytes to send now, in whole frames.
    public mutating func takeOutput() -> [UInt8] {
        if let payload = pong {
            write(.pong, payload)
            pong = nil
        }
        defer { output = [] }
        return output
    }

    private mutating func write(_ opcode: WebSocketOpcode, _ payload: [UInt8]) {
        WebSocketFrame(opcode, payload).append(to: &output, mask: role == .client ? makeMask() : nil)
    }

    private mutating func writeClose(_ close: WebSocketClose) {
        // Nothing may follow a close.
        pong = nil
        var payload: [UInt8] = []
        if let code = close.code, code.isValidOnWire {
            payload = [UInt8(code.rawValue >> 8), UInt8(code.rawValue & 0xFF)]
            var reason = Substring(close.reason)
            while reason.utf8.count > 123 { reason.removeLast() }
            payload += reason.utf8
        }
        write(.close, payload)
    }
}

// MARK: From the peer

extension WebSocketMachine {
    /// Adds received bytes; `next` parses them.
    public mutating func append(_ bytes: UnsafeRawBufferPointer) {
        unsafe reader.append(bytes)
    }

    /// Lets `read` write to at most `capacity` free bytes; returns the number of bytes that it returned.
    public mutating func fill<Failure>(
        capacity: Int, _ read: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) -> Int {
        try unsafe reader.fill(capacity: capacity, read)
    }

    /// The next input, or nil when more bytes are needed; pings and a close are answered already.
    ///
    /// When the peer breaks a rule this throws once, with the close frame for it queued.
    public mutating func next() throws(WebSocketViolation) -> WebSocketReader.Input? {
        do throws(WebSocketViolation) {
            let input = try reader.next()
            switch input {
            case .ping(let payload): if phase == .open { pong = payload }
            case .close(let close):
                if phase == .open { writeClose(WebSocketClose(close.code)) }
                phase = .closed(close)
            case .message, .pong, nil: break
            }
            return input
        } catch {
            if phase == .open { writeClose(WebSocketClose(error.closeCode, error.message)) }
            phase = .failed(error)
            throw error
        }
    }

    /// Releases the input buffer, for an idle connection.
    public mutating func releaseMemory() {
        reader.releaseMemory()
    }
}

/// The side of a WebSocket: a client masks its data, and a server must not.
public enum WebSocketRole: Sendable {
    case client, server
}

/// What a peer may make this side keep in memory.
public struct WebSocketLimits: Sendable, Hashable {
    /// The bytes of a message, whatever the number of its frames.
    public var message: Int

    /// Limits in bytes; by default 16 MiB for a message. A larger message is a violation of the protocol.
    public init(message: Int = 16 << 20) {
        self.message = message
    }
}
