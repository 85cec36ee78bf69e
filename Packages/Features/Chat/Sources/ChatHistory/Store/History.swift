public import Capabilities
public import ProcessKit
public import StorageKit

/// All conversations of one person on this machine.
///
///     let history = History("\(folder)/chat.db", now: now)
///     let chat = try await history.create(ConversationSetup(provider: "openai", model: "gpt-5"))
///     let question = try await history.append(Message(.user, "Hello"), to: chat.id, after: chat.head)
///     let draft = history.begin(in: chat.id, after: question.id, provider: "openai", model: "gpt-5")
///     let answer = try await provider.answer(request) { events in draft.append(events) }
///     try await draft.finish(answer)
///
/// Nothing is opened before the first use. Several processes may use one file, and write to one conversation: each new
/// message names the one that it follows, and where somebody else was faster it becomes a branch.
public final class History: Sendable {
    /// Where it is kept, to be checked, saved and restored as other stores are.
    public let database: Database
    let clock: any Clock<Duration>
    let now: @Sendable () -> Timestamp
    /// What takes secrets out of all that is stored; nil where they are kept.
    let redactor: Redactor?
    /// The messages that are being written now. One whose end could not be stored counts as interrupted at once.
    let drafts: Holdings

    /// Names the file; `notice` is told when a damaged one was set aside; standard error, where nothing is said.
    ///
    /// - Parameters:
    ///   - redactor: what takes secrets out of all that is stored.
    ///   - drafts: those of another history of this program that has the same file.
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

    /// Waits for what is being stored, and closes the file.
    public func close() async {
        await database.close()
    }
}
