import Glibc
import LoopKit
import Synchronization

/// The socket of a session, as libssh2 uses it: each call moves what can be moved, and remembers what happened.
final class SSHTransport: Sendable {
    /// What is read in one attempt, so that a host that sends faster than we read delays no other task for long.
    private static let mostAtOnce = 1 << 18
    /// What a host may send before its first packet.
    static let longestBanner = 8 << 10

    private struct State {
        /// Bytes that were received in the attempt.
        var received = 0
        /// Whether a packet of the attempt was not sent whole. The next call must be the same one then.
        var isSendingBlocked = false
        /// Bytes of the banner; nil after the handshake.
        var banner: Int? = 0
        var keyboard: KeyboardExchange?
    }

    let descriptor: LoopDescriptor
    private let state = Mutex(State())

    init(_ descriptor: LoopDescriptor) {
        self.descriptor = descriptor
    }

    /// Who answers questions of the host during authentication.
    var keyboard: KeyboardExchange? {
        get { state.withLock { $0.keyboard } }
        set { state.withLock { $0.keyboard = newValue } }
    }

    /// Forgets what happened in the attempt before.
    func begin() {
        state.withLock { state in (state.received, state.isSendingBlocked) = (0, false) }
    }

    /// The handshake is over.
    func endBanner() { state.withLock { $0.banner = nil } }

    /// Bytes that were received in the attempt.
    var received: Int { state.withLock { $0.received } }
    var isSendingBlocked: Bool { state.withLock { $0.isSendingBlocked } }
    var isBannerTooLong: Bool { state.withLock { ($0.banner ?? 0) > Self.longestBanner } }

    /// The number of bytes, or the negative error number of the system, as libssh2 wants it.
    func receive(_ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
        // The readiness stays, so that the next wait returns at once.
        if state.withLock({ $0.received >= Self.mostAtOnce }) { return Int(-EAGAIN) }
        switch descriptor.attempt(.readable, { unsafe recv($0, buffer, count, Int32(MSG_NOSIGNAL)) }) {
        case .moved(let received):
            return state.withLock { state in
                state.received += received
                // libssh2 reads the banner byte by byte, in lines without end, and everything else in larger pieces.
                if count == 1, let banner = state.banner {
                    state.banner = banner + 1
                    if banner >= Self.longestBanner { return Int(-EMSGSIZE) }
                }
                return received
            }
        case .wouldBlock: return Int(-EAGAIN)
        case .failed(let number): return Int(-number)
        case .closed: return Int(-ENOTCONN)
        }
    }

    /// The same for sending.
    func send(_ buffer: UnsafeRawPointer, _ count: Int) -> Int {
        switch descriptor.attempt(.writable, { unsafe Glibc.send($0, buffer, count, Int32(MSG_NOSIGNAL)) }) {
        case .moved(let sent):
            if sent < count { state.withLock { $0.isSendingBlocked = true } }
            return sent
        case .wouldBlock:
            state.withLock { $0.isSendingBlocked = true }
            return Int(-EAGAIN)
        case .failed(let number): return Int(-number)
        case .closed: return Int(-ENOTCONN)
        }
    }
}
