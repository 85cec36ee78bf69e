import DialectTesting
import OpenAIDialect
import Testing

/// A stream of some kind of server, and its meaning.
struct Fixture: Sendable, CustomTestStringConvertible {
    let name: String
    let quirks: OpenAIQuirks
    let stream: String
    let expected: Reading
    /// Whether the vendor's own library reads the same. If not, it does not know the quirk.
    let isKnownToVendor: Bool

    init(
        _ name: String, _ quirks: OpenAIQuirks, isKnownToVendor: Bool = true, _ stream: String, _ expected: Reading
    ) {
        self.name = name
        self.quirks = quirks
        self.stream = stream + "\n\n"
        self.expected = expected
        self.isKnownToVendor = isKnownToVendor
    }

    var testDescription: String { name }
    var bytes: [UInt8] { Array(stream.utf8) }

    static let all = openAI + openRouter + local + gateway + calls + ends

    static func named(_ name: String) throws -> Fixture {
        try #require(all.first { $0.name == name })
    }
}
