import CSSHClient
import Capabilities
import LoopKit
import SSHCore

extension SSHConnection {
    /// How long the host has to open a channel and to start a command.
    private static let patience = Duration.seconds(60)
    /// What a host may send ahead of us, for each channel.
    private static let window: UInt32 = 1 << 20
    private static let piece = 1 << 16

    /// Runs a command and waits for its end.
    ///
    /// The pieces of each stream come in their order; which of the two streams comes first is not known. While `receive`
    /// works, no more is read for this command, and the host stops it when its window is full; other commands go on.
    ///
    /// A cancelled task closes the channel. The command gets no signal for that: it ends when it reads its input or writes.
    ///
    /// Throws `.channelRefused` if the host allows no further channel, and `.disconnected` if the connection ends; the
    /// command may have run then, and is not repeated.
    public func run(
        _ command: SSHCommand, input: SSHInput = .none,
        receive: @escaping @Sendable (SSHPiece) async throws -> Void = { _ in }
    ) async throws -> SSHExit {
        try await places.take()
        defer { places.pass() }
        let tracer = Tracer.current
        let span = tracer.begin("ssh exec", .client, of: "ssh")
        span?.set(.serverAddress, .string(settings.hostName))
        span?.set(.serverPort, .int(settings.port))
        do {
            let exit = try await runOnChannel(command, input, receive)
            if case .exited(let code) = exit { span?.set(.processExitCode, .int(code)) }
            if let span { tracer.end(span, failure: exit.isSuccess ? nil : "ssh.command-failed") }
            return exit
        } catch {
            if let span { tracer.end(span, failure: AnyFailure(error).code) }
            throw error
        }
    }

    private func runOnChannel(
        _ command: SSHCommand, _ input: SSHInput, _ receive: @escaping @Sendable (SSHPiece) async throws -> Void
    ) async throws -> SSHExit {
        let channel = try await startChannel(command)
        let result: Result<SSHExit, any Error>
        do {
            result = .success(try await transfer(input, receive, on: channel))
        } catch let error as SSHError where error.kind == .disconnected {
            result = .failure(mayHaveRun(error))
        } catch {
            result = .failure(error)
        }
        await free(channel)
        return try result.get()
    }

    // MARK: Channels

    /// Opens a channel and starts a command on it, one at a time: the state of an opening is in the session, and libssh2 takes
    /// the answer to a request on one channel for the missing one to a request on another.
    private func startChannel(_ command: SSHCommand) async throws -> SSHChannel {
        try await opening.take()
        defer { opening.pass() }
        let channel = try await openChannel("session", []) { [settings] problem in
            SSHError(
                .channelRefused,
                "\(settings.hostName) opens no further channel (\(problem)); fewer commands at once may help, or a higher MaxSessions "
                    + "there")
        }
        do {
            try await start(command, on: channel)
            return channel
        } catch {
            await free(channel)
            guard let lost = error as? SSHError, lost.kind == .disconnected else { throw error }
            throw mayHaveRun(lost)
        }
    }

    private func mayHaveRun(_ error: SSHError) -> SSHError {
        SSHError(.disconnected, "\(error.message); the command may have run, and is not repeated", cause: error)
    }

    /// Opens a channel of a kind, with the message that belongs to its request.
    ///
    /// - Parameter refusal: the error if the host refuses, from its words.
    func openChannel(
        _ kind: String, _ message: [UInt8], refusal: (String) -> SSHError
    ) async throws -> SSHChannel {
        var channel: OpaquePointer?
        let code: Int
        do {
            // The state of a request whose task was cancelled is in the session: the next one goes on with it.
            code = try await perform(until: .now + Self.patience) { session in
                unsafe channel = unsafe message.withUnsafeBytes { bytes in
                    unsafe libssh2_channel_open_ex(
                        session.raw, kind, UInt32(kind.utf8.count), Self.window, 32_768,
                        bytes.baseAddress?.assumingMemoryBound(to: CChar.self), UInt32(bytes.count))
                }
                return unsafe channel == nil ? Int(unsafe libssh2_session_last_errno(session.raw)) : 0
            }
        } catch {
            if let channel = unsafe channel { await free(unsafe SSHChannel(handle: channel)) }
            throw error
        }
        guard let channel = unsafe channel else {
            guard code == Int(LIBSSH2_ERROR_CHANNEL_FAILURE) else { throw failure("no channel was opened") }
            throw refusal(session.problem)
        }
        return unsafe SSHChannel(handle: channel)
    }

    private func start(_ command: SSHCommand, on channel: SSHChannel) async throws {
        let line = command.line
        let code = try await perform(until: .now + Self.patience) { _ in
            Int(
                unsafe libssh2_channel_process_startup(
                    channel.handle, "exec", 4, line, UInt32(line.utf8.count)))
        }
        if code == Int(LIBSSH2_ERROR_CHANNEL_REQUEST_DENIED) {
            throw SSHError(.command, "\(settings.hostName) does not let \(settings.user) run commands")
        }
        guard code == 0 else { throw failure("the command was not started") }
    }

    func failure(_ words: String) -> SSHError {
        SSHError(.handshake, "\(words) on \(settings.hostName): \(session.problem)")
    }

