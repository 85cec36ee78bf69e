import Capabilities
import Cryptography
import GatewayStore
import GatewayTurns
import HTTPCore
import HTTPServer
import Synchronization

/// The client tokens of a running gateway. Only their SHA-256 digests are kept. A revoked token is refused at the next
/// request, and its running requests end within a second or two.
final class ClientTokens: Sendable {
    /// The owner, who uses the token of `martlet gateway token`. Changing rules and projects takes the command line or
    /// a token with the admin scope.
    static let owner = Principal("owner", grant: .client("owner", scopes: [.chat, .read, .approve]))

    private let store: GatewayStore
    private let now: @Sendable () -> Timestamp
    /// The number of requests in the current minute, by client name.
    private let counts = Mutex<[String: (minute: Int64, count: Int)]>([:])

    init(_ store: GatewayStore, now: @escaping @Sendable () -> Timestamp) {
        self.store = store
        self.now = now
    }

    /// A new token. It cannot be shown again later.
    static func make() throws -> Secret { Secret("mgc_" + Base64URL.encode(try Random.bytes(32))) }

    static func digest(of token: Secret) -> [UInt8] { token.withText { Digest.sha256(Array($0.utf8)) } }

    /// The client that a token belongs to; nil for an unknown token.
    ///
    /// - Throws: `RequestProblem` when the token has expired, or was used too often in this minute.
    func principal(_ shown: Secret) async throws -> Principal? {
        let digest = Self.digest(of: shown)
        guard let (client, kept) = try await client(digest) else { return nil }
        // The lookup takes longer the more bytes match, which reveals parts of a digest but not of a token; this
        // comparison takes constant time.
        guard ConstantTime.equal(digest.span, kept.span) else { return nil }
        let name = PlainText.escape(client.name)
        if let expires = client.expires, expires <= now() {
            throw RequestProblem.unauthorized(
                "the token \(name) expired at \(expires.iso8601); replace it with "
                    + "'martlet gateway token revoke \(name)' and 'martlet gateway token create \(name)'")
        }
        try count(client, name)
        do { try await store.clientWasSeen(client) } catch {
            // A full disk is no reason to refuse a client; only the time of its last use is lost.
        }
        return Principal(name, grant: Self.grant(of: client), credential: Hexadecimal.encode(kept))
    }

    /// How often the tokens of running requests are checked.
    static let interval = Duration.seconds(1)

    /// Ends requests whose token was revoked or has expired, until the task is cancelled. It polls, because another
    /// process may revoke a token.
    func watch(_ running: RunningTurns, on clock: any Clock<Duration>) async {
        while true {
            do { try await clock.sleep(for: Self.interval) } catch { return }
            do { try await endRevoked(running) } catch {
                // A failed lookup says nothing about the tokens; they are checked again in a second.
            }
        }
    }

    private func endRevoked(_ running: RunningTurns) async throws {
        let clients = running.clients
        guard !clients.isEmpty else { return }
        // Compare digests, since a new token may have the same name.
        let valid = try await store.validDigests(at: now()).mapValues { Hexadecimal.encode($0) }
        for client in clients where valid[client.name] != client.credential { running.end(client) }
    }

    /// The grant of a client's token.
    static func grant(of client: GatewayClient) -> Grant {
        .client(client.name, scopes: client.scopes)
    }

    private func client(_ digest: [UInt8]) async throws -> (client: GatewayClient, digest: [UInt8])? {
        do { return try await store.client(digest: digest) } catch let error where !(error is CancellationError) {
            // A client that is not yet authenticated must not learn anything about this machine's files.
            throw RequestProblem(
                .serviceUnavailable, code: "gateway.store",
                "client tokens cannot be looked up now; 'martlet data check' on the gateway's machine shows why")
        }
    }

    /// Counts one request, and throws when the client made too many in this minute.
    private func count(_ client: GatewayClient, _ name: String) throws(RequestProblem) {
        guard let rate = client.rate else { return }
        let time = now().microseconds
        let minute = time / 60_000_000
        let isWithin = counts.withLock { counts in
            let before = counts[client.name].flatMap { $0.minute == minute ? $0.count : nil } ?? 0
            counts[client.name] = (minute, min(before, rate) + 1)
            return before < rate
        }
        guard !isWithin else { return }
        let rest = Int(60 - time / 1_000_000 % 60)
        throw RequestProblem(
            .tooManyRequests, code: "gateway.rate",
            "the token \(name) is limited to \(rate) requests a minute; retry in \(rest) s",
            headers: ["Retry-After": "\(rest)"])
    }
}
