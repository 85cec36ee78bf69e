import JSON
import Testing

/// A stream as a server of some kind sends it, and what it means.
struct Fixture: Sendable, CustomTestStringConvertible {
    let name: String
    let stream: String
    let expected: Reading
    /// Whether the vendor's own library puts the same together. Where it does not, the quirk is one that it does not know.
    let isKnownToVendor: Bool

    /// - Parameter events: What the events say, each one a line of JSON. Each is named as its `type` says.
    init(_ name: String, isKnownToVendor: Bool = true, events: String, _ expected: Reading) {
        let lines = events.split(separator: "\n")
        self.init(name, isKnownToVendor: isKnownToVendor, lines.map(Self.event).joined(), expected)
    }

    init(_ name: String, isKnownToVendor: Bool = true, _ stream: String, _ expected: Reading) {
        self.name = name
        self.stream = stream
        self.expected = expected
        self.isKnownToVendor = isKnownToVendor
    }

    var testDescription: String { name }
    var bytes: [UInt8] { Array(stream.utf8) }

    static let all = texts + calls + ends

    static func event(_ data: some StringProtocol) -> String {
        let type = (try? JSON(parsing: String(data)))?["type"]?.string
        return "event: \(type ?? "unnamed")\ndata: \(data)\n\n"
    }
}
