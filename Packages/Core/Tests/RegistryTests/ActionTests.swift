import Capabilities
import CoreTesting
import JSON
import Registry
import Testing

@Suite("Doing an action")
struct ActionTests {
    private let test: TestHost

    init() throws {
        test = try TestHost([ActionsFeature.self])
    }

    @Test("hands every kind of argument to the body in its type")
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

    @Test("hands on the defaults, and what is absent as nothing")
    func defaults() async throws {
        let result = try await test.perform("demo.rich", ["city": "Bern"])
        #expect(
            result == [
                "city": "Bern", "hosts": [], "units": "metric", "limit": nil, "rounds": 3, "share": 0.5, "tags": [],
                "labels": [:], "all": false, "check": true, "token": nil,
            ])
    }

    @Test("reads values from the words that people write")
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

    @Test("is refused with the first of a million problems, told in a few lines")
    func manyProblems() async throws {
        var given: JSONObject = ["hosts": .array([JSON](repeating: 1, count: 1_000_000))]
        for number in 0..<50_000 { given.append("hots\(number)", 1) }
        let error = await #expect(throws: ArgumentsFailure.self) { try await test.perform("demo.rich", given) }
        #expect(error?.problems.count == SchemaProblems.limit + 1)
        #expect(error.map { $0.message.utf8.count < 1 << 12 } == true)
    }

    @Test("is refused with everything that is wrong in its arguments, and the body does not run")
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
                "alll is no parameter of demo.rich; did you mean 'all'?",
                "zebra is no parameter of demo.rich",
            ])
        #expect(error?.code == "usage.arguments")
        #expect(error?.exit == .usage)
        #expect(error?.details == ["action": "demo.rich"])
        #expect(sinkSpans.isEmpty)
    }

    @Test("records its events, progress and notices in order")
    func output() async throws {
        #expect(try await test.perform("demo.chatty") == 2)
        #expect(test.output.events.map(\.json) == [["type": "message", "n": 1], ["type": "message", "n": 2]])
        #expect(test.output.events.compactMap(\.text).joined() == "one two")
        #expect(test.output.progress == [Progress("counting", completed: 1, of: 2)])
        #expect(test.output.notices == ["that was all"])
    }

    @Test("is a span with its feature, in which what it does in turn is another")
    func spans() async throws {
        try await test.perform("demo.nested")
        #expect(sinkSpans.map(\.name) == ["demo.chatty", "demo.nested"])
        #expect(sinkSpans.map(\.feature) == ["demo", "demo"])
        #expect(sinkSpans.first?.parent == sinkSpans.last?.context.span)
        #expect(sinkSpans.map(\.failure) == [nil, nil])
    }

    @Test(
        "that fails passes its error on, and its span has the code",
        arguments: [("demo.fail", "demo.failed"), ("demo.cancelled", "cancelled")])
    func failing(id: String, code: String) async throws {
        await #expect(throws: (any Error).self) { try await test.perform(id) }
        #expect(sinkSpans.map(\.failure) == [code])
    }

    @Test("that does not exist is an error with the nearest one")
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

@Suite("Doing what destroys")
struct ConfirmationTests {
    @Test("is done when the person says yes")
    func agreed() async throws {
        let test = try TestHost([ActionsFeature.self], answers: ["confirm.demo.wipe": true])
        #expect(try await test.perform("demo.wipe") == "wiped")
    }

    @Test("is not done when the person says no")
    func declined() async throws {
        let test = try TestHost([ActionsFeature.self], answers: ["confirm.demo.wipe": false])
        await #expect(throws: InteractionError.declined(id: "confirm.demo.wipe")) {
            try await test.perform("demo.wipe")
        }
        #expect((test.composition.registry.optional((any SpanSink).self) as? RecordingSpanSink)?.spans.isEmpty == true)
    }

    @Test("is asked about with what would be lost, where the action says so")
    func named() async throws {
        let test = try TestHost([ActionsFeature.self])
        let error = await #expect(throws: InteractionError.self) {
            try await test.perform("demo.drop", ["name": "stone"])
        }
        #expect(error == .unanswered(id: "confirm.demo.drop", prompt: "Drop the thing stone, of 3 kg. Go on?"))
    }

    @Test("is asked about with its arguments, where the action does not say what would be lost")
    func arguments() async throws {
        let test = try TestHost([ActionsFeature.self])
        let error = await #expect(throws: InteractionError.self) {
            try await test.perform("demo.burn", ["names": ["a\u{1B}[2J", "b"]])
        }
        guard case .unanswered(_, let prompt) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(prompt == "Burn things (a\\u{1B}[2J, b). Go on?")
    }

    @Test("is not asked about when it is not there, nor when there is nothing to lose")
    func absent() async throws {
        let test = try TestHost([ActionsFeature.self])
        await #expect(throws: DemoFailure.self) { try await test.perform("demo.drop", ["name": "nosuch"]) }
        #expect(try await test.perform("demo.drop", ["name": "nothing"]) == "dropped nothing")
    }

    @Test("is not done when nobody is there to ask")
    func unanswered() async throws {
        let test = try TestHost([ActionsFeature.self])
        let error = await #expect(throws: InteractionError.self) { try await test.perform("demo.wipe") }
        #expect(error == .unanswered(id: "confirm.demo.wipe", prompt: "Wipes everything. Go on?"))
        #expect(error?.exit == .unanswered)
    }

    @Test("is asked about and permitted by the flag that makes it destroy, and only then")
    func flag() async throws {
        let test = try TestHost([ActionsFeature.self])
        #expect(try await test.perform("demo.tidy") == "tidied")
        let error = await #expect(throws: InteractionError.self) { try await test.perform("demo.tidy", ["all": true]) }
        #expect(error == .unanswered(id: "confirm.demo.tidy", prompt: "Throw all away. Go on?"))
        #expect(try await test.perform("demo.tidy", ["all": true], isAgreed: true) == "threw all away")
        let writer = Caller.person(HeadlessInteraction()).narrowed(
            by: Grant(Grant.Layer(.bundle("b"), effects: .writes)))
        func perform(_ arguments: JSONObject) async throws -> JSON {
            try await test.session.perform("demo.tidy", arguments, as: writer, output: test.output, isAgreed: true).json
        }
        #expect(try await perform([:]) == "tidied")
        await #expect(throws: AccessFailure.self) { try await perform(["all": true]) }
    }

    @Test("is done without a question when it was agreed beforehand")
    func beforehand() async throws {
        let test = try TestHost([ActionsFeature.self], answers: ["confirm.demo.wipe": false])
        #expect(try await test.perform("demo.wipe", isAgreed: true) == "wiped")
    }

    @Test("is not asked for when the arguments are wrong anyway")
    func wrongArguments() async throws {
        let test = try TestHost([ActionsFeature.self])
        await #expect(throws: ArgumentsFailure.self) { try await test.perform("demo.wipe", ["x": 1]) }
    }
}
