/// A message of a WebSocket: a text or bytes.
public struct WebSocketMessage: Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
        case text, binary
    }

    public let kind: Kind
    /// What was sent; that of a text is valid UTF-8.
    public let bytes: [UInt8]

    init(_ kind: Kind, _ bytes: [UInt8]) {
        self.kind = kind
        self.bytes = bytes
    }

    public static func text(_ text: String) -> WebSocketMessage {
        WebSocketMessage(.text, Array(text.utf8))
    }

    public static func binary(_ bytes: [UInt8]) -> WebSocketMessage {
        WebSocketMessage(.binary, bytes)
    }

    /// The text, when it is one.
    public var text: String? {
        kind == .text ? String(decoding: bytes, as: UTF8.self) : nil
    }
}
