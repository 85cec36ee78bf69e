import Capabilities
import CoreTesting
import JSON
import Registry
import Testing

@Suite("Performing an action")
struct ActionTests {
    private let test: TestHost

    init() throws {
        test = try TestHost([ActionsFeature.self])
    }

    @Test("The body receives every kind of argument in its type")
    func arguments() async throws {
        let given: JSONObject = [
            "city": "Bern", "hosts": ["a", "b"], "units": "imperial", "limit": 5, "rounds": 9, "share": 1,
            "tags": ["x", "y"], "labels": ["k": 1], "all": true, "check": false, "token": "s3cret",
        ]
        let result = try await test.perform("demo.rich", given)
        var expected = given
        expected["share"] = 1.0
        expected["token"] = 6
        #expect(result == .object(expected))
    }

    @Test("The body receives defaults, and nil for absent arguments")
    func defaults() async throws {
        let result = try await test.perform("demo.rich", ["city": "Bern"])
        #expect(
            result == [
                "city": "Bern", "hosts": [], "units": "metric", "limit": nil, "rounds": 3, "share": 0.5, "tags": [],
                "labels": [:], "all": false, "check": true, "token": nil,
            ])
    }

    @Test("Values are read from words as people write them")
    func values() async throws {
        let result = try await test.perform(
            "demo.values",
            [
                "path": "a b", "wait": "1m30s", "size": "1KiB", "since": "1970-01-01T00:00:01Z", "ratio": 2,
                "key": "abc",
                "extra": ["deep": [1]],
            ])
        #expect(
            result == [
                "path": "a b", "wait": 90_000, "size": 1024, "since": 1_000_000, "ratio": 2.0, "extra": ["deep": [1]],
                "key": 3,
            ])
    }

    @Test("An action with a million problems is refused with the first of them")
    func manyProblems() async throws {
        var given: JSONObject = ["hosts": .array([JSON](repeating: 1, count: 1_000_000))]
        for number in 0..<50_000 { given.append("hots\(number)", 1) }
        let error = await #expect(throws: ArgumentsFailure.self) { try await test.perform("demo.rich", given) }
        #expect(error?.problems.count == SchemaProblems.limit + 1)
        #expect(error.map { $0.message.utf8.count < 1 << 12 } == true)
    }

    @Test("An action is refused with all problems of its arguments, and its body does not run")
    func problems() async throws {
        let error = await #expect(throws: ArgumentsFailure.self) {
            try await test.perform(
                "demo.rich",
                [
                    "hosts": ["a", 1], "units": "metrik", "limit": "5", "rounds": 10, "share": true,
                    "labels": ["k": "x"],
                    "alll": true, "token": 12, "zebra": 1,
                ])
        }
        #expect(
            error?.message.split(separator: "\n") == [
                "city is missing: City to look up",
                "hosts.1 needs text, not an integer",
                "units needs one of metric, imperial, not 'metrik'; did you mean 'metric'?",
                "limit needs a whole number, not a string",
                "rounds must be from 1 to 9, not 10",
                "share needs a number, not a boolean",
                "labels.k needs a whole number, not a string",
                "token needs text, not an integer",
                "alll is not a parameter of demo.rich; did you mean 'all'?",
                "zebra is not a parameter of demo.rich",
            ])
        #expect(error?.code == "usage.arguments")
        #expect(error?.exit == .usage)
        #expect(error?.details == ["action": "demo.rich"])
        #expect(sinkSpans.isEmpty)
    }

    @Test("Events, progress and notices are recorded in order")
    func output() async throws {
        #expect(try await test.perform("demo.chatty") == 2)
        #expect(test.output.events.map(\.json) == [["type": "message", "n": 1], ["type": "message", "n": 2]])
        #expect(test.output.events.compactMap(\.text).joined() == "one two")
        #expect(test.output.progress == [Progress("counting", completed: 1, of: 2)])
        #expect(test.output.notices == ["that was all"])
    }

    @Test("An action is a span with its feature, and an action inside it is a nested span")
    func spans() async throws {
        try await test.perform("demo.nested")
        #expect(sinkSpans.map(\.name) == ["demo.chatty", "demo.nested"])
        #expect(sinkSpans.map(\.feature) == ["demo", "demo"])
        #expect(sinkSpans.first?.parent == sinkSpans.last?.context.span)
        #expect(sinkSpans.map(\.failure) == [nil, nil])
        // The settings were read once, before the first span.
        #expect(sinkSpans.map { $0.attributes["martlet.settings.load_ms"] } == [nil, 3.0])
        try await test.perform("demo.nested")
        #expect(sinkSpans.last?.attributes["martlet.settings.load_ms"] == nil)
    }

    @Test(
        "A failed action passes its error on, and its span has the code",
        arguments: [("demo.fail", "demo.failed"), ("demo.cancelled", "cancelled")])
    func failing(id: String, code: String) async throws {
        await #expect(throws: (any Error).self) { try await test.perform(id) }
        #expect(sinkSpans.map(\.failure) == [code])
    }

    @Test("An unknown action is an error that suggests the nearest one")
    func unknown() async throws {
        let error = await #expect(throws: RegistryError.self) { try await test.perform("demo.rihc") }
        #expect(error?.code == "registry.no-action")
        #expect(error?.message == "there is no action 'demo.rihc'; did you mean 'demo.rich'?")
        #expect(error?.exit == .usage)
    }

    private var sinkSpans: [TraceSpan] {
        (test.composition.registry.optional((any SpanSink).self) as? RecordingSpanSink)?.spans ?? []
    }
}

