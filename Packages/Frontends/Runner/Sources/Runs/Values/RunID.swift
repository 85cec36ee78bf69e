public import Capabilities
import JSON

/// What a run is called: the time of its beginning and four letters, so that a list of names is in the order of time.
public struct RunID: Sendable, Hashable, CustomStringConvertible {
    public let text: String

    public init(_ text: String) {
        self.text = text
    }

    public static func new(at time: Timestamp) -> RunID {
        let digits = time.iso8601.prefix(19).filter { $0 != "-" && $0 != ":" }
        let letters = (0..<4).map { _ in "abcdefghjkmnpqrstuvwxyz".randomElement() ?? "a" }
        return RunID("\(digits.lowercased())-\(String(letters))")
    }

    public var description: String { text }
}
