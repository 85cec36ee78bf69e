import CSSHClient
import LoopKit
import SSHCore
import Synchronization

/// Owns the handle of a session of libssh2. No other type keeps it.
///
/// Nothing blocks: a call that would block returns `LIBSSH2_ERROR_EAGAIN`, and is made again later.
@safe
final class SSHSession: @unchecked Sendable {
    // Safe to share: the handle is used only under the lock, and freed with the last reference.
    private let handle: OpaquePointer
    private let lock = Mutex(())
    let transport: SSHTransport

    /// What one call did.
    struct Attempt {
        /// What the call has returned; the error of libssh2 if it is negative.
        let code: Int
        let hasReceived: Bool
        /// Whether a packet was not sent whole.
        let isSendingBlocked: Bool

        var wouldBlock: Bool { code == Int(LIBSSH2_ERROR_EAGAIN) }
    }

    init(_ transport: SSHTransport) throws(SSHError) {
        // The session calls back with the transport, which it keeps alive.
        let context = unsafe Unmanaged.passUnretained(transport).toOpaque()
        guard
            let handle = unsafe sshclient_session(
                context,
                { _, buffer, count, _, context in
                    guard let transport = unsafe SSHSession.transport(context) else { return -1 }
                    return unsafe transport.receive(buffer, count)
                },
                { _, buffer, count, _, context in
                    guard let transport = unsafe SSHSession.transport(context) else { return -1 }
                    return unsafe transport.send(buffer, count)
                })
        else { throw SSHError(.library, "libssh2 cannot make a session: no memory is left") }
        unsafe self.handle = handle
        self.transport = transport
    }

    deinit {
        // Without its socket, freeing the session sends nothing and never has to wait.
        transport.descriptor.close()
        unsafe libssh2_session_free(handle)
    }

    private static func transport(_ context: UnsafeMutablePointer<UnsafeMutableRawPointer?>) -> SSHTransport? {
        unsafe context.pointee.map { unsafe Unmanaged<SSHTransport>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Makes a call, or several of which only the last may be left half done.
    func attempt(_ call: (SSHHandle) -> Int) -> Attempt {
        lock.withLock { _ in
            transport.begin()
            let code = call(unsafe SSHHandle(raw: handle))
            return Attempt(
                code: code, hasReceived: transport.received > 0, isSendingBlocked: transport.isSendingBlocked)
        }
    }

    /// The words of libssh2 for the error of the last call.
    var problem: String {
        lock.withLock { _ in
            var text: UnsafeMutablePointer<CChar>?
            var count: Int32 = 0
            unsafe libssh2_session_last_error(handle, &text, &count, 0)
            return unsafe text.map { unsafe String(cString: $0) } ?? ""
        }
    }
}

/// The handle of a session, lent for a call.
@safe
struct SSHHandle {
    let raw: OpaquePointer
}

/// A channel of a session, which frees it.
@safe
struct SSHChannel: @unchecked Sendable {
    // Safe to send: it is used only in calls of its session, which are made one at a time.
    let handle: OpaquePointer
}