    /// Closes a channel, also in a cancelled task. If the host does not take part, the channel is left to the session: so is that
    /// of a cancelled task, since a host closes its side only when the command has ended.
    func free(_ channel: SSHChannel) async {
        let isCancelled = Task.isCancelled
        await shielded { [self] in
            do {
                _ = try await perform(until: .now + .seconds(2)) { [transport = session.transport] _ in
                    let code = Int(unsafe libssh2_channel_free(channel.handle))
                    return isCancelled && !transport.isSendingBlocked ? 0 : code
                }
            } catch {
                // The connection is over, or the host is slow: either way nothing more can be done here.
            }
        }
    }

    // MARK: Streams

    private func transfer(
        _ input: SSHInput, _ receive: @escaping @Sendable (SSHPiece) async throws -> Void, on channel: SSHChannel
    ) async throws -> SSHExit {
        try await withThrowingTaskGroup(of: SSHExit?.self) { group in
            group.addTask { [self] in
                try await send(input, on: channel)
                return nil
            }
            group.addTask { [self] in
                try await read(receive, on: channel)
                return await exit(of: channel)
            }
            defer { group.cancelAll() }
            while let ended = try await group.next() {
                // A command need not read all of its input.
                if let exit = ended { return exit }
            }
            throw CancellationError()
        }
    }

    func send(_ input: SSHInput, on channel: SSHChannel) async throws {
        switch input {
        case .none: break
        case .bytes(let bytes): guard try await write(bytes, on: channel) else { return }
        case .pieces(let next):
            while let piece = try await next() {
                guard try await write(piece, on: channel) else { return }
            }
        }
        // An error means that the command has closed its input.
        _ = try await perform { _ in Int(unsafe libssh2_channel_send_eof(channel.handle)) }
    }

    /// Returns false if the command takes no more.
    private func write(_ bytes: [UInt8], on channel: SSHChannel) async throws -> Bool {
        var start = 0
        while start < bytes.count {
            let written = try await perform { _ in
                let count = unsafe bytes.withUnsafeBytes { bytes in
                    unsafe libssh2_channel_write_ex(
                        channel.handle, 0, bytes.baseAddress?.advanced(by: start).assumingMemoryBound(to: CChar.self),
                        bytes.count - start)
                }
                return count == 0 ? Int(LIBSSH2_ERROR_EAGAIN) : Int(count)
            }
            guard written > 0 else { return false }
            start += written
        }
        return true
    }

    private func read(
        _ receive: @escaping @Sendable (SSHPiece) async throws -> Void, on channel: SSHChannel
    ) async throws {
        var buffer = [UInt8](repeating: 0, count: Self.piece)
        let transport = session.transport
        // The stream that is looked at first changes, so that neither waits for the other.
        var first = 0
        while true {
            var stream = first
            let count = try await perform { _ in
                unsafe buffer.withUnsafeMutableBytes { bytes in
                    let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
                    // Each call receives for all streams and channels. What came for a stream after it was looked at wakes
                    // nobody, so that all is looked at again.
                    var received: Int
                    repeat {
                        received = transport.received
                        for other in [first, 1 - first] {
                            stream = other
                            let count = unsafe libssh2_channel_read_ex(
                                channel.handle, Int32(other), start, bytes.count)
                            // Only the last call may be left half done.
                            if count > 0 || count < 0 && count != Int(LIBSSH2_ERROR_EAGAIN)
                                || transport.isSendingBlocked
                            {
                                return Int(count)
                            }
                        }
                        // OpenSSH sends what is left of the second stream after the end of the first.
                        if unsafe libssh2_channel_eof(channel.handle) != 0 {
                            let code = unsafe libssh2_channel_wait_closed(channel.handle)
                            if code < 0, code != LIBSSH2_ERROR_EAGAIN || transport.isSendingBlocked { return Int(code) }
                            if code == 0, unsafe libssh2_channel_eof(channel.handle) != 0 { return 0 }
                        }
                    } while transport.received != received
                    return Int(LIBSSH2_ERROR_EAGAIN)
                }
            }
            if count == 0 { return }
            guard count > 0 else { throw failure("the output of the command cannot be read") }
            let piece = Array(buffer.prefix(count))
            try await receive(stream == 0 ? .output(piece) : .errors(piece))
            first = 1 - stream
        }
    }

    /// How the command of a closed channel has ended.
    private func exit(of channel: SSHChannel) -> SSHExit {
        var exit = SSHExit.exited(0)
        _ = session.attempt { _ in
            var name: UnsafeMutablePointer<CChar>?
            var count = 0
            unsafe libssh2_channel_get_exit_signal(channel.handle, &name, &count, nil, nil, nil, nil)
            if let name = unsafe name {
                let text = unsafe String(decoding: UnsafeRawBufferPointer(start: name, count: count), as: UTF8.self)
                exit = .signalled(PlainText.escape(text, limit: 40))
                unsafe sshclient_release(name)
            } else {
                exit = .exited(Int(unsafe libssh2_channel_get_exit_status(channel.handle)))
            }
            return 0
        }
        return exit
    }
}
