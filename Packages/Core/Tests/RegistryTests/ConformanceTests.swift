import Capabilities
import CoreTesting
import Glibc
import JSON
import Registry
import Screens
import Settings
import Synchronization
import Testing

/// Each test runs in its own process, because the rules cover all descriptors and children of a process.
@Suite("FeatureConformance", .timeLimit(.minutes(5)))
struct ConformanceTests {
    @Test("A good feature keeps the rules, running or not, alone or with its dependencies")
    func good() async {
        await #expect(processExitsWith: .success) {
            let still = try await FeatureConformance.violations(
                of: ActionsFeature.self, texts: ["demo.rich.hosts": "it speaks to none"])
            #expect(still == [])
            let running = try await FeatureConformance.violations(of: Tidy.self)
            #expect(running == [])
            let others: [any Feature.Type] = [Source<Alpha>.self, JournalFeature.self]
            let needy = try await FeatureConformance.violations(of: Runner<Beta, Alpha, Steady>.self, with: others)
            #expect(needy == [])
        }
    }

    @Test("Summaries with a final stop, and incomplete examples, are violations")
    func words() async {
        await #expect(processExitsWith: .success) {
            let found = try await FeatureConformance.violations(of: Wordy.self)
            #expect(
                found == [
                    "the summary must be one line without a final stop",
                    "the composition is refused: wordy declares the action wordy.do, "
                        + "which needs a summary of one line without a final stop",
                    "the setting size needs a summary without a final stop",
                    "wordy.do: the parameter word needs a summary without a final stop",
                    "wordy.do: the example 'wordy do' must be a whole command line",
                ])
        }
    }

    @Test("A result with two members of the same name is a violation")
    func results() async {
        await #expect(processExitsWith: .success) {
            let found = try await FeatureConformance.violations(of: Doubled.self)
            #expect(found == ["doubled.do: the result has two members with the same name"])
        }
    }

    @Test("A text parameter that seems to name a file, a server or a secret is a violation unless it is listed")
    func leads() async {
        await #expect(processExitsWith: .success) {
            let found = try await FeatureConformance.violations(of: Leading.self)
            #expect(
                found.map { $0.prefix { $0 != ";" } } == [
                    "leading.do: the text file seems to name a file, a server or a secret",
                    "leading.do: the text places seems to name a file, a server or a secret",
                ])
            let texts = ["leading.do.file": "no file of ours", "leading.do.places": "they are never opened"]
            #expect(try await FeatureConformance.violations(of: Leading.self, texts: texts).isEmpty)
        }
    }

    @Test("An unmet need is a violation")
    func needs() async {
        await #expect(processExitsWith: .success) {
            let found = try await FeatureConformance.violations(of: Link<Alpha, Beta>.self)
            #expect(found.count == 1)
            #expect(found.first?.hasPrefix("the composition is refused: alpha needs Beta") == true)
        }
    }

    @Test("Opening something before it is used is a violation")
    func eager() async {
        await #expect(processExitsWith: .success) {
            let found = try await FeatureConformance.violations(of: Eager.self)
            #expect(found == ["making the feature opened a file, a socket or a pipe"])
        }
    }

    @Test("A descriptor that stays open is a violation")
    func leaky() async {
        await #expect(processExitsWith: .success) {
            let found = try await FeatureConformance.violations(of: Leaky.self)
            #expect(found == ["it left a file, a socket or a pipe open"])
        }
    }

    @Test("A child process that is left behind is a violation")
    func parent() async {
        await #expect(processExitsWith: .success) {
            let found = try await FeatureConformance.violations(of: Parent.self)
            #expect(found == ["it left a child process behind"])
        }
    }

    @Test("Not ending when cancelled is a violation, in each round")
    func endless() async {
        await #expect(processExitsWith: .success) {
            let limits = WorkbenchSession.Limits(start: .seconds(10), stop: .milliseconds(20))
            let found = try await FeatureConformance.violations(of: Endless.self, limits: limits)
            #expect(found == Array(repeating: "it did not end within the limit after being cancelled", count: 2))
        }
    }

    @Test("An action with varying outcomes, in a session or with new settings, is a violation")
    func forgetful() async {
        await #expect(processExitsWith: .success) {
            let found = try await FeatureConformance.violations(of: Forgetful.self)
            #expect(
                found == [
                    "forgetful.once ends with demo.failed the second time, but ended with a result the first time"
                ]
                    + Array(
                        repeating: "forgetful.once ends with demo.failed side by side with itself, but ended with a "
                            + "result the first time", count: 8)
                    + [
                        "forgetful.once ends with demo.failed after it was cancelled, but ended with a result the "
                            + "first time"
                    ])
        }
    }

    @Test("A screen that varies, links to nothing, or hides why its store fails is a violation")
    func screens() async {
        await #expect(processExitsWith: .success) {
            try await TemporaryDirectory.run { folder in
                let found = try await FeatureConformance.violations(
                    of: Showing.self, in: folder, unfilled: ["showing.links": "it has only texts"])
                #expect(
                    Set(found) == [
                        "showing.moody shows a code the second time, but showed a text the first time",
                        "showing.moody shows a code after it was closed in the middle, but showed a text the first time",
                        "showing.links shows the id of stack text twice",
                        "showing.links links to showing.gone, which does not exist",
                        "showing.links gives showing.act the unknown argument city",
                        "showing.forms links to showing.none, which does not exist",
                        "showing.forms gives showing.act the unknown argument county, place",
                        "showing.forms gives showing.act the unknown argument leaves, word",
                        "showing.forms gives showing.act the unknown argument order",
                    ])
                let without = try await FeatureConformance.violations(of: Hiding.self, in: folder)
                #expect(without == ["hiding.store does not say what is wrong when its store cannot be opened"])
                let nowhere = try await FeatureConformance.violations(of: Hiding.self, in: "\(folder)/none")
                #expect(
                    nowhere == [
                        "\(folder)/none/failing cannot be made, so that the screens are not tried without a store"
                    ])
            }
        }
    }

    @Test("A screen that no sample fills is a violation unless it is listed, and only then")
    func unfilled() async {
        await #expect(processExitsWith: .success) {
            let bare = try await FeatureConformance.violations(of: Filling.self)
            let advice = "let a sample give it something to show, or list it with a reason"
            #expect(
                bare == [
                    "filling.words was only seen empty; \(advice)",
                    "filling.word was only seen failing (demo.failed); \(advice)",
                ])
            let samples: KeyValuePairs<String, JSONObject> = [
                "filling.add": ["word": "a"], "filling.word": ["word": "a"],
            ]
            #expect(try await FeatureConformance.violations(of: Filling.self, doing: samples) == [])
            let listed = ["filling.words": "no words", "filling.word": "no words either"]
            #expect(try await FeatureConformance.violations(of: Filling.self, unfilled: listed) == [])
            let wrong = try await FeatureConformance.violations(of: Filling.self, doing: samples, unfilled: listed)
            #expect(
                wrong
                    == ["filling.words", "filling.word"].map {
                        "\($0) is listed as unfilled, but was seen full; take it off the list"
                    })
            let unknown = try await FeatureConformance.violations(
                of: Filling.self, doing: samples, unfilled: ["filling.add": "an action", "filling.gone": "nothing"])
            #expect(
                unknown
                    == ["filling.add", "filling.gone"].map {
                        "\($0) is listed as unfilled, but it is not one of its screens"
                    })
        }
    }

    @Test("A screen that does not say why it has nothing to show before the samples is a violation")
    func unprepared() async {
        await #expect(processExitsWith: .success) {
            let found = try await FeatureConformance.violations(of: Unprepared.self, doing: ["unprepared.begin": [:]])
            #expect(found == ["unprepared.state does not say what is wrong before anything was stored"])
        }
    }

    @Test("Leaving something open, and a sample for another feature's action, are violations")
    func littering() async {
        await #expect(processExitsWith: .success) {
            let found = try await FeatureConformance.violations(of: Littering.self, doing: ["littering.drop": [:]])
            #expect(found == ["its actions left a file, a socket or a pipe open"])
            let none = try await FeatureConformance.violations(of: Littering.self, doing: ["demo.other": [:]])
            #expect(none == ["the sample demo.other is not for one of its actions or screens"])
        }
    }

    @Test("Events that are not declared, or differ from their declaration, are violations")
    func talkative() async {
        await #expect(processExitsWith: .success) {
            let found = try await FeatureConformance.violations(of: Talkative.self)
            #expect(
                found == [
                    "talkative.say sends count, but n: needs a whole number, not a string",
                    "talkative.say sends surprise, but there is no event surprise",
                ])
        }
    }

    @Test("An event of an action that declares none is a violation")
    func undeclared() async {
        await #expect(processExitsWith: .success) {
            let found = try await FeatureConformance.violations(of: Undeclared.self)
            #expect(found == ["undeclared.do sends surprise, but there is no event surprise"])
        }
    }

    @Test("An event with a final stop, a repeated member or a text that is no member is a violation")
    func misdeclared() async {
        await #expect(processExitsWith: .success) {
            let found = try await FeatureConformance.violations(of: Misdeclared.self)
            #expect(
                found == [
                    "misdeclared.do: the event say needs a summary without a final stop",
                    "misdeclared.do: the event say has two members with the same name",
                    "misdeclared.do: the event say reads as words, which is not one of its members",
                ])
        }
    }

    @Test("Failing at the start is a violation, in each round")
    func failing() async {
        await #expect(processExitsWith: .success) {
            let found = try await FeatureConformance.violations(of: Unlucky.self)
            #expect(found == ["start 1 failed: it broke", "start 2 failed: it broke"])
        }
    }
}

