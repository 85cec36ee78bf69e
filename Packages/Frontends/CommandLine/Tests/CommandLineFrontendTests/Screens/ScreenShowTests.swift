import Capabilities
import CoreTesting
import JSON
import Registry
import Screens
import Settings
import Synchronization
import Testing

@testable import CommandLineFrontend

/// A number and lines that a test changes.
private final class Meter: Sendable {
    private let state = Mutex((value: 1, isBroken: false, reads: 0))
    let feed = Feed<Log.Line>()
    let talk = Feed<Transcript.Entry>()

    func set(_ value: Int) { state.withLock { $0.value = value } }
    func breaks() { state.withLock { $0.isBroken = true } }
    func repair() { state.withLock { $0.isBroken = false } }

    /// How often it was read.
    var reads: Int { state.withLock { $0.reads } }

    func read() throws -> Int {
        try state.withLock { state in
            state.reads += 1
            if state.isBroken { throw MeterFailure() }
            return state.value
        }
    }
}

private struct MeterFailure: Failure {
    var code: String { "meter.broken" }
    var exit: ExitCode { .unreachable }
    var message: String { "the meter is broken; replace it (key canary-0123456789)" }
}

private struct MeterFeature: Feature {
    static let manifest = Manifest(id: "meter", summary: "A meter", version: "1")
    @TaskLocal static var meter = Meter()

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        let meter = Self.meter
        registry.add(
            Action("meter.set", "Set the meter", .writes, .argument("value", "The value", as: Int.self)) { _, value in
                meter.set(value)
                return Nothing()
            })
        registry.add(
            Screen(
                "meter.now", "The meter", .detail, .argument("unit", "The unit"),
                .option("digits", "Number of digits", in: 1...9, default: 1)
            ) { screen, unit, digits in
                repeat {
                    let value = try meter.read()
                    try await screen.show(
                        .stack([
                            Block(.text("\(value) \(unit) \(digits)"), id: "value"),
                            Block(.log(Log(meter.feed)), id: "log"),
                        ]))
                } while try await screen.changed()
            })
        registry.add(
            Screen("meter.talk", "What was said", .detail) { screen in
                try await screen.show(Block(.transcript(Transcript(meter.talk))))
            })
        registry.add(
            Screen("meter.long", "A long list", .tab("Meter")) { screen in
                let properties = [Schema.Property("n", "Number", .integer(nil))]
                let source = RowSource { request in
                    let first = (try? meter.read()) ?? 0
                    let rows = (first..<first + min(3, request.count)).map { JSONObject([("n", .int($0))]) }
                    return RowSource.Page(rows, hasNext: true)
                }
                repeat {
                    try await screen.show(
                        Block(.table(Table(properties, .source(source), id: ["n"])), title: "Numbers"))
                } while try await screen.changed()
            })
        registry.add(
            Screen(
                "meter.wide", "Long lists of long rows", .detail, .argument("tables", "Number of tables", as: Int.self)
            ) {
                screen, count in
                let source = RowSource { request in
                    RowSource.Page(
                        (0..<request.count).map {
                            ["n": .int($0), "text": .string(String(repeating: "x", count: 10_000))]
                        })
                }
                let properties = [Schema.Property("n", "Number", .integer(nil))]
                try await screen.show(
                    .stack(
                        (0..<count).map {
                            Block(.table(Table(properties, .source(source), id: ["n"])), id: "table \($0)")
                        }))
            })
    }
}

@Suite("Showing screens", .timeLimit(.minutes(5)))
struct ScreenShowTests {
    private let meter = Meter()

    private func host() throws -> TestHost {
        try MeterFeature.$meter.withValue(meter) {
            try TestHost([
                BuiltInFeature(essential: CommandLineFeature.self), BuiltInFeature(essential: ScreenFeature.self),
                BuiltInFeature(MeterFeature.self),
            ])
        }
    }

    private let arguments: JSONObject = ["id": "meter.now", "arguments": ["unit": "bar", "digits": 2]]

