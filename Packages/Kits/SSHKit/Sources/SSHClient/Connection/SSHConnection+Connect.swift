import CSSHClient
import Capabilities
import JSON
import LoopKit
public import SSHCore

extension SSHConnection {
    /// Connects to a host, verifies its key, and only then authenticates.
    ///
    /// Throws `.needsSystem` if only the system's ssh can make the connection, with the reasons; `.unknownHost` if the key
    /// is unknown and nobody is there to accept it; an `AccessFailure` if the caller may not reach the host. A cancelled task
    /// stops at once.
    public static func connect(
        to settings: SSHSettings, with configuration: SSHConfiguration
    ) async throws -> SSHConnection {
        try await Tracer.current.span("ssh connect", .client, of: "ssh") { span in
            let presented = try await present(settings, with: configuration, span)
            let connection = presented.connection
            do {
                let verdict = try await presented.check.judge(presented.key, from: connection.address)
                span.set(.decision, .string(verdict))
                try await connection.authenticate(
                    asking: configuration.questions, loop: configuration.loop, patience: configuration.patience)
            } catch {
                await connection.close()
                throw error
            }
            await connection.askWhetherAlive()
            return connection
        }
    }

    /// The key that a host has now. The connection ends after the handshake, and nothing about the user is sent.
    ///
    /// Throws as `connect` does, but for what the known hosts say about the key, which is in the result.
    public static func hostKey(
        of settings: SSHSettings, with configuration: SSHConfiguration
    ) async throws -> PresentedHostKey {
        try await Tracer.current.span("ssh connect", .client, of: "ssh") { span in
            let presented = try await present(settings, with: configuration, span)
            await presented.connection.close()
            return PresentedHostKey(
                key: presented.key, address: presented.connection.address,
                verdict: presented.check.verdict(on: presented.key))
        }
    }

    private typealias Presented = (connection: SSHConnection, key: HostKey, check: HostKeyCheck)

    /// Connects, and agrees on keys.
    private static func present(
        _ settings: SSHSettings, with configuration: SSHConfiguration, _ span: ActiveSpan
    ) async throws -> Presented {
        let grant = Caller.current?.grant ?? configuration.withoutCaller
        try grant.check(.host(settings.hostName, port: settings.port))
        span.set(.serverAddress, .string(settings.hostName))
        span.set(.serverPort, .int(settings.port))
        switch try settings.engine() {
        case .own: break
        case .system(let reasons):
            throw SSHError.needsSystem(settings, reasons.map(\.description).joined(separator: "; "))
        case .refused(let reason): throw SSHError(.forbidden, "no connection to \(settings.hostName): \(reason)")
        }
        try SSHLibrary.require()
        let check = try HostKeyCheck(settings, questions: configuration.questions)
        let dialer = Dialer(
            loop: configuration.loop, settings: settings, grant: grant, deadline: configuration.deadline(settings))
        let (descriptor, peer) = try await dialer.connect()
        let connection = SSHConnection(
            try SSHSession(SSHTransport(descriptor)), settings: settings, address: peer.text)
        do {
            let key = try await connection.shakeHands(check.algorithms, until: configuration.deadline(settings))
            return (connection, key, check)
        } catch {
            await connection.close()
            throw error
        }
    }

    /// Agrees on keys, and returns the one of the host, which has proved to have it.
    private func shakeHands(_ hostKeys: [String], until deadline: ContinuousClock.Instant) async throws -> HostKey {
        // Without SHA-1, CBC, RC4 and MD5, which no current server needs.
        let preferences: [(Int32, String)] = [
            (
                LIBSSH2_METHOD_KEX,
                "curve25519-sha256,curve25519-sha256@libssh.org,ecdh-sha2-nistp256,ecdh-sha2-nistp384,"
                    + "ecdh-sha2-nistp521,diffie-hellman-group-exchange-sha256,diffie-hellman-group16-sha512,"
                    + "diffie-hellman-group18-sha512,diffie-hellman-group14-sha256"
            ),
            (LIBSSH2_METHOD_HOSTKEY, hostKeys.joined(separator: ",")),
            (LIBSSH2_METHOD_CRYPT_CS, Self.ciphers), (LIBSSH2_METHOD_CRYPT_SC, Self.ciphers),
            (LIBSSH2_METHOD_MAC_CS, Self.codes), (LIBSSH2_METHOD_MAC_SC, Self.codes),
        ]
        let compression = settings.compression
        let set = session.attempt { session in
            if compression { unsafe libssh2_session_flag(session.raw, LIBSSH2_FLAG_COMPRESS, 1) }
            return preferences.contains { unsafe libssh2_session_method_pref(session.raw, $0.0, $0.1) != 0 } ? -1 : 0
        }
        guard set.code == 0 else {
            throw SSHError(.library, "libssh2 has none of the algorithms that are safe: \(session.problem)")
        }
        let socket = session.transport.descriptor.withDescriptor { descriptor, _ in descriptor } ?? -1
        let code: Int
        do {
            code = try await perform(until: deadline) { Int(unsafe libssh2_session_handshake($0.raw, socket)) }
        } catch let error as SSHError where error.kind == .disconnected {
            let isBanner = session.transport.isBannerTooLong
            throw SSHError(
                .handshake,
                "\(settings.hostName) port \(settings.port) "
                    + (isBanner
                        ? "sends more than \(ByteCount(SSHTransport.longestBanner).words) and no version of SSH"
                        : "ended the connection before it was secured"))
        }
        guard code == 0 else { throw handshakeError(code, hostKeys) }
        session.transport.endBanner()
        var blob: [UInt8] = []
        _ = session.attempt { session in
            var (count, type) = (0, Int32(0))
            if let key = unsafe libssh2_session_hostkey(session.raw, &count, &type) {
                blob = unsafe Array(UnsafeRawBufferPointer(start: key, count: count))
            }
            return 0
        }
        return try HostKey(blob: blob)
    }

    private static let ciphers = "aes128-ctr,aes192-ctr,aes256-ctr"
    private static let codes = "hmac-sha2-256,hmac-sha2-512"

    private func handshakeError(_ code: Int, _ hostKeys: [String]) -> SSHError {
        guard code == Int(LIBSSH2_ERROR_KEX_FAILURE) || code == Int(LIBSSH2_ERROR_METHOD_NONE) else {
            return SSHError(
                .handshake,
                "\(settings.hostName) port \(settings.port) does not speak SSH as expected: \(session.problem)")
        }
        return SSHError.needsSystem(
            settings,
            "the host and libssh2 have no algorithm in common; most likely the host has only an RSA key, and we can verify "
                + hostKeys.joined(separator: ", "))
    }
}

extension SSHError {
    /// Only the system's ssh can make the connection.
    static func needsSystem(_ settings: SSHSettings, _ reason: String) -> SSHError {
        SSHError(
            .needsSystem, "only the system's ssh can connect to \(settings.hostName): \(reason)",
            details: ["reason": .string(reason)])
    }
}
