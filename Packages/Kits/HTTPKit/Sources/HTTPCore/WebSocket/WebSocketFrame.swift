/// A frame to be sent.
public struct WebSocketFrame: Sendable, Hashable {
    public var opcode: WebSocketOpcode
    public var isFinal: Bool
    public var payload: [UInt8]

    public init(_ opcode: WebSocketOpcode, _ payload: [UInt8] = [], isFinal: Bool = true) {
        self.opcode = opcode
        self.isFinal = isFinal
        self.payload = payload
    }

    /// Writes the frame to the end of `bytes`; a client's with a mask that nobody can foretell, a server's without.
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
