import Capabilities
import Cryptography
import FileKit
import Registry
import Synchronization

/// The owner's token. It is read from the environment variable, or else the vault, or else a file that only this user
/// can read.
struct GatewayToken: Sendable {
    static let variable = "MARTLET_GATEWAY_TOKEN"
    static let name: SecretName = "martlet.gateway"
    private let surroundings: Surroundings

    /// Where the token is stored.
    enum Place: String, Choice { case variable, vault, file }

    init(_ surroundings: Surroundings) {
        self.surroundings = surroundings
    }

    private var file: String { "\(surroundings.locations.data)/gateway.token" }

    /// The token; creates one when there is none yet.
    func current(_ context: ActionContext) async throws -> (token: Secret, place: Place) {
        if let known = try await known(context.registry) { return known }
        return try await alone {
            // Another command may have created and printed one meanwhile.
            if let known = try await known(context.registry) { return known }
            // Creating a vault asks for a passphrase, so say first what it is for.
            context.notice("creating a token for the gateway's clients; it is stored with Martlet's secrets")
            return try await made(context)
        }
    }

    /// The token; nil when there is none yet.
    func known(_ registry: Registry) async throws -> (token: Secret, place: Place)? {
        if let text = surroundings.environment[Self.variable], !text.isEmpty { return (learnt(text), .variable) }
        if let secret = try await registry.one((any SecretStore).self).secret(named: Self.name) {
            surroundings.redactor.learn(secret)
            return (secret, .vault)
        }
        return try kept().map { (learnt($0), .file) }
    }

    /// Replaces the token. A running gateway accepts the new one at its first use, and refuses the old one from then
    /// on.
    func renewed(_ context: ActionContext) async throws -> (token: Secret, place: Place) {
        guard surroundings.environment[Self.variable, default: ""].isEmpty else {
            throw ServingError(
                .settings, "\(Self.variable) is set and overrides any stored token; change or unset it")
        }
        return try await alone { try await made(context) }
    }

    /// Does work while no other command creates a token, so that no token is printed that was already replaced.
    private func alone<Result>(_ work: () async throws -> Result) async throws -> Result {
        try Files.makeDirectories(surroundings.locations.data)
        // The user of another command may have to type a passphrase meanwhile.
        let lock = try await FileLock.acquire(
            "\(surroundings.locations.data)/gateway.token.lock", within: .seconds(300))
        let result = try await work()
        lock.release()
        return result
    }

    private func made(_ context: ActionContext) async throws -> (token: Secret, place: Place) {
        let token = learnt("mgw_" + Base64URL.encode(try Random.bytes(32)))
        do {
            try await context.registry.one((any SecretStore).self).store(token, named: Self.name)
            return (token, .vault)
        } catch SecretStoreError.readOnly {
            // This build has no vault.
            try token.withText { text throws(FileError) in
                try Files.writeAtomically(Array("\(text)\n".utf8), to: file, mode: 0o600)
            }
            return (token, .file)
        }
    }

    /// The token in the file; nil when there is none.
    private func kept() throws(FileError) -> String? {
        guard Files.exists(file) else { return nil }
        let text = String(decoding: try Files.read(file, limit: 4096), as: UTF8.self)
        return text.split(whereSeparator: \.isWhitespace).first.map(String.init)
    }

    private func learnt(_ text: String) -> Secret {
        let secret = Secret(text)
        surroundings.redactor.learn(secret)
        return secret
    }
}

/// The owner's token in a running gateway. When it is replaced, the new one becomes valid at its first use, and the old
/// one invalid.
final class LiveToken: Sendable {
    private struct State {
        var token: Secret
        var lookedAt: Timestamp?
        /// The running lookup; all requests with unknown tokens wait for the same one.
        var looking: Task<Void, Never>?
    }

    /// Limits lookups, so that wrong tokens cannot keep the vault busy.
    private static let interval = Duration.seconds(1)

    private let state: Mutex<State>
    private let now: @Sendable () -> Timestamp
    private let read: @Sendable () async -> Secret?

    /// - Parameter read: Returns the stored token; nil when it cannot be read now.
    init(_ token: Secret, now: @escaping @Sendable () -> Timestamp, read: @escaping @Sendable () async -> Secret?) {
        state = Mutex(State(token: token))
        self.now = now
        self.read = read
    }

    /// Whether a token is the one known here.
    func equals(_ shown: Secret) -> Bool { shown.equals(state.withLock(\.token)) }

    /// Whether a token is the stored one, including one that was created meanwhile.
    func accepts(_ shown: Secret) async -> Bool {
        if equals(shown) { return true }
        await renew()
        // A lookup of another request may have ended between the two.
        return equals(shown)
    }

    /// Reads the stored token again, unless it was read just now.
    private func renew() async {
        let time = now()
        let looking = state.withLock { state -> Task<Void, Never>? in
            if let looking = state.looking { return looking }
            if let last = state.lookedAt, (.zero..<Self.interval).contains(time - last) { return nil }
            let looking = Task { await look() }
            (state.lookedAt, state.looking) = (time, looking)
            return looking
        }
        await looking?.value
    }

    private func look() async {
        let found = await read()
        state.withLock { state in
            state.looking = nil
            if let found { state.token = found }
        }
    }
}
