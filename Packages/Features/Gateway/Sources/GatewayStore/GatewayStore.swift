public import Capabilities
import JSON
import ModelKit
public import ProcessKit
public import StorageKit
import Synchronization
public import TurnLoop

/// The gateway's database: projects, sessions with their messages, and usage.
///
///     let store = GatewayStore(GatewayStore.database(at: "\(folder)/gateway.db"), now: now)
///     let session = try await store.createSession(NewSession(model: "openai/gpt-5"))
///     let lease = try await store.beginTurn(session: session.id)
///     try await store.append(TurnMessage(Message(.user, "Hello")), lease: lease)
///     let history = try await store.messages(of: session.id)
///     try await store.endTurn(lease)
///
/// The file is opened on first use. Several processes may share it; in each session only one turn runs at a time across
/// all of them. Appended messages survive a kill of the process.
public final class GatewayStore: Sendable {
    /// The underlying database, for checks, backups and restores.
    public let database: Database
    let now: @Sendable () -> Timestamp
    /// Removes secrets from everything that is stored; nil to store them.
    let redactor: Redactor?
    /// The turns that this store has started and not ended. A turn whose end could not be stored does not block its
    /// session.
    let turns: Holdings
    let accounts: AccountQueue
    let findAudit: @Sendable () -> (any AuditLog)?
    /// Whether the entries of this store's own table are in the audit log.
    let hasTakenOver = Atomic(false)

    /// - Parameters:
    ///   - redactor: Removes secrets from everything that is stored.
    ///   - audit: Returns the log of what is done; nil where nothing is recorded.
    ///   - turns: The turns of another store in this process that uses the same file.
    public init(
        _ database: Database, without redactor: Redactor? = nil, turns: Holdings = Holdings(),
        audit: @escaping @Sendable () -> (any AuditLog)? = { nil }, now: @escaping @Sendable () -> Timestamp
    ) {
        findAudit = audit
        self.database = database
        self.now = now
        accounts = AccountQueue(database)
        self.turns = turns
        self.redactor = redactor
    }

    /// A text in the form in which it is stored.
    public func kept(_ text: String) -> String { redactor?.kept(text) ?? text }

    /// A message in the form in which it is stored.
    public func kept(_ message: Message) -> Message { redactor?.kept(message) ?? message }

    /// Whether a rule contains a secret. Such a rule is not stored, since without the secret it would mean something
    /// else.
    public func holdsSecret(_ rule: ApprovalRule) -> Bool {
        guard let redactor else { return false }
        return redactor.kept(rule.json) != rule.json
    }

    /// The database in a file. `notice` is called when a damaged file was set aside; by default it prints to standard
    /// error.
    public static func database(
        at path: String, notice: @escaping @Sendable (StorageNotice) -> Void = { $0.tell(nil) }
    ) -> Database {
        Database(path, migrations: migrations, durability: .normal, notice: notice)
    }

    /// A store in memory, for conversations that are not saved. The audit log gets what was done in them, without the
    /// content.
    public static func inMemory(
        audit: @escaping @Sendable () -> (any AuditLog)? = { nil }, now: @escaping @Sendable () -> Timestamp
    ) -> GatewayStore {
        let database = Database(inMemory: memory, migrations: migrations)
        return GatewayStore(database, audit: audit, now: now)
    }

    private static let memory = "the gateway's memory"

    /// Whether this is a store for conversations that are not saved.
    var isPassing: Bool { database.path == Self.memory }

    /// Waits for pending writes and closes the file.
    public func close() async {
        await accounts.drained()
        await database.close()
    }

    /// Writes to the database even in a cancelled task, such as that of a stopped turn, so that what was said is kept.
    func finish<Result: Sendable>(
        _ body: @escaping @Sendable (Connection) throws -> Result
    ) async throws -> Result {
        try await shielded { [database] in try await database.write(body) }
    }
}

