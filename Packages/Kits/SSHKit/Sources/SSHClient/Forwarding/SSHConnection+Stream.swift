import CSSHClient
import Capabilities
import LoopKit
import SSHCore

extension SSHConnection {
    /// Connects from the host to another address, and passes bytes in both directions until both have ended.
    ///
    /// - Parameters:
    ///   - input: what is sent.
    ///   - receive: gets what comes, and nil at its end. While it works, no more is read of this stream.
    public func stream(
        to destination: SSHDestination, input: SSHInput,
        receive: @escaping @Sendable ([UInt8]?) async throws -> Void
    ) async throws {
        try await places.take()
        defer { places.pass() }
        let tracer = Tracer.current
        let span = tracer.begin("ssh forward", .client, of: "ssh")
        span?.set(.serverAddress, .string(destination.host))
        span?.set(.serverPort, .int(destination.port))
        do {
            try await streamOnChannel(destination, input, receive)
            if let span { tracer.end(span, failure: nil) }
        } catch {
            if let span { tracer.end(span, failure: AnyFailure(error).code) }
            throw error
        }
    }

    private func streamOnChannel(
        _ destination: SSHDestination, _ input: SSHInput, _ receive: @escaping @Sendable ([UInt8]?) async throws -> Void
    ) async throws {
        let channel = try await openStream(to: destination)
        let result: Result<Void, any Error>
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { [self] in try await send(input, on: channel) }
                group.addTask { [self] in try await readStream(receive, on: channel) }
                try await group.waitForAll()
            }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await free(channel)
        try result.get()
    }

    private func openStream(to destination: SSHDestination) async throws -> SSHChannel {
        try await opening.take()
        defer { opening.pass() }
        // RFC 4254, 7.2: where to, and from where, which servers only write into their logs.
        let message = destination.message(from: "127.0.0.1", port: 0)
        return try await openChannel("direct-tcpip", message) { [settings] problem in
            SSHError(
                .channelRefused,
                "\(settings.hostName) does not connect to \(destination): \(problem); check that the address is one of its network and "
                    + "that AllowTcpForwarding is not off there")
        }
    }

    private func readStream(
        _ receive: @Sendable ([UInt8]?) async throws -> Void, on channel: SSHChannel
    ) async throws {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = try await perform { _ in
                unsafe buffer.withUnsafeMutableBytes { bytes in
                    let count = Int(
                        unsafe libssh2_channel_read_ex(
                            channel.handle, 0, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count))
                    // It is 0 at the end, and if nothing has come.
                    guard count == 0 else { return count }
                    return unsafe libssh2_channel_eof(channel.handle) != 0 ? 0 : Int(LIBSSH2_ERROR_EAGAIN)
                }
            }
            guard count >= 0 else { throw failure("nothing more can be read") }
            try await receive(count == 0 ? nil : Array(buffer.prefix(count)))
            if count == 0 { return }
        }
    }
}
