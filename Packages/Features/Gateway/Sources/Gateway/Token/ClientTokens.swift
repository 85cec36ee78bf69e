import Capabilities
import Cryptography
import GatewayStore
import GatewayTurns
import HTTPCore
import HTTPServer
import Synchronization

/// The tokens of single clients, as a gateway that runs knows them. Of each only the SHA-256 is kept. One that is revoked is
/// refused with the next request, and what runs for it ends within a second or two.
final class ClientTokens: Sendable {
    /// Whoever has the token of `martlet gateway token`. Rules and projects are changed by the command line, or with a token
    /// that was made for it.
    static let owner = Principal("owner", grant: .client("owner", scopes: [.chat, .read, .approve]))

    private let store: GatewayStore
    private let now: @Sendable () -> Timestamp
    /// The requests of the present minute, by the names of clients.
    private let counts = Mutex<[String: (minute: Int64, count: Int)]>([:])

    init(_ store: GatewayStore, now: @escaping @Sendable () -> Timestamp) {
        self.store = store
        self.now = now
    }

    /// A new token. Nobody can have it shown again.
    static func make() throws -> Secret { Secret("mgc_" + Base64URL.encode(try Random.bytes(32))) }

    static func digest(of token: Secret) -> [UInt8] { token.withText { Digest.sha256(Array($0.utf8)) } }

    /// Who shows a token; nil for one that no client has.
    ///
    /// - Throws: `RequestProblem` where it has ended, or was shown too often in this minute.
    func principal(_ shown: Secret) async throws -> Principal? {
        let digest = Self.digest(of: shown)
        guard let (client, kept) = try await client(digest) else { return nil }
        // The search ends at the first byte that differs, which tells of a digest and not of a token; this does not.
        guard ConstantTime.equal(digest.span, kept.span) else { return nil }
        let name = PlainText.escape(client.name)
        if let expires = client.expires, expires <= now() {
            throw RequestProblem.unauthorized(
                "the token \(name) ended at \(expires.iso8601); make another one: martlet gateway token revoke \(name) and"
                    + " martlet gateway token create \(name)")
        }
        try count(client, name)
        do { try await store.clientWasSeen(client) } catch {
            // A disk that is full is no reason to refuse somebody; only their last use is not known then.
        }
        return Principal(name, grant: Self.grant(of: client), credential: Hexadecimal.encode(kept))
    }

    /// How often somebody looks whether the tokens still count with which something runs.
    static let interval = Duration.seconds(1)

    /// Ends what runs for tokens that were revoked or have ended, until the task is cancelled. Another program may revoke one,
    /// so that there is nothing to wait for but the time.
    func watch(_ running: RunningTurns, on clock: any Clock<Duration>) async {
        while true {
            do { try await clock.sleep(for: Self.interval) } catch { return }
            do { try await endRevoked(running) } catch {
                // What cannot be looked up now says nothing about anybody, and is looked up again in a second.
            }
        }
    }

    private func endRevoked(_ running: RunningTurns) async throws {
        let clients = running.clients
        guard !clients.isEmpty else { return }
        // By the digest, since another token may have been made with the same name.
        let valid = try await store.validDigests(at: now()).mapValues { Hexadecimal.encode($0) }
        for client in clients where valid[client.name] != client.credential { running.end(client) }
    }

    /// What the token of a client opens.
    static func grant(of client: GatewayClient) -> Grant {
        .client(client.name, scopes: client.scopes)
    }

    private func client(_ digest: [UInt8]) async throws -> (client: GatewayClient, digest: [UInt8])? {
        do { return try await store.client(digest: digest) } catch let error where !(error is CancellationError) {
            // Whoever shows a token that is not known yet hears nothing of this machine's files.
            throw RequestProblem(
                .serviceUnavailable, code: "gateway.store",
                "the tokens of clients cannot be looked up now; 'martlet data check' on the gateway's machine says why")
        }
    }

    /// One request more in this minute.
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
            "the token \(name) may make \(rate) requests a minute; wait \(rest) s", headers: ["Retry-After": "\(rest)"])
    }
}
