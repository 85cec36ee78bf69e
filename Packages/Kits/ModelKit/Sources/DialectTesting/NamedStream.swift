import JSON

/// A stream as a server of some kind sends it, whose events are named as their `type` says, and what it means.
public struct NamedStream: Sendable, CustomStringConvertible {
    public let name: String
    public let stream: String
    public let expected: Reading
    /// Whether the vendor's own library puts the same together. Where it does not, the quirk is one that it does not know.
    public let isKnownToVendor: Bool

    /// - Parameter events: What the events say, each one a line of JSON.
    public init(_ name: String, isKnownToVendor: Bool = true, events: String, _ expected: Reading) {
        let lines = events.split(separator: "\n")
        self.init(name, isKnownToVendor: isKnownToVendor, lines.map(Self.event).joined(), expected)
    }

    public init(_ name: String, isKnownToVendor: Bool = true, _ stream: String, _ expected: Reading) {
        self.name = name
        self.stream = stream
        self.expected = expected
        self.isKnownToVendor = isKnownToVendor
    }

    public var description: String { name }
    public var bytes: [UInt8] { Array(stream.utf8) }

    public static func event(_ data: some StringProtocol) -> String {
        // What is no JSON is sent too, under a name that nobody knows.
        let json: JSON
        do { json = try JSON(parsing: String(data)) } catch { json = .null }
        return "event: \(json["type"]?.string ?? "unnamed")\ndata: \(data)\n\n"
    }
}
