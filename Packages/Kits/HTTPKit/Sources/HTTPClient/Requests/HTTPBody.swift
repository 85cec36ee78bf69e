/// What a request carries.
public enum HTTPBody: Sendable {
    case none
    case bytes([UInt8])
    /// A regular file, or a part of it, read while it is sent. Errors call it by `naming`, where that is not its path.
    case file(path: String, range: Range<Int>? = nil, naming: String? = nil)
    /// Bytes that are made while they are sent. No more is asked for than the server takes, and it can be sent only
    /// once: such a request is neither repeated nor redirected.
    case stream(length: Int?, any AsyncSequence<[UInt8], any Error> & Sendable)

    /// The body of a text.
    public static func text(_ text: String) -> HTTPBody { .bytes(Array(text.utf8)) }

    var canBeSentAgain: Bool {
        if case .stream = self { false } else { true }
    }
}
