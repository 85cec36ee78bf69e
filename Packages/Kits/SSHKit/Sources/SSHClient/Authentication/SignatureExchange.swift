import CSSHClient
import Synchronization

/// Passes what is to be signed from libssh2 to an agent, and the signature back. libssh2 calls for the signature, and again
/// if the call would block, so that nothing waits for the agent but a task.
final class SignatureExchange: Sendable {
    /// Returned in place of an error when a signature is wanted.
    static let wanted = 1_000

    private enum State {
        case idle
        case wanted([UInt8])
        /// The signature, or nil for a refusal.
        case answered([UInt8]?)
    }

    private let state = Mutex((State.idle, wasAsked: false))

    /// Whether a signature is wanted now.
    var isWaiting: Bool { if case .wanted = state.withLock({ $0.0 }) { true } else { false } }
    /// What is to be signed.
    var data: [UInt8] { if case .wanted(let data) = state.withLock({ $0.0 }) { data } else { [] } }
    /// Whether a signature was given.
    var isSigned: Bool { if case .answered(.some) = state.withLock({ $0.0 }) { true } else { false } }
    /// Whether a signature was ever wanted, which means that the host would accept the key.
    var wasAsked: Bool { state.withLock { $0.wasAsked } }

    /// Gives the signature, or refuses it, also before it is wanted.
    func answer(_ signature: [UInt8]?) {
        state.withLock { $0.0 = .answered(signature) }
    }

    private func sign(_ data: [UInt8]) -> (code: Int32, signature: [UInt8]) {
        state.withLock { state in
            state.wasAsked = true
            switch state.0 {
            case .idle, .wanted:
                state.0 = .wanted(data)
                return (LIBSSH2_ERROR_EAGAIN, [])
            case .answered(let signature?): return (0, signature)
            case .answered(nil): return (-1, [])
            }
        }
    }

    /// What libssh2 calls.
    static let sign:
        @convention(c) (
            OpaquePointer?, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?, UnsafeMutablePointer<Int>?,
            UnsafePointer<UInt8>?, Int, UnsafeMutablePointer<UnsafeMutableRawPointer?>?
        ) -> Int32 = { _, signature, count, data, length, context in
            guard let signature = unsafe signature, let count = unsafe count, let data = unsafe data,
                let context = unsafe context
            else { return -1 }
            let exchange = unsafe Unmanaged<SignatureExchange>.fromOpaque(context).takeUnretainedValue()
            let answer = exchange.sign(unsafe Array(UnsafeBufferPointer(start: data, count: length)))
            guard answer.code == 0 else { return answer.code }
            let copy = unsafe answer.signature.withUnsafeBytes { bytes in
                unsafe bytes.baseAddress.flatMap { unsafe sshclient_copy($0, bytes.count) }
            }
            guard let copy = unsafe copy else { return LIBSSH2_ERROR_ALLOC }
            unsafe signature.pointee = unsafe copy.assumingMemoryBound(to: UInt8.self)
            unsafe count.pointee = answer.signature.count
            return 0
        }
}
