import Capabilities
import CoreTesting
import JSON
import Settings
import Synchronization
import Testing

@testable import Registry
@testable import Screens

/// A list that actions change, and screens that show it.
private final class Shelf: Sendable {
    private let state = Mutex((books: ["Emma"], failures: 0, reads: 0))
    let feed = Feed<Log.Line>()
    let bell = Signal()

    var books: [String] { state.withLock { $0.books } }
    /// How often the books were read.
    var reads: Int { state.withLock { $0.reads } }
    func add(_ book: String) { state.withLock { $0.books.append(book) } }

    /// Lets the next reads fail.
    func fail(_ count: Int) { state.withLock { $0.failures = count } }

    func read() throws -> [String] {
        try state.withLock { state in
            state.reads += 1
            if state.failures > 0 {
                state.failures -= 1
                throw ShelfFailure()
            }
            return state.books
        }
    }
}

private struct ShelfFailure: Failure {
    var code: String { "shelf.stuck" }
    var message: String { "the shelf is stuck; push it" }
}

/// Each one has another number.
private struct Stamp: Sendable {
    private static let last = Mutex(0)
    let number: Int

    init() {
        number = Self.last.withLock { last in
            last += 1
            return last
        }
    }
}

private struct Book: Record {
    let title: String
    static let fields: [Field<Book>] = [Field("title", "The title", .name) { $0.title }]
}

private struct ShelfFeature: Feature {
    static let prefix = Setting("prefix", "Before each title", default: "")
    static let manifest = Manifest(
        id: "shelf", summary: "Books", version: "1", settings: [prefix.declaration])
    /// One for each test, by the value of a setting that no test shares.
    @TaskLocal static var shelf = Shelf()
    private let prefix: String

    init(_ settings: FeatureSettings) { prefix = settings[Self.prefix] }

    func register(in registry: inout RegistryBuilder) {
        let (shelf, prefix) = (Self.shelf, prefix)
        registry.add(
            Action("shelf.list", "The books", .reads, .option("book", "Only this book", as: String?.self)) {
                context, book in
                let books = try shelf.read().filter { book == nil || $0 == book }.map { Book(title: prefix + $0) }
                if book == "Emma" { context.notice("there are more (canary-0123456789)") }
                return context.rows(books, orSay: "no such book")
            })
        registry.add(
            Action("shelf.add", "Add a book", .writes, .argument("title", "The title")) { _, title in
                shelf.add(title)
                return Nothing()
            })
        registry.addScreen(
            "shelf.books", "Books", .tab("Shelf"), listing: "shelf.list", id: "title",
            links: [.action("shelf.add", "Copy", key: "c", ["title": .row("title")])],
            offering: [.action("shelf.add", "Add", key: "a")])
        registry.add(
            Screen("shelf.count", "Number of books", .home, .option("step", "Wait this long", as: Duration?.self)) {
                screen, step in
                repeat {
                    try await screen.show(Block(.text("\(try shelf.read().count)")))
                } while try await screen.changed(orAfter: step)
            })
        registry.add(
            Screen("shelf.watch", "Watches the shelf", .detail) { screen in
                repeat {
                    try await screen.show(Block(.text("\(prefix)\(try shelf.read().count)")))
                } while try await screen.changed()
            }
            .runningHidden())
        registry.add(
            Screen("shelf.fast", "Counts up", .detail) { screen in
                for number in 0..<1_000 { try await screen.show(Block(.text("\(number)"))) }
            })
        registry.add(Screen("shelf.silent", "Shows nothing", .detail) { _ in _ = try shelf.read() })
        registry.add(
            Screen("shelf.once", "Shown once", .detail) { screen in
                try await screen.show(Block(.text("\(prefix)\(try shelf.read().count)")))
            })
        registry.add(
            Screen("shelf.log", "The log", .detail) { screen in
                try await screen.show(Block(.log(Log(shelf.feed))))
                try await screen.changed()
            })
        registry.add(
            Screen("shelf.bell", "What it goes on for", .detail) { screen in
                let made = screen.kept { Stamp() }
                var causes = ["\(prefix)begun"]
                while true {
                    let seen = shelf.bell.count
                    try await screen.show(Block(.text("\(causes.joined(separator: " ")), stamp \(made.number)")))
                    let cause = try await screen.change(or: shelf.bell, beyond: seen, orAfter: .seconds(5))
                    causes.append("\(cause)")
                }
            })
        registry.add(
            Screen("shelf.growing", "Writes by itself", .detail) { screen in
                let add = try screen.context.registry.actions.find("shelf.add")
                _ = try await screen.context.perform(add, ["title": "Dune"], output: screen.output)
                try await screen.show(Block(.text("done")))
            })
        registry.add(
            Screen("shelf.stumbling", "Writes and fails", .detail) { screen in
                let add = try screen.context.registry.actions.find("shelf.add")
                _ = try await screen.context.perform(add, ["title": "Dune"], output: screen.output)
                throw ShelfFailure()
            })
        registry.add(
            Screen("shelf.huge", "Too many rows", .detail) { screen in
                let rows = (0..<20_000).map { Book(title: "\($0)") }
                try await screen.show(Block(.table(Table(rows, id: "title"))))
            })
    }
}

