import Capabilities
import JSON
public import RPCKit

/// What goes over the connection with a server, for those who watch it.
public enum ServerTraffic: Sendable {
    /// A message of ours.
    case sent(RPCMessage)
    /// A message of the server.
    case received(RPCMessage)
    /// The server sent something that is no message.
    case malformed(RPCMalformed)
    /// What was sent could not be delivered.
    case failed(any Error)

    /// Enough for everything but contents of files.
    private static let shown = 4_000

    /// In one line, for a person.
    public var line: String {
        switch self {
        case .sent(let message): "> \(Self.text(message))"
        case .received(let message): "< \(Self.text(message))"
        case .malformed(let malformed): "< (no message) \(PlainText.escape("\(malformed)", limit: Self.shown))"
        case .failed(let error): "< (failed) \(AnyFailure(error).message)"
        }
    }

    private static func text(_ message: RPCMessage) -> String {
        PlainText.escape(String(decoding: message.bytes, as: UTF8.self), limit: shown)
    }
}
