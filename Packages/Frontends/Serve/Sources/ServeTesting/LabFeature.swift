public import Capabilities
import JSON
public import Registry
import Screens
public import Settings
import Synchronization

/// What tests offer to hosts: actions of every kind, two screens and a conversation.
public struct LabFeature: Feature {
    public static let manifest = Manifest(
        id: "lab", summary: "What tests offer to hosts", version: "1.0",
        provides: [.single(LabState.self), .single((any ConversationStore).self)])

    private let state = LabState()

    public init(_ settings: FeatureSettings) {}

    public func register(in registry: inout RegistryBuilder) {
        registry.provide(LabState.self, state)
        registry.provide((any ConversationStore).self, LabConversations(state))
        for action in LabActions(state: state).all { registry.add(action) }
        for screen in LabScreens(state: state).all { registry.add(screen) }
    }
}

/// What has happened in the lab.
public final class LabState: Sendable {
    /// What is counted.
    public struct Counts: Sendable, Hashable {
        /// What only a decision of the person allows.
        public var granted = 0
        /// What actions have written, and what they have destroyed.
        public var written = 0, destroyed = 0
        /// The waits that have begun, and those that were cancelled.
        public var waiting = 0, cancelled = 0
        /// What the screen shows.
        public var value = 0
    }

    /// Raised with each change.
    public let news = Signal()
    private let state = Mutex(Counts())

    init() {}

    /// What was counted so far.
    public var counts: Counts { state.withLock { $0 } }

    func change(_ edit: (inout Counts) -> Void) {
        state.withLock { edit(&$0) }
        news.raise()
    }

    /// Waits until what was counted fulfils a condition.
    public func wait(until isDone: (Counts) -> Bool) async throws {
        while true {
            let seen = news.count
            if isDone(counts) { return }
            try await news.wait(beyond: seen)
        }
    }
}

/// A secret that an action tries to give away.
public enum LabSecret {
    /// It looks like a word, so that only who knows it can remove it.
    public static let text = "correct-horse-battery-staple"
}

private struct LabActions {
    let state: LabState

    var all: [Action] { reading + asking + changing }

    private var reading: [Action] {
        [
            Action(
                "lab.add", "Add two numbers", .reads, .argument("a", "The first", as: Int.self),
                .option("b", "The second", default: 1)
            ) { _, a, b in LabSum(sum: a + b, terms: [a, b]) }
            .forModels().details("Nothing is remembered."),
            Action("lab.echo", "Say the same", .reads, .argument("text", "What to say")) { _, text in text }
                .forModels(),
            Action("lab.nothing", "Do nothing", .reads) { _ in Nothing() }.forModels(),
            Action("lab.count", "Count, with progress", .reads, .argument("to", "The last number", as: Int.self)) {
                context, last in
                for number in 1...max(1, last) {
                    context.progress("counting \(LabSecret.text)", completed: number, of: last)
                    try await context.emit(ActionEvent("number", ["number": .int(number)], text: "\(number) "))
                }
                context.notice("counted with \(LabSecret.text)")
                return last
            }.forModels().streaming([
                EventDeclaration("number", "A number", [Schema.Property("number", "It", .integer(nil))])
            ]),
            Action("lab.fail", "Fail", .reads) { _ -> Nothing in throw LabFailure() }.forModels(),
            Action("lab.wait", "Wait until it is cancelled", .reads) { [state] _ -> Nothing in
                state.change { $0.waiting += 1 }
                defer { state.change { $0.cancelled += 1 } }
                try await Promise<Void>().value()
                return Nothing()
            }.forModels(),
            Action("lab.leak", "Give a secret away", .reads) { context in
                context.host.redactor.learn(Secret(LabSecret.text))
                return LabLeak(text: "the secret is \(LabSecret.text)", words: [LabSecret.text, "nothing"])
            }.forModels(),
            Action("lab.long", "Give a long text", .reads, .argument("bytes", "How long it is", as: Int.self)) {
                _, bytes in String(repeating: "a", count: bytes)
            }.forModels(),
            Action("lab.edit", "Open an editor", .reads) { context in
                _ = try await context.interaction.lendTerminal(to: ["vi"], environment: [:])
                return Nothing()
            }.forModels(),
            Action("lab.talk", "Show what was said", .reads) { _ in "said" }.forModels().showingConversations(),
            Action("lab.hidden", "Be hidden", .reads) { _ in "seen" }.forModels().hidden(),
            Action("lab.inner", "Read what models are not offered", .reads) { _ in "inner" },
            Action("lab.file", "The size of a file", .reads, .argument("file", "The file", as: ReadPath.self)) {
                context, file in try context.path(file).absolute
            },
            Action("lab.fetch", "Ask a server", .reads, .argument("host", "The server", as: HostValue.self)) {
                _, host in host.text
            }.sending(),
            Action("lab.login", "Sign in", .reads, .secret("password", "The password")) { _, _ in "in" },
            Action(
                "lab.maybe", "Sign in if a password is given", .reads,
                .secret("password", "The password") as Parameter<Secret?>
            ) { _, password in password == nil ? "out" : "in" },
        ]
    }

