import Capabilities
import CoreTesting
import JSON
import Settings
import Testing

@testable import Registry

/// Returns the number in its settings.
private struct NumberFeature: Feature {
    static let number = Setting("number", "Which settings these are", default: 0)
    static let manifest = Manifest(
        id: "numbered", summary: "Says a number", version: "1", needs: [.one(Journal.self)],
        settings: [number.declaration])
    private let number: Int

    init(_ settings: FeatureSettings) { number = settings[Self.number] }

    func register(in registry: inout RegistryBuilder) {
        let (number, whole) = (number, registry.whole)
        registry.closes { await whole.registry?.optional(Journal.self)?.pass("close \(number)") }
        registry.add(Action("numbered.say", "The number", .reads) { _ in number })
        registry.add(
            Action("numbered.hold", "The number, once a door is open", .reads) { context in
                let journal = try context.registry.one(Journal.self)
                await journal.pass("hold")
                await journal.door("leave").wait()
                return number
            })
        registry.add(
            Action("numbered.inside", "The number that another action says after a change", .reads) { context in
                let journal = try context.registry.one(Journal.self)
                await journal.pass("hold")
                await journal.door("leave").wait()
                let say = try context.registry.actions.find("numbered.say")
                return try await context.perform(
                    say, output: RecordingOutput()
                ).json
            })
    }
}

/// A session whose settings a test changes, from one number to the next.
private struct Succession {
    let changes = TestChanges()
    let session: WorkbenchSession
    /// For each of the settings, a host with its own journal and clock.
    let hosts: [TestHost]
    let output = RecordingOutput()

    init(of count: Int) throws {
        hosts = try (0..<count).map {
            try TestHost([JournalFeature.self, NumberFeature.self], settings: "{numbered: {number: \($0)}}")
        }
        session = WorkbenchSession(hosts[0].host, renewal: changes)
    }

    func journal(_ index: Int) throws -> Journal { try hosts[index].composition.registry.one(Journal.self) }

    /// Changes the settings, and tells the session to check them.
    func change(to index: Int) {
        changes.put(.renewed(hosts[index].host, failure: nil))
        session.lookAgain()
    }

    func advance(by time: Duration) { for host in hosts { host.clock.advance(by: time) } }

    func perform(_ id: String) async throws -> JSON {
        try await session.perform(id, as: .person(HeadlessInteraction()), output: output).json
    }

    /// Starts an action that keeps the current settings in use, and returns once it is running.
    func hold(_ id: String = "numbered.hold", in index: Int) async throws -> Task<JSON, any Error> {
        let task = Task { try await perform(id) }
        while try !journal(index).entries.contains("hold") { await Task.yield() }
        return task
    }
}

@Suite("Changing settings in a session", .timeLimit(.minutes(5)))
struct GenerationTests {
    @Test("Changed settings apply from the next action on, and old ones are closed when unused")
    func next() async throws {
        let test = try Succession(of: 2)
        #expect(try await test.perform("numbered.say") == 0)
        test.change(to: 1)
        #expect(try await test.perform("numbered.say") == 1)
        await test.session.close()
        #expect(try test.journal(0).entries == ["close 0"])
        #expect(try test.journal(1).entries == ["close 1"])
    }

    @Test("Running actions keep the old settings, which are closed exactly when they end")
    func under() async throws {
        let test = try Succession(of: 2)
        let held = try await test.hold(in: 0)
        test.change(to: 1)
        #expect(try await test.perform("numbered.say") == 1)
        #expect(try test.journal(0).entries == ["hold"])
        try test.journal(0).door("leave").open()
        #expect(try await held.value == 0)
        await test.session.close()
        #expect(try test.journal(0).entries == ["hold", "close 0"])
    }

    @Test("Actions performed by a running action use its settings")
    func inside() async throws {
        let test = try Succession(of: 2)
        let held = try await test.hold("numbered.inside", in: 0)
        test.change(to: 1)
        #expect(try await test.perform("numbered.say") == 1)
        try test.journal(0).door("leave").open()
        #expect(try await held.value == 0)
        await test.session.close()
    }

