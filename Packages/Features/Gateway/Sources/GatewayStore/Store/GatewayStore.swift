public import Capabilities
public import ProcessKit
public import StorageKit
public import TurnLoop

/// What the gateway remembers: projects, sessions with their messages, what they took, and who did what.
///
///     let store = GatewayStore(GatewayStore.database(at: "\(folder)/gateway.db"), now: now)
///     let session = try await store.createSession(NewSession(model: "openai/gpt-5"))
///     let lease = try await store.beginTurn(session: session.id)
///     try await store.append(TurnMessage(Message(.user, "Hello")), lease: lease)
///     let history = try await store.messages(of: session.id)
///     try await store.endTurn(lease)
///
/// Nothing is opened before the first use. Several processes may use one file; of each session one turn runs at a time
/// over all of them. What was appended survives a process that is killed.
public final class GatewayStore: Sendable {
    /// Where it is kept, to be checked, saved and restored as other stores are.
    public let database: Database
    let now: @Sendable () -> Timestamp
    /// What takes secrets out of all that is stored; nil where they are kept.
    let redactor: Redactor?
    /// The turns that this store has begun and not ended. One whose end could not be stored does not block its session.
    let turns: Holdings
    let accounts: AccountQueue

    /// - Parameters:
    ///   - redactor: what takes secrets out of all that is stored.
    ///   - turns: those of another store of this program that has the same file.
    public init(
        _ database: Database, without redactor: Redactor? = nil, turns: Holdings = Holdings(),
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.database = database
        self.now = now
        accounts = AccountQueue(database)
        self.turns = turns
        self.redactor = redactor
    }

    /// A text as it is stored.
    public func kept(_ text: String) -> String { redactor?.kept(text) ?? text }

    /// A message as it is stored.
    public func kept(_ message: Message) -> Message { redactor?.kept(message) ?? message }

    /// Whether a rule that somebody wants to be remembered has a secret in it. Changed it would be about something else.
    public func holdsSecret(_ rule: ApprovalRule) -> Bool {
        guard let redactor else { return false }
        return redactor.kept(rule.json) != rule.json
    }

    /// Names the file; `notice` is told when a damaged one was set aside; standard error, where nothing is said.
    public static func database(
        at path: String, notice: @escaping @Sendable (StorageNotice) -> Void = { $0.tell(nil) }
    ) -> Database {
        Database(path, migrations: migrations, durability: .normal, notice: notice)
    }

    /// A store that is only in memory, for conversations that are not kept.
    public static func inMemory(now: @escaping @Sendable () -> Timestamp) -> GatewayStore {
        GatewayStore(Database(inMemory: "the gateway's memory", migrations: migrations), now: now)
    }

    /// Waits for what is being stored, and closes the file.
    public func close() async {
        await accounts.drained()
        await database.close()
    }

    /// Stores something also when the task was cancelled, as that of a stopped turn is: what was said is kept.
    func finish<Result: Sendable>(
        _ body: @escaping @Sendable (Connection) throws -> Result
    ) async throws -> Result {
        // A task of its own, which is awaited here, because a cancelled one stores nothing.
        try await Task { [database] in try await database.write(body) }.value
    }
}
