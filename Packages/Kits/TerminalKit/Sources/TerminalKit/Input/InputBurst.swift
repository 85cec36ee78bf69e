import Glibc

/// Reads at once what was typed or pasted at once. Of a paste that is cut, an end mark inside of it looks like its end.
enum InputBurst {
    /// A terminal gives at most this much at once.
    static let pieceSize = 4_095
    /// About as much as is read without a look at anything else.
    private static let limit = 1 << 20
    /// How long the next piece of a large paste may take, in milliseconds, and all pieces together.
    private static let pause: Int32 = 20, patience = Duration.milliseconds(200)

    /// Adds what follows without a pause to `bytes`, of which `count` were already read. It stops early if `wake` has
    /// something to say.
    ///
    /// A terminal writes a large paste in pieces, and this may be faster than the terminal. Keys are not waited for.
    static func read(from descriptor: Int32, _ wake: WakePipe, into bytes: inout [UInt8], alreadyRead count: Int = 0) {
        var piece = [UInt8](repeating: 0, count: pieceSize)
        var (isLarge, waited) = (count >= pieceSize, Duration.zero)
        while bytes.count < limit {
            let count = unsafe piece.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                bytes += piece.prefix(count)
                isLarge = isLarge || count == pieceSize
                continue
            }
            // The next read reports an end or an error.
            guard count < 0, errno == EAGAIN, isLarge, waited < patience else { return }
            let start = ContinuousClock.now
            guard hasMore(descriptor, wake) else { return }
            waited += .now - start
        }
    }

    private static func hasMore(_ descriptor: Int32, _ wake: WakePipe) -> Bool {
        var waiting = [
            pollfd(fd: wake.readEnd, events: Int16(POLLIN), revents: 0),
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
        ]
        return unsafe poll(&waiting, 2, pause) > 0 && waiting[0].revents == 0
    }
}