/// Opens a descriptor while it runs, and closes it.
private struct Tidy: PlainFeature, RunningFeature {
    static let manifest = Manifest(id: "tidy", summary: "Cleans up", version: "1")

    func run(in host: Host, report: @escaping @Sendable (Health) -> Void) async throws {
        let descriptor = openNull()
        defer { close(descriptor) }
        report(.ok)
        await untilCancelled()
    }
}

private struct Wordy: PlainFeature {
    static let manifest = Manifest(
        id: "wordy", summary: "Says too much.", version: "1",
        settings: [Setting("size", "Its size.", default: 1).declaration])

    func register(in registry: inout RegistryBuilder) {
        registry.add(
            Action("wordy.do", "Does it.", .reads, .argument("word", "")) { _, _ in Nothing() }
                .example("wordy do", "Does it"))
    }
}

private struct Doubled: PlainFeature {
    struct Pair: Record {
        static let fields: [Field<Pair>] = [Field("one", "First") { _ in 1 }, Field("one", "Second") { _ in 2 }]
    }

    static let manifest = Manifest(id: "doubled", summary: "Says it twice", version: "1")

    func register(in registry: inout RegistryBuilder) {
        registry.add(Action("doubled.do", "Does it", .reads) { _ in [Pair()] })
    }
}

