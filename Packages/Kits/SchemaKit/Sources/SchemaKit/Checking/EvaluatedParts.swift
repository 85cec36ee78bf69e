/// Which members or elements of one value some subschemas have looked at, for `unevaluatedProperties` and
/// `unevaluatedItems`.
struct EvaluatedParts {
    private var bits: [UInt64] = []
    /// All parts before this one.
    private(set) var first = 0
    /// Whether more parts may belong to it, because something could not be checked.
    var isUncertain = false

    /// Whether a part belongs to it.
    func contains(_ index: Int) -> Bool {
        index < first || index >> 6 < bits.count && bits[index >> 6] & (1 << UInt64(index & 63)) != 0
    }

    mutating func insert(_ index: Int) {
        guard index >= first else { return }
        while bits.count <= index >> 6 { bits.append(0) }
        bits[index >> 6] |= 1 << UInt64(index & 63)
    }

    mutating func insert(first count: Int) {
        first = max(first, count)
    }

    /// Adds all parts of another one. Returns the cost.
    mutating func formUnion(_ other: EvaluatedParts) -> Int {
        first = max(first, other.first)
        isUncertain = isUncertain || other.isUncertain
        while bits.count < other.bits.count { bits.append(0) }
        for index in other.bits.indices { bits[index] |= other.bits[index] }
        return 1 + other.bits.count >> 3
    }
}
