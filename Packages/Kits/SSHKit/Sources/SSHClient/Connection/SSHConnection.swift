import CSSHClient
import Capabilities
import LoopKit
public import SSHCore

/// A connection to a host whose key was verified, and where this user is authenticated.
///
///     let connection = try await SSHConnection.connect(to: settings, with: SSHConfiguration(loop: loop))
///     let exit = try await connection.run(SSHCommand(words: ["uname", "-a"])) { piece in … }
///     await connection.close()
///
/// Up to eight commands run side by side; more wait for their turn. A connection that is no longer referenced ends.
public actor SSHConnection {
    /// More channels need a second connection: servers have ten, and all of them wait for one socket.
    public static let mostChannels = 8
    /// When the host is asked whether it is still there, unless the settings say so.
    static let aliveInterval = 15

    /// The settings by which it was made.
    public nonisolated let settings: SSHSettings
    /// The address of the host.
    public nonisolated let address: String
    nonisolated let session: SSHSession

    /// Why it is over.
    private var end: SSHError?
    /// Raised when a call may succeed that could not before: something was received or sent, or all is over.
    private let progress = Signal()
    /// The operation whose packet was not sent whole. Nobody else may send before the rest.
    private var sender: Int?
    private var operations = 0
    private var lastHeard = ContinuousClock.now
    private var unanswered = 0
    private var asksWhetherAlive = false
    /// Opens channels one at a time, because libssh2 keeps the state of that in the session.
    let opening = Turn()
    let places = Turn(width: mostChannels)

    init(_ session: SSHSession, settings: SSHSettings, address: String) {
        self.session = session
        self.settings = settings
        self.address = address
    }

    deinit { session.transport.descriptor.close() }

    /// Whether the connection is over, as far as it is known.
    public var isClosed: Bool { end != nil }

    /// Ends the connection and everything that runs on it. Calling it again changes nothing.
    public func close() {
        guard end == nil else { return }
        // Sent if there is room for it, and not in the middle of another packet.
        if sender == nil {
            _ = session.attempt { session in
                Int(
                    unsafe libssh2_session_disconnect_ex(
                        session.raw, Int32(SSH_DISCONNECT_BY_APPLICATION), "closed by the user", ""))
            }
        }
        fail(SSHError(.closed, "the connection to \(settings.hostName) was closed"))
    }

    /// Ends the connection for a reason. Only the first one counts.
    func fail(_ error: SSHError) {
        guard end == nil else { return }
        end = error
        session.transport.descriptor.close()
        progress.raise()
    }

    /// From now on it is asked whether the host is still there, when it has said nothing for a while.
    func askWhetherAlive() {
        asksWhetherAlive = true
        lastHeard = .now
        _ = session.attempt { session in
            unsafe libssh2_keepalive_config(session.raw, 1, 1)
            return 0
        }
    }
}

// MARK: Calls

extension SSHConnection {
    /// Makes a call of libssh2 until it does not have to wait. Returns what it returns, which may be an error of its own,
    /// and throws if the connection is over.
    ///
    /// A call that waits reads whatever arrives, also for others. So each waits for the socket, and for anything that
    /// another call receives. The number of such events is taken together with the attempt, so that none is lost between
    /// the attempt and the wait.
    ///
    /// - Parameter call: returns `LIBSSH2_ERROR_EAGAIN` to be made again. If several calls are made in it, only the last may
    ///   be left half done.
    func perform(until deadline: ContinuousClock.Instant? = nil, _ call: (SSHHandle) -> Int) async throws -> Int {
        operations += 1
        let operation = operations
        defer { letOthersSend(operation) }
        while true {
            if let end { throw end }
            guard sender == nil || sender == operation else {
                try await progress.wait(beyond: progress.count)
                continue
            }
            let attempt = session.attempt(call)
            if attempt.hasReceived {
                (lastHeard, unanswered) = (.now, 0)
                progress.raise()
            }
            let seen = progress.count
            if !attempt.wouldBlock {
                try check(attempt.code)
                return attempt.code
            }
            if attempt.isSendingBlocked {
                sender = operation
                try await waitToSend(until: deadline, call)
            } else {
                letOthersSend(operation)
                // Others may receive all the time, so that the wait below never ends by its limit.
                if let deadline, deadline <= .now { try timeOut(isOwn: true) }
                try await waitToReceive(beyond: seen, until: deadline)
            }
        }
    }

