import CoreTesting
import Foundation
import JSON
import Testing

@Suite("Comparison with Foundation", .timeLimit(.minutes(5)))
struct DifferentialTests {
    @Test("The same texts read as the same values")
    func reading() throws {
        let seed = SeededGenerator.seed(for: "differential")
        var random = RandomJSON(seed: seed)
        for _ in 0..<300 {
            let text = random.value().text(random.generator.chance(50) ? .pretty : [])
            let ours = try JSON(parsing: text)
            let theirs = try JSONDecoder().decode(Peer.self, from: Data(text.utf8))
            #expect(theirs.equals(ours), "seed \(seed): \(text)")
        }
    }

    @Test("Foundation reads our output")
    func peerOutput() throws {
        let object: [String: Any] = [
            "text": "é😀\"\\/\n\u{1}", "list": [1, -2, 3.25, true, NSNull()], "nested": ["": [String: String]()],
        ]
        let data = try JSONSerialization.data(withJSONObject: object, options: [.prettyPrinted])
        let expected: JSON = [
            "text": "é😀\"\\/\n\u{1}", "list": [1, -2, 3.25, true, nil], "nested": ["": [:]],
        ]
        #expect(try JSON(parsing: Array(data)) == expected)
    }
}

/// A value as `JSONDecoder` sees it.
private enum Peer: Decodable {
    case null, bool(Bool), number(Double), string(String), array([Peer]), object([String: Peer])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([Peer].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: Peer].self))
        }
    }

    func equals(_ value: JSON) -> Bool {
        switch self {
        case .null: value.isNull
        case .bool(let bool): value.bool == bool
        case .number(let number): value.double == number
        case .string(let text): value.string == text
        case .array(let elements):
            value.array?.count == elements.count && zip(elements, value.array ?? []).allSatisfy { $0.equals($1) }
        case .object(let members):
            value.object?.count == members.count
                && members.allSatisfy { key, member in value[key].map(member.equals) ?? false }
        }
    }
}
