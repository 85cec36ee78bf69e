import Capabilities
import Cryptography
import FileKit
import Registry
import Synchronization

/// What a client has to show: from the variable, else from the vault, else from a file that only this user can read.
struct GatewayToken: Sendable {
    static let variable = "MARTLET_GATEWAY_TOKEN"
    static let name: SecretName = "martlet.gateway"
    private let surroundings: Surroundings

    /// Where it is.
    enum Place: String, Choice { case variable, vault, file }

    init(_ surroundings: Surroundings) {
        self.surroundings = surroundings
    }

    private var file: String { "\(surroundings.locations.data)/gateway.token" }

    /// The token, which is made when there is none yet.
    func current(_ context: ActionContext) async throws -> (token: Secret, place: Place) {
        if let known = try await known(context.registry) { return known }
        return try await alone {
            // Another command may have made one meanwhile, and shown it.
            if let known = try await known(context.registry) { return known }
            // A vault that is made for it asks for a passphrase, and a person wants to know for what.
            context.notice("a token for the gateway's clients was made, and is stored with Martlet's secrets")
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

    /// Another token. A gateway that runs takes it when it is shown, and refuses the old one from then on.
    func renewed(_ context: ActionContext) async throws -> (token: Secret, place: Place) {
        guard surroundings.environment[Self.variable, default: ""].isEmpty else {
            throw ServingError(
                .settings, "\(Self.variable) is set, so that no other token would count; change or remove it there")
        }
        return try await alone { try await made(context) }
    }

    /// Does work while no other command makes a token, so that none is shown that another one has replaced already.
    private func alone<Result>(_ work: () async throws -> Result) async throws -> Result {
        try Files.makeDirectories(surroundings.locations.data)
        // A person may have to type a passphrase meanwhile.
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
            // A build without a vault.
            try token.withText { text throws(FileError) in
                try Files.writeAtomically(Array("\(text)\n".utf8), to: file, mode: 0o600)
            }
            return (token, .file)
        }
    }

    /// The token in the file; nil where none is.
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

/// The token that counts in a gateway that runs. Another one that was made meanwhile counts as soon as somebody shows it,
/// and the old one ends then.
final class LiveToken: Sendable {
    private struct State {
        var token: Secret
        var lookedAt: Timestamp?
        /// Whoever shows another token meanwhile awaits it.
        var looking: Task<Secret?, Never>?
    }

    /// Strangers who show wrong tokens must not keep the vault busy.
    private static let interval = Duration.seconds(1)

    private let state: Mutex<State>
    private let now: @Sendable () -> Timestamp
    private let read: @Sendable () async -> Secret?

    /// - Parameter read: gives the token as it is kept; nil where that cannot be said now.
    init(_ token: Secret, now: @escaping @Sendable () -> Timestamp, read: @escaping @Sendable () async -> Secret?) {
        state = Mutex(State(token: token))
        self.now = now
        self.read = read
    }

    /// Whether it is the one that is known here.
    func equals(_ shown: Secret) -> Bool { shown.equals(state.withLock(\.token)) }

    /// Whether it is the one that is kept, also one that was made meanwhile.
    func accepts(_ shown: Secret) async -> Bool {
        if equals(shown) { return true }
        guard let token = await renewed() else { return false }
        return shown.equals(token)
    }

    /// Nil when it was looked at just now.
    private func renewed() async -> Secret? {
        let time = now()
        let looking = state.withLock { state -> Task<Secret?, Never>? in
            if let looking = state.looking { return looking }
            if let last = state.lookedAt, (.zero..<Self.interval).contains(time - last) { return nil }
            let looking = Task { await look() }
            (state.lookedAt, state.looking) = (time, looking)
            return looking
        }
        return await looking?.value
    }

    private func look() async -> Secret? {
        let found = await read()
        return state.withLock { state in
            state.looking = nil
            if let found { state.token = found }
            return found
        }
    }
}
