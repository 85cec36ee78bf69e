/// A frame to be sent.
public struct WebSocketFrame: Sendable, Hashable {
    /// The type; `.continuation` for every frame of a message but the first.
    public var opcode: WebSocketOpcode
    /// Whether it is the last frame of its message.
    public var isFinal: Bool
    /// The payload, without a mask.
    public var payload: [UInt8]

    /// By default a whole message in one frame.
    public init(_ opcode: WebSocketOpcode, _ payload: [UInt8] = [], isFinal: Bool = true) {
        self.opcode = opcode
        self.isFinal = isFinal
        self.payload = payload
    }

    /// Appends the frame to `bytes`. A client's frame needs an unpredictable mask, a server's frame has none.
    public func append(to bytes: inout [UInt8], mask: UInt32?) {
        let mask = mask.map(WebSocketMask.init)
        let header = WebSocketFrameHeader(isFinal: isFinal, opcode: opcode, mask: mask, length: payload.count)
        bytes.reserveCapacity(bytes.count + WebSocketFrameHeader.maximumLength + payload.count)
        header.append(to: &bytes)
        let start = bytes.count
        unsafe payload.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
        guard let mask else { return }
        unsafe bytes.withUnsafeMutableBytes { all in
            unsafe mask.apply(to: UnsafeMutableRawBufferPointer(rebasing: all[start...]))
        }
    }
}

/// The type of a frame.
public enum WebSocketOpcode: UInt8, Sendable, Hashable {
    case continuation = 0
    case text = 1
    case binary = 2
    case close = 8
    case ping = 9
    case pong = 10

    /// Control frames are short, whole, and may stand between the frames of a message.
    public var isControl: Bool { rawValue >= 8 }
}

/// The header of a frame: its type and length.
struct WebSocketFrameHeader: Sendable, Hashable {
    var isFinal: Bool
    var opcode: WebSocketOpcode
    var mask: WebSocketMask?
    var length: Int

    /// No header is longer.
    static let maximumLength = 14

    /// How many bytes a header has that begins with these two.
    private static func length(_ second: UInt8) -> Int {
        let extended = second & 0x7F == 126 ? 2 : second & 0x7F == 127 ? 8 : 0
        return 2 + extended + (second & 0x80 == 0 ? 0 : 4)
    }

    /// Parses a header at the start of `bytes`; nil when more bytes are needed. An error is detected as soon as its
    /// byte has arrived.
    static func read(
        _ bytes: UnsafeRawBufferPointer, from peer: WebSocketRole
    ) throws(WebSocketViolation) -> (header: WebSocketFrameHeader, count: Int)? {
        guard let base = bytes.baseAddress, bytes.count > 0 else { return nil }
        let first = unsafe base.load(as: UInt8.self)
        guard first & 0x70 == 0 else {
            throw WebSocketViolation(.protocolError, "a frame uses reserved bits, but no extension was negotiated")
        }
        guard let opcode = WebSocketOpcode(rawValue: first & 0x0F) else {
            throw WebSocketViolation(.protocolError, "a frame has the unknown opcode \(first & 0x0F)")
        }
        let isFinal = first & 0x80 != 0
        guard isFinal || !opcode.isControl else {
            throw WebSocketViolation(.protocolError, "a control frame is fragmented")
        }
        guard bytes.count > 1 else { return nil }
        let second = unsafe base.load(fromByteOffset: 1, as: UInt8.self)
        let isMasked = second & 0x80 != 0
        guard isMasked == (peer == .client) else {
            throw WebSocketViolation(
                .protocolError, isMasked ? "a frame from the server is masked" : "a frame from the client is not masked"
            )
        }
        guard second & 0x7F <= 125 || !opcode.isControl else {
            throw WebSocketViolation(.protocolError, "a control frame is longer than 125 bytes")
        }
        let count = length(second)
        guard bytes.count >= count else { return nil }
        let mask = isMasked ? unsafe base.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self) : nil
        let header = WebSocketFrameHeader(
            isFinal: isFinal, opcode: opcode, mask: mask.map(WebSocketMask.init),
            length: try unsafe payload(second, base))
        return (header, count)
    }

    private static func payload(_ second: UInt8, _ base: UnsafeRawPointer) throws(WebSocketViolation) -> Int {
        switch second & 0x7F {
        case 126:
            let length = Int(UInt16(bigEndian: unsafe base.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
            if length > 125 { return length }
        case 127:
            let length = UInt64(bigEndian: unsafe base.loadUnaligned(fromByteOffset: 2, as: UInt64.self))
            guard length <= UInt64(Int64.max) else {
                throw WebSocketViolation(.protocolError, "the length of a frame has its highest bit set")
            }
            if length > 0xFFFF { return Int(length) }
        case let short: return Int(short)
        }
        throw WebSocketViolation(.protocolError, "the length of a frame uses more bytes than necessary")
    }

    /// Writes the header to the end of `bytes`.
    func append(to bytes: inout [UInt8]) {
        bytes.append((isFinal ? 0x80 : 0) | opcode.rawValue)
        let maskBit: UInt8 = mask == nil ? 0 : 0x80
        switch length {
        case ...125: bytes.append(maskBit | UInt8(length))
        case ...0xFFFF:
            bytes.append(maskBit | 126)
            unsafe withUnsafeBytes(of: UInt16(length).bigEndian) { unsafe bytes.append(contentsOf: $0) }
        default:
            bytes.append(maskBit | 127)
            unsafe withUnsafeBytes(of: UInt64(length).bigEndian) { unsafe bytes.append(contentsOf: $0) }
        }
        if let mask { unsafe withUnsafeBytes(of: mask.bytes) { unsafe bytes.append(contentsOf: $0) } }
    }
}

/// The four bytes with which a client masks its data, so that no intermediary mistakes it for HTTP.
struct WebSocketMask: Sendable, Hashable {
    /// In the order of memory.
    let bytes: UInt32

    init(bytes: UInt32) {
        self.bytes = bytes
    }

    /// The mask for the data after `count` bytes of a frame.
    func advanced(by count: Int) -> WebSocketMask {
        let bits = UInt32(count & 3) * 8
        // The first byte in memory is the lowest of a little-endian number.
        let value = UInt32(littleEndian: bytes)
        return WebSocketMask(bytes: (value >> bits | value << ((32 - bits) & 31)).littleEndian)
    }

    /// Masks or unmasks in place, eight bytes at a time.
    func apply(to buffer: UnsafeMutableRawBufferPointer) {
        guard let base = buffer.baseAddress else { return }
        let wide = UInt64(bytes) << 32 | UInt64(bytes)
        var offset = 0
        while offset + 8 <= buffer.count {
            let value = unsafe base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            unsafe base.storeBytes(of: value ^ wide, toByteOffset: offset, as: UInt64.self)
            offset += 8
        }
        // The lowest byte of the little-endian number is the next in memory.
        var rest = UInt32(littleEndian: bytes)
        while offset < buffer.count {
            let value = unsafe base.load(fromByteOffset: offset, as: UInt8.self)
            unsafe base.storeBytes(of: value ^ UInt8(truncatingIfNeeded: rest), toByteOffset: offset, as: UInt8.self)
            rest >>= 8
            if (offset & 3) == 3 { rest = UInt32(littleEndian: bytes) }
            offset += 1
        }
    }
}
