import Bundles
import Capabilities
import JSON
import Runs
import Testing

@Suite("Secrets in results")
struct SecretResultTests {
    private static let secret = "Zq9-Secret+Value/xyz=="
    private static let give: TestPerformer.Work = { _, _ in ["password": .string(secret)] }

    @Test("A secret does not appear in the name of a step") func names() async throws {
        try await withLab { lab in
            lab.redactor.learn(Secret(Self.secret))
            let text = """
                name: t
                inputs: {keys: {type: list, secret: true}}
                steps:
                  - {id: m, action: x, matrix: {k: "${{ inputs.keys }}"}, with: {n: 1}}
                """
            let keys: JSON = [.string(Self.secret), .string("\(Self.secret)/more"), .string(Self.secret), "plain"]
            let run = try await lab.run(text, inputs: ["keys": keys])
            #expect(
                run.states == [
                    "m[k=‹redacted›]: ok", "m[k=‹redacted›/more]: ok", "m[k=‹redacted›#2]: ok", "m[k=plain]: ok",
                    "m: ok",
                ])
            #expect(!"\(run.events)".contains(Self.secret))
            let rows = try await lab.journal.steps(of: run.summary.id.text)
            #expect(rows.count == 5 && !"\(rows)".contains(Self.secret))
        }
    }

    @Test("A result with a secret is not cached", arguments: [true, false])
    func cache(isSecret: Bool) async throws {
        try await withLab { lab in
            if isSecret { lab.redactor.learn(Secret(Self.secret)) }
            let performer = TestPerformer(["give": Self.give])
            let text = """
                name: t
                steps:
                  - {id: a, action: give, cache: {for: 1h}}
                  - {id: b, action: use, with: {n: "${{ steps.a.result.password }}"}}
                """
            for round in 1...2 {
                let run = try await lab.run(text, performer)
                #expect(performer.calls.last == #"use {"n":"\#(Self.secret)"}"#)
                #expect(performer.calls.filter { $0 == "give" }.count == (isSecret ? round : 1))
                let notices = run.events.filter { if case .notice = $0 { true } else { false } }
                #expect("\(notices)".contains("result not cached: it contains a secret") == isSecret)
            }
        }
    }

    @Test(
        "A step that needs a secret result fails with the reason when the run is resumed",
        arguments: [
            #"with: {n: "${{ steps.a.result.password }}"}"#, #"with: {n: "${{ steps.a }}"}"#,
            #"with: {n: "${{ steps.in.outputs.word }}"}"#, #"with: {n: "${{ length(steps.many.results) }}"}"#,
            #"foreach: "${{ [steps.a.result] }}""#, #"matrix: {k: "${{ [steps.a.result] }}"}"#,
            #"if: "${{ steps.a.result.password == 'x' }}""#,
        ], [true, false])
    func resuming(use: String, isSecret: Bool) async throws {
        try await withLab { lab in
            if isSecret { lab.redactor.learn(Secret(Self.secret)) }
            lab.files["inner.yaml"] = """
                name: inner
                steps:
                  - {id: i, action: give}
                outputs: {word: "${{ steps.i.result.password }}"}
                """
            let text = """
                name: t
                steps:
                  - {id: a, action: give}
                  - {id: in, bundle: inner.yaml}
                  - {id: many, action: give, foreach: [1, 2]}
                  - {id: stop, action: stop, needs: [a, in, many]}
                  - {id: status, action: use, needs: [stop], with: {n: "${{ steps.a.status }}"}}
                  - {id: use, action: use, needs: [stop, a, in, many], \(use)}
                """
            let id = try await lab.journal.begin(lab.bundle(text), inputs: [:])
            let stopping = TestPerformer([
                "give": Self.give, "stop": { _, _ in throw TestFailure("no", exit: .failed) },
            ])
            _ = try await lab.run(text, stopping, on: id)
            let performer = TestPerformer(["give": Self.give])
            let run = try await lab.run(text, performer, on: try await lab.journal.resume(id.id, again: true))
            #expect(!performer.calls.contains("give") && performer.calls.contains(#"use {"n":"ok"}"#))
            let last = try #require(run.summary.steps.last { $0.key == "use" })
            if isSecret {
                #expect(last.outcome.status == .failed)
                #expect(last.outcome.error?.message.contains("contains a secret, which was not saved") == true)
            } else {
                #expect([.ok, .skipped].contains(last.outcome.status))
            }
        }
    }

    @Test("A cleanup step can use a secret result after a stop") func cleaning() async throws {
        try await withLab { lab in
            lab.redactor.learn(Secret(Self.secret))
            let text = """
                name: t
                steps:
                  - {id: a, action: give}
                  - {id: b, action: hang, needs: [a]}
                finally:
                  - {id: z, action: use, with: {n: "${{ steps.a.result.password }}"}}
                """
            let (hanging, told) = AsyncStream<Void>.makeStream()
            let performer = TestPerformer([
                "give": Self.give,
                "hang": { _, _ in
                    told.yield()
                    try await ContinuousClock().sleep(for: .seconds(3_600))
                    return 1
                },
            ])
            let copy = lab
            let task = Task { try await copy.run(text, performer) }
            for await _ in hanging.prefix(1) {}
            task.cancel()
            let run = try await task.value
            #expect(run.summary.status == .cancelled)
            #expect(performer.calls.last == #"use {"n":"\#(Self.secret)"}"#)
            #expect(!"\(run.events)".contains(Self.secret))
        }
    }
}