    private var asking: [Action] {
        [
            Action("lab.name", "Ask for a name", .reads) { context in
                "hello \(try await context.interaction.text("lab.name.text", "What is your name?", default: "nobody"))"
            }.forModels().question("lab.name.text", "A name"),
            Action("lab.color", "Ask for a color", .reads) { context in
                let colors = ["red", "green"]
                return colors[
                    try await context.interaction.choice("lab.color.choice", "Which color?", among: colors, for: .value)
                ]
            }.forModels().question("lab.color.choice", "A color"),
            Action("lab.trip", "Ask for several values", .reads) { context in
                let form = ValueForm([
                    Schema.Property("city", "Where to", .string),
                    Schema.Property("days", "How long", .optional(.integer(1...9))),
                    Schema.Property("tags", "Of which kind", .optional(.array(.string))),
                ])
                return JSON.object(try await context.interaction.form("lab.trip", "Where to?", form)).text()
            }.forModels().question("lab.trip.NAME", "A value"),
            Action("lab.trust", "Ask for trust", .reads) { [state] context in
                guard try await context.interaction.confirm("lab.trust.yes", "Trust it?") else { return "no" }
                state.change { $0.granted += 1 }
                return "trusted"
            }.forModels().question("lab.trust.yes", "Whether to trust"),
            Action("lab.approve", "Ask for approval", .reads) { [state] context in
                let index = try await context.interaction.choice(
                    "lab.approve.choice", "Allow it?", among: ["Yes, this once", "No"])
                if index == 0 { state.change { $0.granted += 1 } }
                return index == 0 ? "allowed" : "denied"
            }.forModels().question("lab.approve.choice", "Whether to allow"),
            Action("lab.unlock", "Ask for a passphrase", .reads) { [state] context in
                _ = try await context.interaction.secret("lab.unlock.secret", "The passphrase")
                state.change { $0.granted += 1 }
                return "unlocked"
            }.forModels().question("lab.unlock.secret", "The passphrase"),
        ]
    }

    private var changing: [Action] {
        [
            Action("lab.bump", "Change what the screen shows", .writes) { [state] _ in
                state.change { counts in
                    counts.written += 1
                    counts.value += 1
                }
                return state.counts.value
            },
            Action("lab.wipe", "Destroy something", .destroys) { [state] _ in
                state.change { $0.destroyed += 1 }
                return Nothing()
            },
            Action("lab.clear", "Change something", .writes, .flag("all", "Destroy everything")) { [state] _, all in
                state.change { all ? ($0.destroyed += 1) : ($0.written += 1) }
                return Nothing()
            }.destroying(with: "all"),
            Action("lab.post", "Write at a server", .writes) { _ in "posted" }.sending(),
            Action("lab.rights", "Change what others may do", .writes) { [state] _ in
                state.change { $0.granted += 1 }
                return Nothing()
            }.byName(),
        ]
    }
}

