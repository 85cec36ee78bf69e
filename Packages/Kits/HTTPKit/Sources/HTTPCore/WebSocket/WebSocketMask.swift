/// The four bytes with which a client changes what it sends, so that nothing on the way takes it for HTTP.
struct WebSocketMask: Sendable, Hashable {
    /// In the order of memory.
    let bytes: UInt32

    init(bytes: UInt32) {
        self.bytes = bytes
    }

    /// The mask for what follows after `count` bytes of a frame.
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