@Suite("Screens", .timeLimit(.minutes(5)))
struct ScreenTests {
    private let shelf = Shelf()

    private func host(settings: String = "{}") throws -> TestHost {
        try ShelfFeature.$shelf.withValue(shelf) { try TestHost([ShelfFeature.self], settings: settings) }
    }

    /// The text of a block that shows one.
    private static func text(_ state: ScreenState) -> String? {
        guard case .text(let text) = state.block?.content else { return nil }
        return text.plain
    }

    /// The titles of the rows.
    private static func titles(_ state: ScreenState) -> [String]? {
        guard case .table(let table) = state.block?.content, case .all(let rows) = table.rows else { return nil }
        return rows.compactMap { $0["title"]?.string }
    }

    // MARK: Values

    @Test("A list screen shows the rows of its action with links, and what the action says about them")
    func list() async throws {
        let test = try host()
        test.host.redactor.learn(Secret("canary-0123456789"))
        func shown(_ arguments: JSONObject) async throws -> Block? {
            try await test.open("shelf.books", arguments) { view in try await view.state { $0.block != nil }.block
            }
        }
        let all = try #require(try await shown([:]))
        #expect(Self.titles(.ready(all)) == ["Emma"] && all.allLinks.map(\.title) == ["Add", "Copy"])
        guard case .stack(let stack) = try #require(try await shown(["book": "Emma"])).content else {
            Issue.record("the notice is missing")
            return
        }
        #expect(
            !stack.blocks[1].json.text().contains("canary") && stack.blocks[1].json.text().contains("there are more"))
        #expect(stack.blocks.map(\.id) == ["rows", "notices"] && Self.titles(.ready(stack.blocks[0])) == ["Emma"])
        let empty = try #require(try await shown(["book": "Dune"]))
        #expect(empty.links.map(\.title) == ["Add"] && stack.blocks[0].links == empty.links)
        guard case .table(let none) = empty.content else {
            Issue.record("no table")
            return
        }
        #expect(none.empty == "no such book" && none.rowID == ["title"] && test.output.notices.isEmpty)
    }

    private struct Corner: Feature {
        static let manifest = Manifest(id: "corner", summary: "One book", version: "1")
        init(_ settings: FeatureSettings) {}
        func register(in registry: inout RegistryBuilder) {
            registry.add(
                Action(
                    "corner.list", "Books", .reads, .option("one", "A book", as: String?.self),
                    .option("two", "Another", as: String?.self)
                ) { _, one, two in [one, two].compactMap { $0 }.map { Book(title: $0) } })
            registry.addScreen(
                "corner.books", "Books", .home, listing: "corner.list", giving: ["one": "Emma"], id: "title")
        }
    }

    @Test("What a list screen always gives its action is no parameter of it")
    func giving() async throws {
        let test = try TestHost([Corner.self])
        let screen = try test.composition.registry.screens.find("corner.books")
        #expect(screen.parameters.map(\.name) == ["two"])
        for (arguments, titles) in [([:], ["Emma"]), (["two": "Dune"], ["Emma", "Dune"])] as [(JSONObject, [String])] {
            let block = try await test.open("corner.books", arguments) { view in try await view.block() }
            #expect(Self.titles(.ready(block)) == titles)
        }
    }

    @Test("Of a list with more than a screen can show the first rows are shown, with how many there are")
    func longList() async throws {
        let test = try host()
        func shown() async throws -> (titles: [String], notice: String) {
            let block = try await test.open("shelf.books") { view in try await view.block() }
            guard case .stack(let stack) = block.content, case .text(let text) = stack.blocks[1].content else {
                Issue.record("\(block.id) has no notice")
                return ([], "")
            }
            return (Self.titles(.ready(stack.blocks[0])) ?? [], text.plain)
        }
        for number in 0..<6_000 { shelf.add("\(number)") }
        let many = try await shown()
        #expect(many.titles.count == 5_000 && many.titles.first == "Emma")
        #expect(many.notice == "only the first 5000 of 6001 rows are shown; 'martlet shelf list' shows all")
        let long = Shelf()
        for number in 0..<100 { long.add("\(number)" + String(repeating: "x", count: 20_000)) }
        let wide = try await ShelfFeature.$shelf.withValue(long) { try TestHost([ShelfFeature.self]) }
            .open("shelf.books") { view in try await view.block() }
        #expect(wide.excess == nil && Self.titles(.ready(wide.children[0]))?.count == 45)
    }

    @Test("A writing action in the same session refreshes open screens")
    func written() async throws {
        let test = try host()
        try await test.open("shelf.books") { view in
            try await view.state { Self.titles($0) == ["Emma"] }
            _ = try await test.perform("shelf.add", ["title": "Dune"])
            try await view.state { Self.titles($0) == ["Emma", "Dune"] }
        }
    }

    @Test("A screen that looks again after an interval shows what others have changed")
    func interval() async throws {
        let test = try host()
        try await test.open("shelf.count", ["step": "5s"]) { view in
            try await view.state { Self.text($0) == "1" }
            shelf.add("Dune")
            await test.clock.waitForSleepers(1)
            test.clock.advance(by: .seconds(5))
            try await view.state { Self.text($0) == "2" }
        }
    }

    @Test("A body goes on for its signal, for what was written and after an interval, and knows which it was")
    func causes() async throws {
        let test = try host()
        try await test.open("shelf.bell") { [shelf] view in
            func wait(for causes: String) async throws {
                try await view.state { Self.text($0)?.hasPrefix("begun\(causes),") == true }
            }
            try await wait(for: "")
            shelf.bell.raise()
            try await wait(for: " raised")
            _ = try await test.perform("shelf.add", ["title": "Dune"])
            try await wait(for: " raised outdated")
            await test.clock.waitForSleepers(1)
            test.clock.advance(by: .seconds(5))
            try await wait(for: " raised outdated due")
            view.refresh()
            try await wait(for: " raised outdated due outdated")
        }
    }

    @Test("What was raised before the wait ends it at once, and what was written is not lost behind it")
    func raisedBefore() async throws {
        let screen = OpenScreen(
            try #require(try host().composition.registry.screens["shelf.bell"]), [:], output: RecordingOutput())
        let (signal, clock) = (Signal(), TestClock())
        func change(beyond count: Int) async throws -> ScreenChange {
            try await screen.waitForChange(or: (signal, beyond: count), atMost: nil, clock)
        }
        for _ in 0..<3 { signal.raise() }
        #expect(try await change(beyond: 2) == .raised)
        screen.outdate()
        #expect(try await change(beyond: 0) == .outdated)
        #expect(try await change(beyond: 2) == .raised)
    }

    @Test("A value is kept when the body begins again, and is another one on another screen")
    func keeps() async throws {
        let test = try host()
        @Sendable func stamp(_ state: ScreenState) -> String? {
            Self.text(state)?.split(separator: " ").last.map(String.init)
        }
        let first = try await test.open("shelf.bell") { [shelf] view in
            let before = stamp(try await view.state { $0.block != nil })
            try ShelfFeature.$shelf.withValue(shelf) { try test.change(settings: "{shelf: {prefix: '* '}}") }
            _ = try await test.perform("shelf.add", ["title": "Ulysses"])
            let after = stamp(try await view.state { Self.text($0)?.hasPrefix("* ") == true })
            #expect(before != nil && before == after)
            return after
        }
        let second = try await test.open("shelf.bell") { view in stamp(try await view.state { $0.block != nil }) }
        #expect(second != nil && second != first)
    }

    @Test("Values are not queued: a slow reader gets the newest one")
    func newest() async throws {
        let test = try host()
        let last = try await test.open("shelf.fast") { view in
            while Self.text(view.state) != "999" { await Task.yield() }
            var states = view.states.makeAsyncIterator()
            return try await states.next()
        }
        #expect(last.flatMap(Self.text) == "999")
    }

    @Test("A body that returns leaves its last value")
    func ended() async throws {
        let test = try host()
        try await test.open("shelf.fast") { view in
            try await view.state { Self.text($0) == "999" }
            for _ in 0..<1_000 { await Task.yield() }
            #expect(Self.text(view.state) == "999")
        }
    }

    @Test("A feed that grows is a new state, until the screen is closed")
    func feed() async throws {
        let test = try host()
        try await test.open("shelf.log") { view in
            var states = view.states.makeAsyncIterator()
            while view.state.block == nil { _ = try await states.next() }
            for number in 1...3 {
                shelf.feed.append(Log.Line("\(number)"))
                _ = try await states.next()
                #expect(shelf.feed.end == number)
            }
        }
        #expect(shelf.feed.observers == 0)
    }

    @Test("A value that is too large is a failure that names the limit")
    func huge() async throws {
        let test = try host()
        let state = try await test.open("shelf.huge") { view in
            try await view.state { if case .failed = $0 { true } else { false } }
        }
        guard case .failed(let failure, nil) = state else {
            Issue.record("\(state)")
            return
        }
        #expect(failure.code == "screen.too-large" && failure.message.contains("10000"))
    }

    // MARK: Visibility

    @Test("A hidden screen is suspended after its next value, and goes on when it is seen again")
    func hidden() async throws {
        let test = try host()
        try await test.open("shelf.count") { view in
            try await view.state { Self.text($0) == "1" }
            view.isVisible = false
            _ = try await test.perform("shelf.add", ["title": "Dune"])
            try await view.state { Self.text($0) == "2" }
            _ = try await test.perform("shelf.add", ["title": "Ulysses"])
            for _ in 0..<1_000 { await Task.yield() }
            #expect(Self.text(view.state) == "2")
            view.isVisible = true
            try await view.state { Self.text($0) == "3" }
        }
    }

    @Test("A body that writes and fails is tried again after a pause, and not while nobody sees it")
    func stumbling() async throws {
        let test = try host()
        try await test.open("shelf.stumbling") { [shelf] view in
            _ = try await view.state { if case .failed = $0 { true } else { false } }
            await test.clock.waitForSleepers(1)
            #expect(shelf.books == ["Emma", "Dune"])
            view.isVisible = false
            test.clock.advance(by: .seconds(1))
            // Nothing is waited for by the clock any more: only by who sees it.
            view.isVisible = true
            await test.clock.waitForSleepers(1)
            #expect(shelf.books == ["Emma", "Dune", "Dune"])
        }
    }

    @Test("A screen that runs hidden goes on while nobody sees it")
    func runsHidden() async throws {
        let test = try host()
        try await test.open("shelf.watch") { view in
            view.isVisible = false
            for (title, text) in [("Dune", "2"), ("Ulysses", "3")] {
                _ = try await test.perform("shelf.add", ["title": .string(title)])
                try await view.state { Self.text($0) == text }
            }
        }
    }

    @Test(
        "A hidden screen begins again after a change of settings, and keeps no old ones", arguments: ["books", "watch"])
    func hiddenRenewed(_ id: String) async throws {
        let test = try host()
        try await test.open("shelf.\(id)") { [shelf] view in
            try await view.state { $0.block != nil }
            view.isVisible = false
            view.refresh()
            for prefix in ["- ", "* "] {
                try ShelfFeature.$shelf.withValue(shelf) {
                    try test.change(settings: "{shelf: {prefix: '\(prefix)'}}")
                }
                _ = try await test.perform("shelf.list")
                try await view.state {
                    Self.titles($0) == ["\(prefix)Emma"] || Self.text($0) == "\(prefix)1"
                }
                while test.session.liveGenerations > 1 { await Task.yield() }
            }
        }
        #expect(await test.session.close().isEmpty)
    }

    // MARK: Failures

    @Test("A body that fails keeps its last value, and begins again when the person wants to")
    func failed() async throws {
        let test = try host()
        try await test.open("shelf.count") { view in
            try await view.state { Self.text($0) == "1" }
            shelf.fail(1)
            view.refresh()
            let failed = try await view.state { if case .failed = $0 { true } else { false } }
            #expect(Self.text(failed) == "1")
            view.refresh()
            try await view.state { if case .ready = $0 { true } else { false } }
        }
    }

    @Test("A body that has failed begins again when something was written, and reads once then")
    func recovers() async throws {
        let test = try host()
        shelf.fail(1)
        try await test.open("shelf.count") { [shelf] view in
            try await view.state { if case .failed = $0 { true } else { false } }
            _ = try await test.perform("shelf.add", ["title": "Dune"])
            try await view.state { Self.text($0) == "2" }
            for _ in 0..<1_000 { await Task.yield() }
            #expect(shelf.reads == 2)
        }
    }

    @Test("A body that has returned begins again when the person asks or the settings change, and for nothing else")
    func returned() async throws {
        let test = try host()
        try await test.open("shelf.once") { [shelf] view in
            try await view.state { Self.text($0) == "1" }
            _ = try await test.perform("shelf.add", ["title": "Dune"])
            for _ in 0..<1_000 { await Task.yield() }
            #expect(Self.text(view.state) == "1" && shelf.reads == 1)
            view.refresh()
            try await view.state { Self.text($0) == "2" }
            try ShelfFeature.$shelf.withValue(shelf) { try test.change(settings: "{shelf: {prefix: '* '}}") }
            _ = try await test.perform("shelf.add", ["title": "Ulysses"])
            try await view.state { Self.text($0)?.hasPrefix("* ") == true }
            while test.session.liveGenerations > 1 { await Task.yield() }
        }
        #expect(await test.session.close().isEmpty)
    }

    @Test("A body that returns without a value has nothing to show, also after a failure")
    func silent() async throws {
        let test = try host()
        let block = try await test.open("shelf.silent") { view in try await view.block() }
        #expect(block.content == .placeholder(Placeholder(.empty, "there is nothing to show")))
        shelf.fail(1)
        try await test.open("shelf.silent") { view in
            try await view.state { if case .failed = $0 { true } else { false } }
            view.refresh()
            try await view.state { if case .ready = $0 { true } else { false } }
        }
    }

    @Test("An unknown screen, a wrong argument and a caller without the right are refused where it is opened")
    func refused() async throws {
        let test = try host()
        await #expect(throws: RegistryError.noScreen("shelf.book", suggestion: "shelf.books")) {
            try await test.open("shelf.book") { _ in }
        }
        await #expect(throws: ArgumentsFailure.self) { try await test.open("shelf.books", ["title": "x"]) { _ in } }
        let nobody = Caller.person(HeadlessInteraction()).narrowed(by: .nobody)
        await #expect(throws: AccessFailure.self) { try await test.open("shelf.books", as: nobody) { _ in } }
        // The same without the restriction.
        try await test.open("shelf.books", as: .person(HeadlessInteraction())) { _ in }
    }

    @Test("The body has no more rights than the caller")
    func narrowed() async throws {
        let test = try host()
        let reader = Caller.person(HeadlessInteraction()).narrowed(by: Grant(Grant.Layer(.bundle("b"))))
        func outcome(_ caller: Caller) async throws -> ScreenState {
            try await test.open("shelf.growing", as: caller) { view in
                try await view.state { if case .loading = $0 { false } else { true } }
            }
        }
        guard case .failed(let failure, _) = try await outcome(reader) else {
            Issue.record("it was written")
            return
        }
        #expect(failure.code == "access.denied" && failure.message.contains("shelf.add") && shelf.books == ["Emma"])
        // The same without the restriction.
        _ = try await outcome(.person(HeadlessInteraction()))
        #expect(shelf.books == ["Emma", "Dune"])
    }

    @Test("A screen is closed when the rights of its caller end, and shows nothing that they had opened")
    func withdrawn() async throws {
        let test = try host()
        let limits = GrantLimits()
        let client = Caller.person(HeadlessInteraction()).narrowed(by: Grant(Grant.Layer(.client("c"), limits: limits)))
        try await test.open("shelf.books", as: client) { view in
            try await view.state { Self.titles($0) == ["Emma"] }
            limits.withdraw()
            let end = try await view.state { if case .failed = $0 { true } else { false } }
            guard case .failed(let failure, let last) = end else { return }
            #expect(failure.code == "access.denied" && failure.message.contains("withdrawn") && last == nil)
            view.refresh()
            #expect(view.state.block == nil)
        }
        await #expect(throws: AccessFailure.self) { try await test.open("shelf.books", as: client) { _ in } }
        await #expect(throws: AccessFailure.self) {
            try await test.session.perform("shelf.list", as: client, output: test.output)
        }
        #expect(test.session.openScreens == 0)
    }

    @Test("A time limit of the caller ends a screen that is open")
    func timeLimit() async throws {
        let test = try host()
        let limits = GrantLimits(calls: nil, time: .milliseconds(50))
        let bundle = Caller.person(HeadlessInteraction()).narrowed(by: Grant(Grant.Layer(.bundle("b"), limits: limits)))
        var reason = ""
        do {
            reason = try await test.open("shelf.watch", as: bundle) { view in
                let end = try await view.state { if case .failed = $0 { true } else { false } }
                return if case .failed(let failure, _) = end { failure.message } else { "" }
            }
        } catch let late as AccessFailure {
            // On a slow machine it is over before the screen is open.
            reason = late.message
        }
        #expect(reason == "the bundle 'b' may not run for longer than 50ms; raise permissions.time")
    }

    // MARK: Life

    @Test("After a change of settings the body begins again with the new ones, and the old ones are closed")
    func renewed() async throws {
        let test = try host()
        try ShelfFeature.$shelf.withValue(shelf) { try test.change(settings: "{shelf: {prefix: '- '}}") }
        try await test.open("shelf.books") { [shelf] view in
            try await view.state { Self.titles($0) == ["- Emma"] }
            try ShelfFeature.$shelf.withValue(shelf) { try test.change(settings: "{shelf: {prefix: '* '}}") }
            _ = try await test.perform("shelf.list")
            try await view.state { Self.titles($0) == ["* Emma"] }
            while test.session.liveGenerations > 1 { await Task.yield() }
        }
        #expect(await test.session.close().isEmpty)
    }

    @Test("A screen opened and closed 10,000 times leaves nothing behind")
    func often() async throws {
        let test = try host()
        for _ in 0..<100 {
            let shown = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<100 {
                    group.addTask {
                        try await test.open("shelf.log") { view in
                            try await view.state { $0.block != nil }.block != nil
                        }
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(shown == 100)
        }
        #expect(test.session.openScreens == 0 && shelf.feed.observers == 0)
        #expect(await test.session.close().isEmpty)
    }

    @Test("A cancelled reader closes the screen at once")
    func cancelled() async throws {
        let test = try host()
        let reader = Task {
            try await test.open("shelf.count") { view in for try await _ in view.states {} }
        }
        while test.session.openScreens == 0 { await Task.yield() }
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
        #expect(test.session.openScreens == 0)
    }

    // MARK: Declarations

    private struct Wrong: Feature {
        static let manifest = Manifest(id: "wrong", summary: "Wrong screens", version: "1")
        init(_ settings: FeatureSettings) {}
        func register(in registry: inout RegistryBuilder) {
            registry.add(Action("wrong.list", "A list", .reads) { _ in [Book(title: "a")] })
            registry.add(Screen("wrong.list", "A list", .home) { _ in })
            registry.add(Screen("wrong.two", "Two", .home) { _ in })
            registry.add(Screen("wrong.two", "Two again", .home) { _ in })
            registry.add(Screen("other.one", "One.", .home) { _ in })
            registry.add(Screen("wrong.needy", "Needy", .home, .argument("city", "A city")) { _, _ in })
            registry.addScreen("wrong.rows", "Rows", .home, listing: "wrong.gone", id: "title")
            registry.add(Action("wrong.take", "Take a book", .writes) { _ in [Book(title: "a")] })
            registry.addScreen("wrong.taken", "Taken", .home, listing: "wrong.take", id: "title")
            registry.add(Screen("wrong.chase", "Chase", .home, .flag("follow", "Run after it")) { _, _ in })
        }
    }

    @Test("Wrong declarations of screens are problems of the composition, all at once")
    func wrong() throws {
        let problems = try TestHost([Wrong.self]).composition.problems.map(\.description)
        for words in [
            "declares the screen wrong.list, which is the id of an action",
            "declares the screen wrong.two, and so does",
            "whose id does not begin with wrong.", "needs a summary of one line without a final stop",
            "of the action wrong.gone; add the action first", "without a row, but it needs city",
            "the screen wrong.taken of the action wrong.take, which does not only read",
            "the screen wrong.chase with the parameter follow",
        ] {
            #expect(problems.contains { $0.contains(words) }, "\(words): \(problems)")
        }
    }
}