extension GatewayStore {
    /// The migrations. Never change a released migration; add a new one.
    static let migrations = [
        Migration(
            "gateway",
            """
            CREATE TABLE projects (
                id TEXT PRIMARY KEY, name TEXT NOT NULL, description TEXT, path TEXT NOT NULL, rules TEXT NOT NULL,
                project_tokens INTEGER, project_cost INTEGER, session_tokens INTEGER, session_cost INTEGER,
                created INTEGER NOT NULL, updated INTEGER NOT NULL) STRICT;
            CREATE INDEX projects_updated ON projects (updated, id);

            CREATE TABLE sessions (
                id TEXT PRIMARY KEY, project TEXT REFERENCES projects (id) ON DELETE CASCADE,
                title TEXT NOT NULL, model TEXT, system TEXT,
                servers TEXT, tools TEXT, priority TEXT NOT NULL, audit_log INTEGER NOT NULL, rules TEXT NOT NULL,
                messages INTEGER NOT NULL DEFAULT 0, created INTEGER NOT NULL, updated INTEGER NOT NULL) STRICT;
            CREATE INDEX sessions_updated ON sessions (updated, id);
            CREATE INDEX sessions_project ON sessions (project, updated, id);

            -- A session has a row here while a turn runs in it, or since a process died in the middle of one.
            CREATE TABLE turns (
                session TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE, id TEXT NOT NULL,
                holder TEXT NOT NULL, began INTEGER NOT NULL) STRICT, WITHOUT ROWID;

            CREATE TABLE messages (
                id INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
                position INTEGER NOT NULL, role TEXT NOT NULL, parts TEXT NOT NULL, whole INTEGER NOT NULL,
                provider TEXT, model TEXT, finish TEXT, time INTEGER NOT NULL,
                answer_id TEXT, answer_model TEXT, answer_session TEXT, answer_project TEXT) STRICT;
            CREATE UNIQUE INDEX messages_session ON messages (session, position);

            -- What each answer took. It stays when its session and its project go.
            CREATE TABLE usage (
                id INTEGER PRIMARY KEY AUTOINCREMENT, day INTEGER NOT NULL, time INTEGER NOT NULL,
                project TEXT NOT NULL, session TEXT NOT NULL, message INTEGER, provider TEXT NOT NULL,
                model TEXT NOT NULL, input INTEGER, output INTEGER, cached INTEGER, cache_write INTEGER,
                reasoning INTEGER, cost INTEGER) STRICT;
            CREATE INDEX usage_session ON usage (session);
            CREATE UNIQUE INDEX usage_message ON usage (message) WHERE message IS NOT NULL;

            -- The same as sums, written in the same transactions, so that totals are quick however many answers there
            -- were. '' stands for what an answer does not belong to.
            CREATE TABLE usage_days (
                day INTEGER NOT NULL, project TEXT NOT NULL, session TEXT NOT NULL, provider TEXT NOT NULL,
                model TEXT NOT NULL, answers INTEGER NOT NULL, input INTEGER, output INTEGER, cached INTEGER,
                cache_write INTEGER, reasoning INTEGER, cost INTEGER, unpriced INTEGER NOT NULL,
                PRIMARY KEY (day, project, session, provider, model)) STRICT, WITHOUT ROWID;
            CREATE INDEX usage_days_session ON usage_days (session);
            CREATE INDEX usage_days_project ON usage_days (project);

            CREATE TABLE audit (
                id INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL, project TEXT, session TEXT,
                actor TEXT NOT NULL, action TEXT NOT NULL, subject TEXT, decision TEXT, detail TEXT NOT NULL) STRICT;
            CREATE INDEX audit_session ON audit (session, id);
            CREATE INDEX audit_project ON audit (project, id);
            """),
        Migration("projects by path", "CREATE INDEX projects_path ON projects (path, updated, id)"),
        Migration(
            "clients",
            """
            -- Programs with a token of their own, of which only the SHA-256 is here.
            CREATE TABLE clients (
                name TEXT PRIMARY KEY, digest BLOB NOT NULL UNIQUE, scopes TEXT NOT NULL, created INTEGER NOT NULL,
                expires INTEGER, used INTEGER, rate INTEGER) STRICT, WITHOUT ROWID;
            """),
        Migration(
            "usage by client",
            """
            ALTER TABLE clients ADD COLUMN day_tokens INTEGER;
            ALTER TABLE clients ADD COLUMN day_cost INTEGER;

            ALTER TABLE usage ADD COLUMN client TEXT NOT NULL DEFAULT '';

            -- With the client behind the day, since that is what the budget of a token is asked for by.
            CREATE TABLE usage_days_by_client (
                day INTEGER NOT NULL, client TEXT NOT NULL, project TEXT NOT NULL, session TEXT NOT NULL,
                provider TEXT NOT NULL, model TEXT NOT NULL, answers INTEGER NOT NULL, input INTEGER, output INTEGER,
                cached INTEGER, cache_write INTEGER, reasoning INTEGER, cost INTEGER, unpriced INTEGER NOT NULL,
                PRIMARY KEY (day, client, project, session, provider, model)) STRICT, WITHOUT ROWID;
            INSERT INTO usage_days_by_client SELECT day, '', project, session, provider, model, answers, input, output,
                cached, cache_write, reasoning, cost, unpriced FROM usage_days;
            DROP TABLE usage_days;
            ALTER TABLE usage_days_by_client RENAME TO usage_days;
            CREATE INDEX usage_days_session ON usage_days (session);
            CREATE INDEX usage_days_project ON usage_days (project);
            """),
    ]
}

/// A value stored as JSON in a column.
struct Written<Value: InputValue & OutputValue>: Storable {
    var value: Value

    init(_ value: Value) {
        self.value = value
    }

    var stored: StoredValue { .text(value.json.text()) }

    /// Nil for an invalid value, which makes reading the row fail: rules must not be lost silently.
    init?(stored: StoredValue) {
        guard case .text(let text) = stored else { return nil }
        do {
            value = try Value(json: JSON(parsing: text, reading: MessageCoding.reading))
        } catch {
            return nil
        }
    }
}
