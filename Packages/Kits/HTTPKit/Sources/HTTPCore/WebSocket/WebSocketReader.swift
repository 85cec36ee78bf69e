/// Parses frames and assembles messages, for one side, from bytes split anywhere.
///
/// Invalid or oversized frames are rejected by their header alone, so none of their payload is kept.
public struct WebSocketReader: Sendable {
    /// An input from the peer.
    public enum Input: Sendable, Hashable {
        case message(WebSocketMessage)
        case ping([UInt8])
        case pong([UInt8])
        /// The last input; later data is dropped.
        case close(WebSocketClose)
    }

    private struct Payload {
        let isFinal: Bool
        let opcode: WebSocketOpcode
        let length: Int
        var mask: WebSocketMask?
        var left: Int
    }

    private enum State {
        case header
        case payload(Payload)
        case ended
    }

    private let peer: WebSocketRole
    private let limits: WebSocketLimits
    private var buffer: [UInt8] = []
    private var start = 0
    private var state = State.header

    /// The kind of the unfinished message, which expects a continuation.
    private var kind: WebSocketMessage.Kind?
    private var message: [UInt8] = []
    private var checker = UTF8Checker()
    private var control: [UInt8] = []

    /// Creates a reader for the side `role`, which parses the other side's data.
    public init(role: WebSocketRole, limits: WebSocketLimits = WebSocketLimits()) {
        peer = role == .client ? .server : .client
        self.limits = limits
    }

    /// Adds received bytes; `next` parses them.
    public mutating func append(_ bytes: UnsafeRawBufferPointer) {
        makeRoom()
        unsafe buffer.append(contentsOf: bytes)
    }

    /// Lets `read` write to at most `capacity` free bytes; returns the number of bytes that it returned.
    public mutating func fill<Failure>(
        capacity: Int, _ read: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) -> Int {
        makeRoom()
        let before = buffer.count
        try buffer.append(addingCapacity: capacity) { (free: inout OutputSpan<UInt8>) throws(Failure) in
            try unsafe free.withUnsafeMutableBufferPointer { (space, filled) throws(Failure) in
                let space = UnsafeMutableRawBufferPointer(space)
                let room = unsafe UnsafeMutableRawBufferPointer(rebasing: space.prefix(capacity))
                filled = try unsafe max(read(room), 0)
            }
        }
        return buffer.count - before
    }

    /// The next input, or nil when more bytes are needed. A violation stops the reader for good.
    public mutating func next() throws(WebSocketViolation) -> Input? {
        do throws(WebSocketViolation) {
            while true {
                switch state {
                case .ended: return nil
                case .header: guard try readHeader() else { return nil }
                case .payload(var payload):
                    try readPayload(&payload)
                    state = .payload(payload)
                    guard payload.left == 0 else { return nil }
                    state = .header
                    if let input = try finish(payload) { return input }
                }
            }
        } catch {
            end()
            throw error
        }
    }

    /// Releases the buffer if it is empty, for an idle connection.
    public mutating func releaseMemory() {
        if start == buffer.count { (buffer, start) = ([], 0) }
    }

    private mutating func makeRoom() {
        if start == buffer.count {
            buffer.removeAll(keepingCapacity: true)
        } else if start > 0 {
            buffer.removeSubrange(..<start)
        }
        start = 0
    }

    private mutating func end() {
        state = .ended
        (buffer, start, message, control) = ([], 0, [], [])
    }
}

// MARK: Frames