    @Test("A screen is shown once as JSON, with its arguments checked like those of an action")
    func once() async throws {
        let test = try host()
        let shown = try await test.perform("screen.show", arguments)
        #expect(shown["title"] == "The meter")
        let value = shown["block"]?["blocks"]?.array?.first
        #expect(value?["text"]?.array?.first?["text"] == "1 bar 2")
        for wrong: JSON in [["digits": 2], ["unit": "bar", "digits": 10], ["unit": "bar", "color": "red"]] {
            let failure = await #expect(throws: ArgumentsFailure.self) {
                try await test.perform("screen.show", ["id": "meter.now", "arguments": wrong])
            }
            #expect(failure?.exit == .usage)
        }
    }

    @Test("A screen that fails fails the command, with its own advice and exit code")
    func failing() async throws {
        meter.breaks()
        let test = try host()
        let failure = await #expect(throws: AnyFailure.self) { try await test.perform("screen.show", arguments) }
        #expect(failure?.exit == .unreachable && failure?.message.hasPrefix("the meter is broken; replace it") == true)
    }

    @Test("Following sends the whole screen, then only the blocks that differ and the lines that are new")
    func following() async throws {
        let test = try host()
        test.host.redactor.learn(Secret("canary-0123456789"))
        let output = RecordingOutput()
        var follow = arguments
        follow["follow"] = true
        let following = Task { [follow] in try await test.perform("screen.show", follow, output: output) }
        await output.wait { $0.contains { $0.type == "screen" && $0.fields["state"] == "ready" } }
        try await test.perform("meter.set", ["value": 7])
        await output.wait { $0.contains { $0.type == "change" } }
        let change = try #require(output.events.last { $0.type == "change" })
        #expect(change.fields["path"] == ["value"])
        #expect(change.fields["block"]?["text"]?.array?.first?["text"] == "7 bar 2")
        meter.feed.append(Log.Line("hello"))
        await output.wait { $0.contains { $0.type == "lines" } }
        let lines = try #require(output.events.last { $0.type == "lines" })
        #expect(lines.fields["path"] == ["log"] && lines.fields["lines"]?.array?.map { $0["text"] } == ["hello"])
        // A person reads the whole screen, and then the line alone.
        #expect(change.text == "7 bar 2\n" && lines.text == "hello\n")
        meter.breaks()
        try await test.perform("meter.set", ["value": 8])
        await output.wait { $0.contains { $0.fields["state"] == "failed" } }
        #expect(output.events.last?.fields["error"]?["code"] == "meter.broken")
        #expect(output.events.last?.text?.hasPrefix("the meter is broken") == true)
        for event in output.events {
            #expect(!event.json.text().contains("canary") && event.text?.contains("canary") != true)
        }
        following.cancel()
        await #expect(throws: CancellationError.self) { try await following.value }
        let declared = try #require(test.composition.registry.actions["screen.show"]?.events)
        for event in output.events { #expect(declared.problems(in: event.json).isEmpty, "\(event)") }
    }

    /// Follows a screen until the body is done.
    private func following(
        _ test: TestHost, _ id: String, _ arguments: JSONObject = [:], _ body: (RecordingOutput) async throws -> Void
    ) async throws {
        let output = RecordingOutput()
        var given: JSONObject = ["id": .string(id), "follow": true]
        if !arguments.isEmpty { given["arguments"] = .object(arguments) }
        let following = Task { [given] in try await test.perform("screen.show", given, output: output) }
        await output.wait { $0.contains { $0.type == "screen" && $0.fields["state"] != "loading" } }
        try await body(output)
        following.cancel()
        await #expect(throws: CancellationError.self) { try await following.value }
    }

    @Test("Of a log that has lines already only the new ones follow, also beside another change")
    func grown() async throws {
        meter.feed.append([Log.Line("a"), Log.Line("b", state: "ok")])
        let test = try host()
        try await following(test, "meter.now", ["unit": "bar"]) { output in
            let whole = try #require(output.events.last)
            let log = whole.fields["block"]?["blocks"]?.array?.last
            #expect(log?["lines"] == [["text": "a"], ["state": "ok", "text": "b"]] && log?["end"] == 2)
            #expect(whole.text == "1 bar 1\n\na\nok  b\n")

            meter.feed.append(Log.Line("c", state: "failed"))
            await output.wait { $0.contains { $0.type == "lines" } }
            let one = try #require(output.events.last)
            #expect(one.fields["from"] == 2 && one.fields["lines"] == [["state": "failed", "text": "c"]])
            // As it would be in the whole screen.
            #expect(one.text == "failed  c\n")

            meter.feed.replaceLast(with: Log.Line("cd"))
            await output.wait { $0.count { $0.type == "lines" } == 2 }
            #expect(output.events.last?.fields["from"] == 2 && output.events.last?.text == "cd\n")

            // The same once more is nothing new.
            meter.feed.replaceLast(with: Log.Line("cd"))
            meter.set(2)
            meter.feed.append(Log.Line("e"))
            try await test.perform("meter.set", ["value": 2])
            await output.wait { events in
                events.contains { $0.type == "change" }
                    && events.contains { $0.fields["lines"]?.array?.contains { $0["text"] == "e" } == true }
            }
            let sent = output.events.filter { $0.type == "lines" }.dropFirst(2)
            #expect(sent.map { $0.fields["lines"] } == [[["text": "e"]]] && sent.first?.fields["from"] == 3)
            #expect(output.events.count { $0.type == "screen" && $0.fields["state"] == "ready" } == 1)
        }
    }

    @Test("A screen that failed is tried again, says each failure once, and then sends everything again")
    func recovery() async throws {
        meter.feed.append(Log.Line("a"))
        let test = try host()
        try await following(test, "meter.now", ["unit": "bar"]) { output in
            meter.breaks()
            try await test.perform("meter.set", ["value": 2])
            await output.wait { $0.contains { $0.fields["state"] == "failed" } }
            while meter.reads < 4 {
                test.clock.advance(by: .seconds(5))
                await Task.yield()
            }
            meter.feed.append(Log.Line("b"))
            meter.repair()
            while output.events.count(where: { $0.fields["state"] == "ready" }) < 2 {
                test.clock.advance(by: .seconds(5))
                await Task.yield()
            }
            // Whether the first reading is still under way when the screen opens is left to the machine.
            #expect(
                output.events.map { $0.fields["state"] }.filter { $0 != "loading" } == ["ready", "failed", "ready"])
            let lines = output.events.last?.fields["block"]?["blocks"]?.array?.last?["lines"]
            #expect(lines == [["text": "a"], ["text": "b"]] && output.events.last?.text == "2 bar 1\n\na\nb\n")
        }
    }

    @Test("What is still being said is sent as it grows, and printed when it is said")
    func talk() async throws {
        meter.talk.append([
            Transcript.Entry("1", .person, "Hi"), Transcript.Entry("2", .tool, "Hel", title: "echo", isOpen: true),
        ])
        let test = try host()
        try await following(test, "meter.talk") { output in
            let whole = try #require(output.events.last)
            #expect(whole.text == "person\nHi\n" && whole.fields["block"]?["entries"]?.array?.count == 2)
            meter.talk.replaceLast(with: Transcript.Entry("2", .tool, "Hello", title: "echo", isOpen: true))
            await output.wait { $0.contains { $0.type == "lines" } }
            let growing = try #require(output.events.last)
            #expect(growing.fields["from"] == 1 && growing.text == "")
            #expect(growing.fields["lines"]?.array?.map { $0["text"] } == ["Hello"])
            meter.talk.replaceLast(with: Transcript.Entry("2", .tool, "Hello!", title: "echo"))
            meter.talk.append(Transcript.Entry("3", .person, "Yes?"))
            await output.wait { $0.contains { $0.text?.contains("Yes?") == true } }
            let texts = output.events.compactMap(\.text).joined()
            #expect(texts == "person\nHi\n\necho\nHello!\n\nperson\nYes?\n")
        }
    }

    @Test("Of a list with a source the first rows are shown, and it is said that there are more")
    func source() async throws {
        let test = try host()
        let shown = try await test.perform("screen.show", ["id": "meter.long"])
        #expect(shown["block"]?["rows"]?.array?.map { $0["n"] } == [1, 2, 3])
        #expect(test.output.notices == ["only the first 3 rows of Numbers are shown"])
        // While it is followed it is said once.
        try await following(test, "meter.long") { output in
            for value in 2...3 {
                try await test.perform("meter.set", ["value": .int(value)])
                await output.wait { $0.count { $0.type == "change" || $0.type == "screen" } == value }
            }
            #expect(output.notices == ["only the first 3 rows of Numbers are shown"])
        }
    }

    @Test("Rows from sources count towards the limit of a screen, and of one list only as many are shown as fit")
    func wide() async throws {
        let test = try host()
        let shown = try await test.perform("screen.show", ["id": "meter.wide", "arguments": ["tables": 1]])
        let count = shown["block"]?["blocks"]?.array?.first?["rows"]?.array?.count ?? 0
        #expect(
            (80..<90).contains(count) && test.output.notices == ["only the first \(count) rows of table 0 are shown"])
        await #expect(throws: BlockTooLarge.self) {
            try await test.perform("screen.show", ["id": "meter.wide", "arguments": ["tables": 2]])
        }
    }

    @Test("The list names every screen with its place and feature")
    func list() async throws {
        let list = try await host().perform("screen.list")
        #expect(list.array?.map { $0["id"] } == ["meter.now", "meter.talk", "meter.long", "meter.wide"])
        #expect(list.array?.map { $0["placement"] } == ["detail", "detail", "tab Meter", "detail"])
    }

    // MARK: The command line

    @Test("On the command line the arguments of a screen are written like those of a command")
    func words() throws {
        let registry = try host().composition.registry
        for id in [["meter.now"], ["meter", "now"]] {
            let command = try #require(ScreenCommand(["screen", "show"] + id + ["bar", "--digits", "3"], registry))
            let parsed = try ArgumentParser.parse(command.rest, for: command.action)
            #expect(
                command.arguments(parsed.arguments) == [
                    "id": "meter.now", "arguments": ["unit": "bar", "digits": 3],
                ])
        }
        for words in [
            ["meter.now", "bar", "--follow"], ["--follow", "meter.now", "bar"], ["--follow", "meter", "now", "bar"],
        ] {
            let follow = try #require(ScreenCommand(["screen", "show"] + words, registry))
            let parsed = try ArgumentParser.parse(follow.rest, for: follow.action)
            #expect(
                follow.arguments(parsed.arguments) == [
                    "id": "meter.now", "follow": true, "arguments": ["unit": "bar"],
                ])
        }
        let wrong = try #require(ScreenCommand(["screen", "show", "meter.now", "--nope"], registry))
        #expect(throws: ArgumentsFailure.self) { try ArgumentParser.parse(wrong.rest, for: wrong.action) }
        for words in [
            ["screen", "show"], ["screen", "show", "--follow"], ["screen", "list", "meter.now"],
            ["screen", "show", "meter.gone"], ["meter"],
        ] {
            #expect(ScreenCommand(words, registry) == nil)
        }
    }

    @Test("Help and completion know the screens and their options")
    func help() throws {
        let test = try host()
        let page = try CommandLineFeature.helpText(["screen", "show", "meter.now"], test.host, width: nil)
        #expect(page.contains("--digits <1…9>") && page.contains("--follow"))
        let completer = Completer(
            tree: CommandTree(test.composition.registry.actions), registry: test.composition.registry, host: test.host)
        #expect(
            completer.candidates(["screen", "show", "meter."]).map(\.word) == [
                "meter.now", "meter.talk", "meter.long", "meter.wide",
            ])
        #expect(completer.candidates(["screen", "show", "meter.now", "--d"]).map(\.word) == ["--digits"])
    }
}