private struct Leading: PlainFeature {
    static let manifest = Manifest(id: "leading", summary: "Leads somewhere", version: "1")

    func register(in registry: inout RegistryBuilder) {
        registry.add(
            Action(
                "leading.do", "Does it", .reads, .argument("file", "What", as: String.self),
                .option("places", "The servers", as: [String].self), .option("from", "Any path", as: ReadPath?.self),
                .option("count", "How many keys", as: Int?.self), .option("word", "Said aloud", as: String?.self)
            ) { _, _, _, _, _, _ in Nothing() })
    }
}

private struct Eager: PlainFeature {
    static let manifest = Manifest(id: "eager", summary: "Opens at once", version: "1")
    private let descriptor = openNull()
}

private struct Leaky: PlainFeature, RunningFeature {
    static let manifest = Manifest(id: "leaky", summary: "Leaves it open", version: "1")

    func run(in host: Host, report: @escaping @Sendable (Health) -> Void) async throws {
        _ = openNull()
        report(.ok)
        await untilCancelled()
    }
}

private struct Parent: PlainFeature, RunningFeature {
    static let manifest = Manifest(id: "parent", summary: "Leaves a child", version: "1")

    func run(in host: Host, report: @escaping @Sendable (Health) -> Void) async throws {
        try spawnTrue()
        report(.ok)
        await untilCancelled()
    }
}

