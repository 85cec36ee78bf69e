public import Capabilities
public import JSON
public import StorageKit

/// What a conversation is called for good: the second of its beginning and eight random letters, such as
/// `20261121-213045-k7f3qd8z`.
///
/// Ids sort by time, and people need not type them whole: the letters at the end, or the first few of these, will do.
public struct ConversationID: RawRepresentable, Sendable, Hashable, OutputValue, CustomStringConvertible {
    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The letters at the end, which no other conversation has.
    public var tag: String { rawValue.split(separator: "-").last.map(String.init) ?? rawValue }

    public var description: String { rawValue }
    public var json: JSON { .string(rawValue) }
    public static var schema: Schema { .string }

    /// The first letter of a tag is no digit, by which it is told from the beginning of a whole id. Letters that look
    /// like others are left out.
    private static let letters = Array("abcdefghjkmnpqrstvwxyz")
    private static let signs = Array("abcdefghjkmnpqrstvwxyz0123456789")

    init(at time: Timestamp, using random: inout some RandomNumberGenerator) {
        var tag = ""
        for place in 0..<8 {
            let choice = place == 0 ? Self.letters : Self.signs
            tag.append(choice[Int.random(in: choice.indices, using: &random)])
        }
        let digits = time.iso8601.prefix(19).filter { $0 != "-" && $0 != ":" }
        rawValue = "\(digits.replacing("T", with: "-"))-\(tag)"
    }
}

extension ConversationID: Storable {}

/// What a message is called, in the whole history. Newer messages have larger numbers.
public struct MessageID: RawRepresentable, Sendable, Hashable, Comparable, OutputValue, CustomStringConvertible {
    public let rawValue: Int64

    public init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    public var description: String { String(rawValue) }
    public var json: JSON { .int(Int(rawValue)) }
    public static var schema: Schema { .integer(nil) }
    public static func < (left: MessageID, right: MessageID) -> Bool { left.rawValue < right.rawValue }
}

extension MessageID: Storable {}
