/// What a frame is.
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
