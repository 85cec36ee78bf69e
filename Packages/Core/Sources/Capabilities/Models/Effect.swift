/// What doing something changes, which decides who must agree to it.
public enum Effect: String, Choice, Hashable {
    /// Nothing is changed.
    case reads
    /// Something is made, sent or changed.
    case writes
    /// Something is lost that cannot be had back.
    case destroys
}

extension Effect: Comparable {
    /// By how far they go.
    public static func < (left: Effect, right: Effect) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .reads: 0
        case .writes: 1
        case .destroys: 2
        }
    }
}
