public import JSON

/// What a check has found so far. It ends where a person has enough to mend: a value of a few megabytes can be wrong in
/// millions of places, and all of them told would be a thousand times as large.
public struct SchemaProblems: Sendable {
    /// So many problems are told; after them one sentence says that there are more.
    public static let limit = 20
    /// Longer names are cut: they come from the value.
    private static let longestName = 100

    public private(set) var all: [ValueError] = []
    private var path: [String] = []

    public init() {}

    /// Whether there is no use in looking on.
    public var isFull: Bool { all.count > Self.limit }

    /// Notes what is wrong at the present place, or at a member of it.
    public mutating func add(_ message: String, at member: String? = nil) {
        guard all.count < Self.limit else {
            if !isFull { all.append(ValueError("has more problems than these \(Self.limit)")) }
            return
        }
        all.append(ValueError(message, at: path + (member.map { [$0.shortened(to: Self.longestName)] } ?? [])))
    }

    /// Notes everything in which a member differs from its schema, as far as there is room.
    public mutating func check(_ value: JSON, _ schema: Schema, at member: String) {
        path.append(member.shortened(to: Self.longestName))
        schema.check(value, &self)
        path.removeLast()
    }
}