private struct Endless: PlainFeature, RunningFeature {
    static let manifest = Manifest(id: "endless", summary: "Goes on", version: "1")

    func run(in host: Host, report: @escaping @Sendable (Health) -> Void) async throws {
        report(.ok)
        await Door().wait()
    }
}

private final class Flag: Sendable {
    let value = Mutex(false)
}

/// Has an action that works only once in each composition.
private struct Forgetful: PlainFeature {
    static let manifest = Manifest(id: "forgetful", summary: "Works once", version: "1")

    func register(in registry: inout RegistryBuilder) {
        let isDone = Flag()
        registry.add(
            Action("forgetful.once", "Do it once", .reads) { _ in
                if isDone.value.withLock({ exchange(&$0, with: true) }) { throw DemoFailure() }
                return true
            })
    }
}

/// Leaves a descriptor open with each action.
private struct Littering: PlainFeature {
    static let manifest = Manifest(id: "littering", summary: "Drops things", version: "1")

    func register(in registry: inout RegistryBuilder) {
        registry.add(
            Action("littering.drop", "Drop something", .writes) { _ in
                _ = openNull()
                return true
            })
    }
}

/// Sends more than it declares.
private struct Talkative: PlainFeature {
    static let manifest = Manifest(id: "talkative", summary: "Says more", version: "1")

    func register(in registry: inout RegistryBuilder) {
        registry.add(
            Action("talkative.say", "Say it", .reads) { context in
                try await context.emit(ActionEvent("count", ["n": 1]))
                try await context.emit(ActionEvent("count", ["n": "one"]))
                try await context.emit(ActionEvent("surprise"))
                return true
            }
            .streaming([EventDeclaration("count", "A number", [.init("n", "The number", .integer(nil))])]))
    }
}

private struct Undeclared: PlainFeature {
    static let manifest = Manifest(id: "undeclared", summary: "Declares no events", version: "1")

    func register(in registry: inout RegistryBuilder) {
        registry.add(
            Action("undeclared.do", "Does it", .reads) { context in
                try await context.emit(ActionEvent("surprise"))
                return Nothing()
            })
    }
}

private struct Misdeclared: PlainFeature {
    static let manifest = Manifest(id: "misdeclared", summary: "Declares too much", version: "1")

    func register(in registry: inout RegistryBuilder) {
        registry.add(
            Action("misdeclared.do", "Does it", .reads) { _ in Nothing() }
                .streaming([EventDeclaration("say", "It says so.", [.init("type", "Its type", .any)], text: "words")]))
    }
}

private struct Unlucky: PlainFeature, RunningFeature {
    static let manifest = Manifest(id: "unlucky", summary: "Never starts", version: "1")

    func run(in host: Host, report: @escaping @Sendable (Health) -> Void) async throws { throw DemoFailure() }
}

private func openNull() -> Int32 {
    unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
}

/// Starts `/bin/true` without waiting for it.
private func spawnTrue() throws {
    guard let path = unsafe strdup("/bin/true") else { throw DemoFailure() }
    defer { unsafe free(path) }
    var child: pid_t = 0
    var arguments: [UnsafeMutablePointer<CChar>?] = unsafe [path, nil]
    guard unsafe posix_spawn(&child, path, nil, nil, &arguments, nil) == 0 else { throw DemoFailure() }
}

/// Its screens break the rules.
private struct Showing: PlainFeature {
    static let manifest = Manifest(id: "showing", summary: "Wrong screens", version: "1")