    private func letOthersSend(_ operation: Int) {
        guard sender == operation else { return }
        sender = nil
        progress.raise()
    }

    /// Throws if the code means that the connection is over.
    private func check(_ code: Int) throws(SSHError) {
        switch Int32(truncatingIfNeeded: code) {
        case LIBSSH2_ERROR_SOCKET_SEND, LIBSSH2_ERROR_SOCKET_RECV, LIBSSH2_ERROR_SOCKET_DISCONNECT,
            LIBSSH2_ERROR_SOCKET_TIMEOUT, LIBSSH2_ERROR_INVALID_MAC, LIBSSH2_ERROR_DECRYPT, LIBSSH2_ERROR_BAD_USE,
            LIBSSH2_ERROR_OUT_OF_BOUNDARY:
            let error = disconnected("the host has closed it, or the network did")
            fail(error)
            throw end ?? error
        default: break
        }
    }

    func disconnected(_ reason: String) -> SSHError {
        SSHError(.disconnected, "the connection to \(settings.hostName) (\(address)) has ended: \(reason)")
    }

    // MARK: Waiting

    private func waitToSend(until deadline: ContinuousClock.Instant?, _ call: (SSHHandle) -> Int) async throws {
        let (limit, isOwn) = limit(deadline)
        do {
            let wake = try await session.transport.descriptor.writable(until: limit)
            guard wake == .timedOut else { return }
            // Nobody could send after half a packet.
            if isOwn { fail(disconnected("the host takes no more")) }
            try timeOut(isOwn: isOwn)
        } catch let error as CancellationError {
            // Others can send only after the rest of the packet.
            let end = ContinuousClock.now + .seconds(2)
            while await session.transport.descriptor.readyThroughCancellation(.writable, until: end) == .ready {
                if !session.attempt(call).isSendingBlocked { throw error }
            }
            fail(disconnected("a packet could not be sent whole"))
            throw error
        }
    }

    private func waitToReceive(beyond seen: Int, until deadline: ContinuousClock.Instant?) async throws {
        let (limit, isOwn) = limit(deadline)
        let descriptor = session.transport.descriptor
        let isLate = Late()
        _ = try await progress.wait(beyond: seen) {
            if try await descriptor.readable(until: limit) == .timedOut { isLate.settle(()) }
        }
        if isLate.isSettled, progress.count == seen { try timeOut(isOwn: isOwn) }
    }

    private typealias Late = Promise<Void>

    /// When to stop a wait, and whether that is the limit of the operation.
    private func limit(_ deadline: ContinuousClock.Instant?) -> (ContinuousClock.Instant?, isOwn: Bool) {
        guard asksWhetherAlive else { return (deadline, true) }
        let question = lastHeard + .seconds(aliveInterval) * (unanswered + 1)
        guard let deadline, deadline <= question else { return (question, false) }
        return (deadline, true)
    }

    private var aliveInterval: Int {
        settings.serverAliveInterval > 0 ? settings.serverAliveInterval : Self.aliveInterval
    }

    private func timeOut(isOwn: Bool) throws(SSHError) {
        if isOwn {
            throw SSHError(.timedOut, "\(settings.hostName) (\(address)) does not answer in time")
        }
        // Another operation may have asked, or heard, in the meantime.
        guard lastHeard + .seconds(aliveInterval) * (unanswered + 1) <= .now else { return }
        guard unanswered < max(settings.serverAliveCountMax, 1) else {
            let error = disconnected("the host has not answered for \(aliveInterval * (unanswered + 1)) s")
            fail(error)
            throw error
        }
        unanswered += 1
        guard sender == nil else { return }
        // It has a second's resolution of its own, and skips what comes too early.
        let attempt = session.attempt { session in
            var next: Int32 = 0
            return Int(unsafe libssh2_keepalive_send(session.raw, &next))
        }
        // libssh2 forgets what it could not send of it, which only a full socket causes.
        if attempt.isSendingBlocked {
            let error = disconnected("nothing more can be sent")
            fail(error)
            throw error
        }
    }
}