@Suite("Performing a destructive action")
struct ConfirmationTests {
    @Test("A destructive action runs if the person says yes")
    func agreed() async throws {
        let test = try TestHost([ActionsFeature.self], answers: ["confirm.demo.wipe": true])
        #expect(try await test.perform("demo.wipe") == "wiped")
    }

    @Test("A destructive action does not run if the person says no")
    func declined() async throws {
        let test = try TestHost([ActionsFeature.self], answers: ["confirm.demo.wipe": false])
        await #expect(throws: InteractionError.declined(id: "confirm.demo.wipe")) {
            try await test.perform("demo.wipe")
        }
        #expect((test.composition.registry.optional((any SpanSink).self) as? RecordingSpanSink)?.spans.isEmpty == true)
    }

    @Test("The question names what would be lost, if the action describes it")
    func named() async throws {
        let test = try TestHost([ActionsFeature.self])
        let error = await #expect(throws: InteractionError.self) {
            try await test.perform("demo.drop", ["name": "stone"])
        }
        #expect(error == .unanswered(id: "confirm.demo.drop", prompt: "Drop the thing stone, of 3 kg. Continue?"))
    }

    @Test("The question contains the arguments, if the action does not describe the loss")
    func arguments() async throws {
        let test = try TestHost([ActionsFeature.self])
        let error = await #expect(throws: InteractionError.self) {
            try await test.perform("demo.burn", ["names": ["a\u{1B}[2J", "b"]])
        }
        guard case .unanswered(_, let prompt) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(prompt == "Burn things (a\\u{1B}[2J, b). Continue?")
    }

    @Test("Nothing is asked if the thing does not exist, or if there is nothing to lose")
    func absent() async throws {
        let test = try TestHost([ActionsFeature.self])
        await #expect(throws: DemoFailure.self) { try await test.perform("demo.drop", ["name": "nosuch"]) }
        #expect(try await test.perform("demo.drop", ["name": "nothing"]) == "dropped nothing")
    }

    @Test("A destructive action does not run if nobody is there to ask")
    func unanswered() async throws {
        let test = try TestHost([ActionsFeature.self])
        let error = await #expect(throws: InteractionError.self) { try await test.perform("demo.wipe") }
        #expect(error == .unanswered(id: "confirm.demo.wipe", prompt: "Wipes everything. Continue?"))
        #expect(error?.exit == .unanswered)
    }

    @Test("A destructive flag, and only the flag, causes the question and needs the permission")
    func flag() async throws {
        let test = try TestHost([ActionsFeature.self])
        #expect(try await test.perform("demo.tidy") == "tidied")
        let error = await #expect(throws: InteractionError.self) { try await test.perform("demo.tidy", ["all": true]) }
        #expect(error == .unanswered(id: "confirm.demo.tidy", prompt: "Throw all away. Continue?"))
        #expect(try await test.perform("demo.tidy", ["all": true], isAgreed: true) == "threw all away")
        let writer = Caller.person(HeadlessInteraction()).narrowed(
            by: Grant(Grant.Layer(.bundle("b"), effects: .writes)))
        func perform(_ arguments: JSONObject) async throws -> JSON {
            try await test.session.perform("demo.tidy", arguments, as: writer, output: test.output, isAgreed: true).json
        }
        #expect(try await perform([:]) == "tidied")
        await #expect(throws: AccessFailure.self) { try await perform(["all": true]) }
    }

    @Test("A destructive action runs without a question if that was agreed in advance")
    func beforehand() async throws {
        let test = try TestHost([ActionsFeature.self], answers: ["confirm.demo.wipe": false])
        #expect(try await test.perform("demo.wipe", isAgreed: true) == "wiped")
    }

    @Test("Nothing is asked if the arguments are invalid")
    func wrongArguments() async throws {
        let test = try TestHost([ActionsFeature.self])
        await #expect(throws: ArgumentsFailure.self) { try await test.perform("demo.wipe", ["x": 1]) }
    }
}
