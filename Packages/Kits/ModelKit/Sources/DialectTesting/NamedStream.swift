import JSON

/// A stream of some kind of server, whose events are named by their `type`, and its meaning.
public struct NamedStream: Sendable, CustomStringConvertible {
    /// The name of the case, for failure messages.
    public let name: String
    /// The whole `text/event-stream`.
    public let stream: String
    /// What a reader of the dialect must read from it.
    public let expected: Reading
    /// Whether the vendor's own library reads the same. If not, it does not know the quirk.
    public let isKnownToVendor: Bool

    /// - Parameter events: the events, each one a line of JSON.
    public init(_ name: String, isKnownToVendor: Bool = true, events: String, _ expected: Reading) {
        let lines = events.split(separator: "\n")
        self.init(name, isKnownToVendor: isKnownToVendor, lines.map(Self.event).joined(), expected)
    }

    /// - Parameter stream: the whole `text/event-stream`.
    public init(_ name: String, isKnownToVendor: Bool = true, _ stream: String, _ expected: Reading) {
        self.name = name
        self.stream = stream
        self.expected = expected
        self.isKnownToVendor = isKnownToVendor
    }

    public var description: String { name }
    /// The stream as a server sends it.
    public var bytes: [UInt8] { Array(stream.utf8) }

    /// One event of a stream, named by the `type` in its data.
    public static func event(_ data: some StringProtocol) -> String {
        // Lines that are not JSON are also sent, under an unknown name.
        let json: JSON
        do { json = try JSON(parsing: String(data)) } catch { json = .null }
        return "event: \(json["type"]?.string ?? "unnamed")\ndata: \(data)\n\n"
    }
}
