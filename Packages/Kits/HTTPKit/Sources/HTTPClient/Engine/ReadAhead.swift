/// How much of a stream may wait for its reader: what the request says at first, and more while the reader keeps up.
///
/// Each time the room is full the server is held up, and each time it is half full the reader is woken: both are a change
/// of threads, which a fast stream would do for every piece. A slow reader gains nothing by more room, so it is taken back.
struct ReadAhead: Sendable {
    /// As much as it may become.
    static let most = 512 << 10
    /// Who lets a full room wait for longer is slow; in nanoseconds.
    static let patience: Int64 = 5_000_000

    private let usual: Int
    /// The room that there is now, in bytes.
    private(set) var size: Int

    init(_ usual: Int) {
        (self.usual, size) = (usual, usual)
    }

    /// The reader has taken so much before the server was held up.
    mutating func taken(_ count: Int) {
        if count >= size / 2 { grow() }
    }

    /// The server was held up for so many nanoseconds until the reader came.
    mutating func released(after pause: Int64) {
        if pause > Self.patience { size = usual } else { grow() }
    }

    private mutating func grow() {
        size = max(size, min(2 * size, Self.most))
    }
}
