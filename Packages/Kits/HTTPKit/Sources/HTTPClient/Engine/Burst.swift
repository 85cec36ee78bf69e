/// Tells when small pieces follow each other so fast that it is better to let some come together.
///
/// A server may send each piece in a packet of its own, and the next before this thread has fallen asleep. Most of the
/// processor time of such a stream would go into waking up for each of them.
struct Burst: Sendable {
    /// How long the thread stays away from the sockets, in nanoseconds: too short to be seen, and too short for a receive
    /// buffer to be full at a rate that counts as a burst.
    static let rest: Int64 = 2_000_000
    /// A piece for which the thread waited longer is not part of a burst, in nanoseconds.
    static let pause: Int64 = 100_000
    /// Who brings as much in one turn is fast because its pieces are large: a download, which is read best while it is
    /// still in the processor's cache.
    static let large = 16 << 10
    /// More than this in one rest is such a download, too.
    static let most = 1 << 20
    /// So many turns follow each other before it is one.
    static let turns = 8

    private var count = 0

    /// Whether the thread should rest before it reads again.
    var isOn: Bool { count >= Self.turns }

    /// A turn of the thread brought so many bytes of bodies, and so many nanoseconds went by until there was something to
    /// do again.
    mutating func turn(brought bytes: Int, waited: Int64) {
        let isFast = bytes > 0 && bytes < (isOn ? Self.most : Self.large) && waited < Self.pause
        // One turn that is late, because others had the processor, does not end it.
        count = isFast ? min(count + 1, 2 * Self.turns) : count / 2
    }
}