    func register(in registry: inout RegistryBuilder) {
        // Whether the screen was seen after the action, which is performed before the screens are compared.
        let isSeen = registry.shared("seen") { Flag() }
        registry.add(
            Action("showing.act", "Act", .reads, .option("town", "A town", as: String?.self)) { _, _ in
                isSeen.value.withLock { $0 = false }
                return Nothing()
            })
        registry.add(
            Screen("showing.moody", "Another block each time", .home) { screen in
                let isFirst = isSeen.value.withLock { !exchange(&$0, with: true) }
                try await screen.show(isFirst ? Block(.text("a")) : Block(.code(Code("a"))))
                try await screen.changed()
            })
        registry.add(
            Screen("showing.links", "Dead links", .home) { screen in
                let links: [Screens.Link] = [
                    .action("showing.gone", "Gone"), .action("showing.act", "Act", ["city": .value("Bern")]),
                ]
                try await screen.show(.stack([Block(.text("a"), links: links), Block(.text("b"))]))
                try await screen.changed()
            })
        registry.add(
            Screen("showing.forms", "Wrong forms", .home) { screen in
                let place = Form(
                    "showing.act", parameters: ["town", "place"], values: ["county": "Kent"], submit: "Act")
                try await screen.show(
                    .stack([
                        Block(.form(Form("showing.act", values: ["town": "Bern"], submit: "Act")), id: "good"),
                        Block(.form(place), id: "wrong"),
                        Block(
                            .composer(
                                Composer(
                                    "showing.act", "word", files: "leaves",
                                    command: Composer.Target("showing.act", "order"), hint: "Word"))),
                        Block(.form(Form("showing.none", submit: "Act"))),
                    ]))
                try await screen.changed()
            })
    }
}

/// Its screen does not say why it cannot read its store.
private struct Hiding: PlainFeature {
    static let manifest = Manifest(id: "hiding", summary: "A secretive store", version: "1")

    private struct Trouble: Error {}

    func register(in registry: inout RegistryBuilder) {
        registry.add(
            Screen("hiding.store", "The store", .home) { screen in
                if unsafe access(screen.context.host.locations.data, F_OK) == 0 { throw Trouble() }
                try await screen.show(Block(.text("nothing yet")))
                try await screen.changed()
            })
    }
}

/// Its screens have something to show when words were added.
private struct Filling: PlainFeature {
    static let manifest = Manifest(id: "filling", summary: "Keeps words", version: "1")

    private struct Word: Record {
        let word: String
        static let fields: [Field<Word>] = [Field("word", "A word") { $0.word }]
    }

    private final class Words: Sendable {
        let all = Mutex<Set<String>>([])
    }

    func register(in registry: inout RegistryBuilder) {
        let words = registry.shared("words") { Words() }
        registry.add(
            Action("filling.add", "Add a word", .writes, .option("word", "The word", as: String?.self)) { _, word in
                if let word { words.all.withLock { _ = $0.insert(word) } }
                return Nothing()
            })
        registry.add(
            Action("filling.list", "List the words", .reads) { _ in words.all.withLock { $0.sorted().map(Word.init) } })
        registry.addScreen("filling.words", "Words", .home, listing: "filling.list", id: "word")
        registry.add(
            Screen("filling.word", "A word", .detail, .argument("word", "The word")) { screen, word in
                guard words.all.withLock({ $0.contains(word) }) else { throw DemoFailure() }
                try await screen.show(Block(.text(RichText(word))))
            })
    }
}

/// Its screen works only after an action.
private struct Unprepared: PlainFeature {
    static let manifest = Manifest(id: "unprepared", summary: "Needs an action first", version: "1")

    private struct Trouble: Error {}

    func register(in registry: inout RegistryBuilder) {
        let hasBegun = registry.shared("begun") { Flag() }
        registry.add(
            Action("unprepared.begin", "Begin", .writes) { _ in
                hasBegun.value.withLock { $0 = true }
                return Nothing()
            })
        registry.add(
            Screen("unprepared.state", "State", .home) { screen in
                if !hasBegun.value.withLock({ $0 }) { throw Trouble() }
                try await screen.show(Block(.text("begun")))
            })
    }
}