extension WebSocketReader {
    private mutating func readHeader() throws(WebSocketViolation) -> Bool {
        let peer = peer
        let found = try unsafe buffer.withUnsafeBufferPointer { (all) throws(WebSocketViolation) in
            let rest = unsafe UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(all)[start...])
            return try unsafe WebSocketFrameHeader.read(rest, from: peer)
        }
        guard let (header, count) = found else { return false }
        try check(header)
        start += count
        state = .payload(
            Payload(
                isFinal: header.isFinal, opcode: header.opcode, length: header.length, mask: header.mask,
                left: header.length))
        return true
    }

    /// Checks the header before any memory is allocated for the frame.
    private mutating func check(_ header: WebSocketFrameHeader) throws(WebSocketViolation) {
        switch header.opcode {
        case .close, .ping, .pong: return control.reserveCapacity(header.length)
        case .continuation:
            guard kind != nil else {
                throw WebSocketViolation(.protocolError, "a frame continues a message that was not started")
            }
        case .text, .binary:
            guard kind == nil else {
                throw WebSocketViolation(.protocolError, "a message starts within another one")
            }
            kind = header.opcode == .text ? .text : .binary
        }
        guard header.length <= limits.message - message.count else {
            throw WebSocketViolation(.tooLarge, "a message is larger than the limit of \(limits.message) bytes")
        }
        // The peer's length justifies only a limited reservation, and only once: reserving for every fragment would
        // copy the message each time.
        if message.isEmpty { message.reserveCapacity(min(header.length, 1 << 18)) }
    }

    /// Moves the available payload to its place.
    private mutating func readPayload(_ payload: inout Payload) throws(WebSocketViolation) {
        let count = min(payload.left, buffer.count - start)
        guard count > 0 else { return }
        let range = start..<start + count
        start += count
        payload.left -= count
        if payload.opcode.isControl {
            Self.move(range, of: buffer, to: &control, payload.mask)
        } else {
            let before = message.count
            Self.move(range, of: buffer, to: &message, payload.mask)
            try checkText(from: before)
        }
        payload.mask = payload.mask?.advanced(by: count)
    }

    private static func move(
        _ range: Range<Int>, of source: [UInt8], to target: inout [UInt8], _ mask: WebSocketMask?
    ) {
        let before = target.count
        unsafe source.withUnsafeBytes { unsafe target.append(contentsOf: UnsafeRawBufferPointer(rebasing: $0[range])) }
        guard let mask else { return }
        unsafe target.withUnsafeMutableBytes { all in
            unsafe mask.apply(to: UnsafeMutableRawBufferPointer(rebasing: all[before...]))
        }
    }

    private mutating func checkText(from start: Int) throws(WebSocketViolation) {
        guard kind == .text else { return }
        let isValid = unsafe message.withUnsafeBytes { all in
            unsafe checker.accept(UnsafeRawBufferPointer(rebasing: all[start...]))
        }
        guard isValid else { throw WebSocketViolation(.invalidData, "a text is not UTF-8") }
    }
}

// MARK: Messages

extension WebSocketReader {
    private mutating func finish(_ payload: Payload) throws(WebSocketViolation) -> Input? {
        switch payload.opcode {
        case .ping: return .ping(takeControl())
        case .pong: return .pong(takeControl())
        case .close:
            let close = try Self.close(takeControl())
            end()
            return .close(close)
        case .continuation, .text, .binary:
            guard payload.isFinal, let kind else { return nil }
            guard kind == .binary || checker.isComplete else {
                throw WebSocketViolation(.invalidData, "a text ends within a character")
            }
            defer { (self.kind, message) = (nil, []) }
            return .message(WebSocketMessage(kind, message))
        }
    }

    private mutating func takeControl() -> [UInt8] {
        defer { control = [] }
        return control
    }

    private static func close(_ payload: [UInt8]) throws(WebSocketViolation) -> WebSocketClose {
        guard !payload.isEmpty else { return WebSocketClose(nil) }
        guard payload.count > 1 else {
            throw WebSocketViolation(.protocolError, "a close frame has half a code")
        }
        let code = WebSocketCloseCode(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
        guard code.isValidOnWire else {
            throw WebSocketViolation(
                .protocolError, "a close frame has the code \(code.rawValue), which is not allowed")
        }
        guard let reason = String(validating: payload[2...], as: UTF8.self) else {
            throw WebSocketViolation(.invalidData, "the reason of a close frame is not UTF-8")
        }
        return WebSocketClose(code, reason)
    }
}

/// Validates UTF-8 incrementally, in parts split anywhere; an error is detected at the first impossible byte.
struct UTF8Checker: Sendable {
    /// How many bytes the current character still needs.
    private var needed = 0
    /// The allowed range of the next byte: it is narrower after some start bytes.
    private var lower: UInt8 = 0x80
    private var upper: UInt8 = 0xBF

    /// Whether the input so far ends with a complete character.
    var isComplete: Bool { needed == 0 }

    /// Checks the next part; false when no continuation can make it valid.
    mutating func accept(_ buffer: UnsafeRawBufferPointer) -> Bool {
        guard let base = buffer.baseAddress else { return true }
        var index = 0
        while index < buffer.count {
            if needed == 0 {
                // Most text is ASCII for long stretches.
                while index + 8 <= buffer.count,
                    unsafe base.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
                {
                    index += 8
                }
                guard index < buffer.count else { break }
            }
            guard accept(unsafe base.load(fromByteOffset: index, as: UInt8.self)) else { return false }
            index += 1
        }
        return true
    }

    private mutating func accept(_ byte: UInt8) -> Bool {
        guard needed > 0 else { return begin(byte) }
        guard byte >= lower, byte <= upper else { return false }
        (needed, lower, upper) = (needed - 1, 0x80, 0xBF)
        return true
    }

    /// Checks the first byte of a character. Overlong forms, surrogates and code points above U+10FFFF are rejected.
    private mutating func begin(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x00...0x7F: break
        case 0xC2...0xDF: needed = 1
        case 0xE0: (needed, lower) = (2, 0xA0)
        case 0xED: (needed, upper) = (2, 0x9F)
        case 0xE1...0xEF: needed = 2
        case 0xF0: (needed, lower) = (3, 0x90)
        case 0xF1...0xF3: needed = 3
        case 0xF4: (needed, upper) = (3, 0x8F)
        default: return false
        }
        return true
    }
}
