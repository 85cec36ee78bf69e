public import Capabilities
public import ProcessKit
public import StorageKit

/// All conversations of one user on this machine.
///
///     let history = History("\(folder)/chat.db", now: now)
///     let chat = try await history.create(ConversationSetup(provider: "openai", model: "gpt-5"))
///     let question = try await history.append(Message(.user, "Hello"), to: chat.id, after: chat.head)
///     let draft = history.begin(in: chat.id, after: question.id, provider: "openai", model: "gpt-5")
///     let answer = try await provider.answer(request) { events in draft.append(events) }
///     try await draft.finish(answer)
///
/// Nothing is opened before the first use. Several processes may use one file and write to one conversation: each new
/// message names the one before it, and becomes a branch if another message was added first.
public final class History: Sendable {
    /// The database, which can be checked, backed up and restored like other stores.
    public let database: Database
    let clock: any Clock<Duration>
    let now: @Sendable () -> Timestamp
    /// Removes secrets from everything that is stored; nil if they are stored.
    let redactor: Redactor?
    /// The messages that are being written now. A message whose end could not be stored counts as interrupted at once.
    let drafts: Holdings

    /// Names the file. `notice` is called when a damaged file was set aside; by default it writes to standard error.
    ///
    /// - Parameters:
    ///   - redactor: removes secrets from everything that is stored.
    ///   - drafts: those of another history of this program with the same file.
    public init(
        _ path: String, without redactor: Redactor? = nil, drafts: Holdings = Holdings(),
        clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Timestamp,
        notice: @escaping @Sendable (StorageNotice) -> Void = { $0.tell(nil) }
    ) {
        database = Database(path, migrations: Self.migrations, durability: .normal, notice: notice)
        self.redactor = redactor
        self.drafts = drafts
        self.clock = clock
        self.now = now
    }

    /// A text as it is stored.
    func kept(_ text: String) -> String { redactor?.kept(text) ?? text }

    /// A message as it is stored.
    public func kept(_ message: Message) -> Message { redactor?.kept(message) ?? message }

    /// Waits until everything is stored, and closes the file.
    public func close() async {
        await database.close()
    }
}

extension History {
    /// The migrations. A released one is never changed; new ones are appended.
    static let migrations = [
        Migration(
            "conversations",
            """
            CREATE TABLE conversations (
                id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, tag TEXT NOT NULL UNIQUE,
                -- The first of the conversations that were forked from each other: they share one tree of messages.
                tree INTEGER NOT NULL DEFAULT 0,
                title TEXT NOT NULL, provider TEXT, model TEXT, server TEXT, system TEXT,
                options TEXT NOT NULL, tools TEXT NOT NULL,
                created INTEGER NOT NULL, updated INTEGER NOT NULL, deleted INTEGER,
                head INTEGER REFERENCES messages (id),
                parent INTEGER REFERENCES conversations (id) ON DELETE SET NULL,
                preview TEXT NOT NULL DEFAULT '', usage TEXT NOT NULL DEFAULT '{}') STRICT;
            CREATE INDEX conversations_newest ON conversations (updated, id);
            CREATE INDEX conversations_head ON conversations (head);
            CREATE INDEX conversations_parent ON conversations (parent);
            CREATE INDEX conversations_tree ON conversations (tree);

            -- A message belongs to the conversation that wrote it, and forks may lead through it. Its parts are null
            -- where they are nothing but its text.
            CREATE TABLE messages (
                id INTEGER PRIMARY KEY AUTOINCREMENT, conversation INTEGER NOT NULL REFERENCES conversations (id),
                tree INTEGER NOT NULL, parent INTEGER REFERENCES messages (id), position INTEGER NOT NULL,
                role TEXT NOT NULL, text TEXT NOT NULL, parts TEXT,
                provider TEXT, model TEXT, time INTEGER NOT NULL,
                state TEXT NOT NULL, error_code TEXT, error_message TEXT,
                start TEXT, finish TEXT, usage TEXT, lease TEXT) STRICT;
            CREATE INDEX messages_conversation ON messages (conversation);
            CREATE INDEX messages_parent ON messages (parent);
            CREATE INDEX messages_streaming ON messages (id) WHERE state = 'streaming';

            -- What has arrived of a message that is not complete.
            CREATE TABLE pieces (
                message INTEGER NOT NULL REFERENCES messages (id) ON DELETE CASCADE, number INTEGER NOT NULL,
                parts TEXT NOT NULL, PRIMARY KEY (message, number)) STRICT, WITHOUT ROWID;

            CREATE TABLE blobs (id INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, bytes BLOB NOT NULL) STRICT;
            CREATE TABLE message_blobs (
                message INTEGER NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
                blob INTEGER NOT NULL REFERENCES blobs (id),
                PRIMARY KEY (message, blob)) STRICT, WITHOUT ROWID;
            CREATE INDEX message_blobs_blob ON message_blobs (blob);
            """),
        Migration(
            "search",
            """
            CREATE VIRTUAL TABLE messages_text USING fts5(
                text, content = 'messages', content_rowid = 'id',
                tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3 4');
            INSERT INTO messages_text (rowid, text) SELECT id, text FROM messages;
            """),
        Migration(
            "calls",
            """
            CREATE TABLE calls (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                conversation INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
                call TEXT NOT NULL, source TEXT, effect TEXT, state TEXT NOT NULL, decision TEXT,
                result TEXT, started INTEGER, ended INTEGER, time INTEGER NOT NULL) STRICT;
            CREATE INDEX calls_conversation ON calls (conversation);
            CREATE TABLE call_blobs (
                call INTEGER NOT NULL REFERENCES calls (id) ON DELETE CASCADE,
                blob INTEGER NOT NULL REFERENCES blobs (id),
                PRIMARY KEY (call, blob)) STRICT, WITHOUT ROWID;
            CREATE INDEX call_blobs_blob ON call_blobs (blob);
            """),
        Migration(
            "approvals-and-cuts",
            """
            -- What is allowed or denied in a project, which is a folder.
            CREATE TABLE approvals (project TEXT NOT NULL, rule TEXT NOT NULL, PRIMARY KEY (project, rule))
                STRICT, WITHOUT ROWID;
            -- What was left out of the conversation when a model was asked last.
            ALTER TABLE conversations ADD COLUMN cut TEXT;
            """),
        Migration(
            "deployments",
            """
            -- Which of a platform's deployments answered.
            ALTER TABLE conversations ADD COLUMN deployment TEXT;
            """),
    ]
}
