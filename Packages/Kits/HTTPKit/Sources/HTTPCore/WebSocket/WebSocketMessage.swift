/// A message of a WebSocket: a text or bytes.
public struct WebSocketMessage: Sendable, Hashable {
    /// The kind of a message.
    public enum Kind: Sendable, Hashable {
        case text, binary
    }

    /// Whether it is text or binary.
    public let kind: Kind
    /// The payload; that of a text is valid UTF-8.
    public let bytes: [UInt8]

    init(_ kind: Kind, _ bytes: [UInt8]) {
        self.kind = kind
        self.bytes = bytes
    }

    /// A text message.
    public static func text(_ text: String) -> WebSocketMessage {
        WebSocketMessage(.text, Array(text.utf8))
    }

    /// A binary message.
    public static func binary(_ bytes: [UInt8]) -> WebSocketMessage {
        WebSocketMessage(.binary, bytes)
    }

    /// The text; nil for a binary message.
    public var text: String? {
        kind == .text ? String(decoding: bytes, as: UTF8.self) : nil
    }
}

/// Why a side closed a WebSocket.
public struct WebSocketClose: Sendable, Hashable {
    /// Nil when the close frame has no code.
    public let code: WebSocketCloseCode?
    /// The reason for people; empty if the peer gave none.
    public let reason: String

    /// - Parameter code: nil for a close frame without a code; the reason is then not sent.
    public init(_ code: WebSocketCloseCode?, _ reason: String = "") {
        self.code = code
        self.reason = reason
    }
}

extension WebSocketClose: CustomStringConvertible {
    public var description: String {
        let code = code.map { "code \($0.rawValue)" } ?? "no code"
        return reason.isEmpty ? code : "\(code), \"\(reason)\""
    }
}

/// The code of a close reason (RFC 6455, section 7.4).
public struct WebSocketCloseCode: RawRepresentable, Sendable, Hashable {
    /// The number in the close frame.
    public let rawValue: UInt16

    /// Any code; `isValidOnWire` tells whether it may be sent.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The work is done.
    public static let normal = WebSocketCloseCode(rawValue: 1000)
    /// The server shuts down, or the user leaves the page.
    public static let goingAway = WebSocketCloseCode(rawValue: 1001)
    /// The peer violated the protocol.
    public static let protocolError = WebSocketCloseCode(rawValue: 1002)
    /// This side does not support that type of data.
    public static let unsupportedData = WebSocketCloseCode(rawValue: 1003)
    /// A text was not UTF-8.
    public static let invalidData = WebSocketCloseCode(rawValue: 1007)
    /// A message violates a rule of this side; used when no other code fits.
    public static let policyViolation = WebSocketCloseCode(rawValue: 1008)
    /// A message is larger than this side accepts.
    public static let tooLarge = WebSocketCloseCode(rawValue: 1009)
    /// The server did not select an extension that the client needs.
    public static let missingExtension = WebSocketCloseCode(rawValue: 1010)
    /// An unexpected error prevents this side from continuing.
    public static let internalError = WebSocketCloseCode(rawValue: 1011)
    /// The service restarts; the client may reconnect soon.
    public static let serviceRestart = WebSocketCloseCode(rawValue: 1012)
    /// The server is overloaded; the client should reconnect later.
    public static let tryAgainLater = WebSocketCloseCode(rawValue: 1013)

    /// Whether the code may be sent in a frame: 1004 to 1006 and 1015 may not, and below 3000 only registered ones.
    public var isValidOnWire: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}

/// The peer violated RFC 6455 or exceeded one of our limits; the connection must be closed with an error.
public struct WebSocketViolation: Error, Sendable, Hashable {
    /// The close code for the peer.
    public let closeCode: WebSocketCloseCode
    /// The problem in words: "a frame uses reserved bits".
    public let message: String

    init(_ closeCode: WebSocketCloseCode = .protocolError, _ message: String) {
        self.closeCode = closeCode
        self.message = message
    }
}
