/// The first bytes of a frame: what it is and how long.
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

    /// Reads a header at the start of `bytes`; nil when more bytes are needed. What is wrong is seen as soon as its
    /// byte is there.
    static func read(
        _ bytes: UnsafeRawBufferPointer, from peer: WebSocketRole
    ) throws(WebSocketViolation) -> (header: WebSocketFrameHeader, count: Int)? {
        guard let base = bytes.baseAddress, bytes.count > 0 else { return nil }
        let first = unsafe base.load(as: UInt8.self)
        guard first & 0x70 == 0 else {
            throw WebSocketViolation(.protocolError, "a frame uses reserved bits, and no extension was agreed on")
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
                .protocolError, isMasked ? "a frame of the server is masked" : "a frame of the client is not masked")
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
        throw WebSocketViolation(.protocolError, "the length of a frame is written with more bytes than it needs")
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