    @Test("Changes are checked at most once a second, or at once after a request")
    func pause() async throws {
        let test = try Succession(of: 1)
        for _ in 0..<3 { _ = try await test.perform("numbered.say") }
        #expect(test.changes.looks == 0)
        test.advance(by: .milliseconds(999))
        _ = try await test.perform("numbered.say")
        #expect(test.changes.looks == 0)
        test.advance(by: .milliseconds(1))
        for _ in 0..<3 { _ = try await test.perform("numbered.say") }
        #expect(test.changes.looks == 1)
        test.session.lookAgain()
        for _ in 0..<3 { _ = try await test.perform("numbered.say") }
        #expect(test.changes.looks == 2)
        await test.session.close()
    }

    @Test("Invalid changes are reported once, and the previous settings stay in use")
    func kept() async throws {
        let test = try Succession(of: 1)
        test.changes.put(.kept("they are broken"))
        test.session.lookAgain()
        for _ in 0..<3 {
            #expect(try await test.perform("numbered.say") == 0)
            test.advance(by: .seconds(1))
        }
        #expect(test.output.notices == ["they are broken"])
        await test.session.close()
    }

    @Test("Changes wait while four generations are in use, which is reported once, until one of them is closed")
    func most() async throws {
        let test = try Succession(of: 5)
        var held: [Task<JSON, any Error>] = []
        for index in 0..<4 {
            if index > 0 { test.change(to: index) }
            held.append(try await test.hold(in: index))
        }
        test.change(to: 4)
        #expect(try await test.perform("numbered.say") == 3)
        test.session.lookAgain()
        #expect(try await test.perform("numbered.say") == 3)
        #expect(test.output.notices.count == 1 && test.output.notices[0].contains("they take effect as soon as"))
        try test.journal(1).door("leave").open()
        #expect(try await held[1].value == 1)
        // The old generation is closed concurrently with actions; only then is there room for another.
        while test.session.liveGenerations > 3 { await Task.yield() }
        test.session.lookAgain()
        #expect(try await test.perform("numbered.say") == 4)
        for index in [0, 2, 3] {
            try test.journal(index).door("leave").open()
            #expect(try await held[index].value == .int(index))
        }
        await test.session.close()
        for index in 0..<5 { #expect(try test.journal(index).entries.last == "close \(index)") }
    }

    @Test("Closing old generations keeps no action waiting, but the end of the session waits for it")
    func closing() async throws {
        let test = try Succession(of: 2)
        try test.journal(0).hold("close 0")
        test.change(to: 1)
        #expect(try await test.perform("numbered.say") == 1)
        // The newer one is closed first, which shows that the session has begun to close.
        async let stuck = test.session.close()
        while try test.journal(1).entries != ["close 1"] { await Task.yield() }
        #expect(try test.journal(0).entries == [])
        try test.journal(0).door("close 0").open()
        #expect(await stuck == [])
        #expect(try test.journal(0).entries == ["close 0"])
    }

    @Test("The registry of a closed generation is gone")
    func whole() async throws {
        let whole: WholeRegistry
        do {
            var builder = RegistryBuilder(
                surroundings: .none, current: Manifest(id: "", summary: "", version: ""))
            whole = builder.whole
            #expect(whole.registry == nil)
            builder.closes {}
            let test = try TestHost([JournalFeature.self])
            whole.fill(test.composition.registry)
            #expect(whole.registry === test.composition.registry)
        }
        #expect(whole.registry == nil)
    }

    @Test("A feature finds its shared value by name, and no value of another feature")
    func shared() {
        let surroundings = Surroundings.none
        var builder = RegistryBuilder(
            surroundings: surroundings, current: Manifest(id: "one", summary: "", version: ""))
        let first = builder.shared("journal") { Journal() }
        builder.current = Manifest(id: "other", summary: "", version: "")
        #expect(builder.shared("journal") { Journal() } !== first)
        let next = RegistryBuilder(
            surroundings: surroundings.moved(to: surroundings.locations),
            current: Manifest(id: "one", summary: "", version: ""))
        #expect(next.shared("journal") { Journal() } === first)
        #expect(next.shared("other") { Journal() } !== first)
    }
}