private struct LabSum: Record {
    let sum: Int
    let terms: [Int]
    static let fields: [Field<LabSum>] = [
        Field("sum", "The sum") { $0.sum }, Field("terms", "What was added") { $0.terms },
    ]
}

private struct LabLeak: Record {
    let text: String
    let words: [String]
    static let fields: [Field<LabLeak>] = [
        Field("text", "A text") { $0.text }, Field("words", "Words") { $0.words },
    ]
}

private struct LabFailure: Failure {
    var code: String { "lab.failed" }
    var message: String { "the lab is closed; come back tomorrow" }
    var exit: ExitCode { .toolFailed }
}

private struct LabScreens {
    let state: LabState

    /// More books than are completed at once, and one that nobody may know.
    private static let books = Completion.dynamic { _, _, given in
        let color = given["color"]?.string ?? "no"
        return (1...250).map { Completion.Candidate("\(color)-\($0)") } + [Completion.Candidate(LabSecret.text)]
    }

    var all: [Screen] {
        [
            Screen("lab.board", "The board", .home) { [state] screen in
                while true {
                    let seen = state.news.count
                    try await screen.show(Block(.text("the value is \(state.counts.value)")))
                    try await screen.change(or: state.news, beyond: seen)
                }
            },
            Screen(
                "lab.item", "An item", .detail, .argument("name", "Its name"),
                .option("numbers", "Some numbers", as: [Int].self)
            ) { screen, name, numbers in
                try await screen.show(
                    .stack([
                        Block(.text("\(name): \(numbers.map(String.init).joined(separator: "+"))")),
                        Block(
                            .table(
                                Table(
                                    [Schema.Property("row", "A row", .integer(nil))],
                                    .source(
                                        RowSource { request in
                                            RowSource.Page((0..<min(3, request.count)).map { ["row": .int($0)] })
                                        }),
                                    id: ["row"]))),
                    ]))
                try await screen.changed()
            },
            Screen(
                "lab.shelf", "A shelf", .detail,
                .argument("color", "Its color", as: String.self, completion: .words(["red", "rose", "green"])),
                .argument(
                    "book", "A book on it", as: String.self,
                    completion: Self.books)
            ) { screen, color, book in
                try await screen.show(Block(.text("\(color): \(book)")))
            },
            Screen("lab.far", "What a server has", .home) { screen in
                try await screen.show(Block(.text("far")))
            }.sending(),
            Screen("lab.secrets", "What others may do", .home) { screen in
                try await screen.show(Block(.text("secrets")))
            }.byName(),
        ]
    }
}

private final class LabConversations: ConversationStore {
    private let state: LabState

    init(_ state: LabState) {
        self.state = state
    }

    func conversations(limit: Int) async throws -> [ConversationSummary] {
        [
            ConversationSummary(
                id: "c1", title: "About \(LabSecret.text)", provider: nil, model: "m",
                updated: Timestamp(microseconds: 0),
                messages: 2, preview: "")
        ]
    }

    func messages(of conversation: String) async throws -> [ConversationMessage] {
        guard conversation == "c1" else { throw LabNoConversation() }
        let time = Timestamp(microseconds: 0)
        return [
            ConversationMessage(
                id: 1, message: Message(.user, "The word is \(LabSecret.text)."), time: time, model: nil,
                state: "complete"),
            ConversationMessage(
                id: 2,
                message: Message(
                    .assistant,
                    [
                        .reasoning(Reasoning("hm")), .call(ToolCall(id: "1", name: "look", input: [:])),
                        .text("The value is \(state.counts.value)."),
                    ]), time: time, model: "m", state: "cancelled"),
        ]
    }

    func search(_ words: String, limit: Int) async throws -> [ConversationHit] { [] }
}

private struct LabNoConversation: Failure {
    var code: String { "lab.no-conversation" }
    var message: String { "there is no such conversation; ask for the list" }
}
