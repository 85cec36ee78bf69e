import Bundles
import Capabilities
import FileKit
import JSON
import Registry
import Runs
import StorageKit
import Synchronization
import Testing

@Suite("Runs with failures")
struct FaultTests {
    @Test("Only failures with the listed exit codes are retried")
    func retry() async throws {
        try await withLab { lab in
            let count = Mutex(0)
            let performer = TestPerformer([
                "flaky": { _, _ in
                    let time = count.withLock { count -> Int in
                        count += 1
                        return count
                    }
                    if time < 3 { throw TestFailure("not yet", exit: .unreachable) }
                    return "at last"
                }, "denied": { _, _ in throw TestFailure("no", exit: .denied) },
            ])
            let run = try await lab.run(
                """
                name: t
                steps:
                  - {id: a, action: flaky, retry: {times: 5, delay: 1ms}}
                  - {id: b, action: denied, retry: {times: 5, delay: 1ms}, continue-on-error: true}
                  - {id: c, action: denied, retry: {times: 2, delay: 1ms, on: [3]}}
                """, performer)
            let attempts = { (key: String) in run.summary.steps.filter { $0.key == key }.map(\.attempt) }
            #expect(attempts("a") == [1, 2, 3] && attempts("b") == [1] && attempts("c") == [1, 2, 3])
            #expect(run.result("a") == "at last" && run.summary.exit == .denied)
            let steps = try await lab.journal.steps(of: run.summary.id.text)
            #expect(steps.filter { $0.key == "a" }.map(\.status) == [.failed, .failed, .ok])
        }
    }

    @Test("Steps and runs end at their timeouts, and cleanup steps always run")
    func timeouts() async throws {
        try await withLab { lab in
            let performer = TestPerformer([
                "hang": { _, _ in
                    try await ContinuousClock().sleep(for: .seconds(600)); return 1
                }
            ])
            let step = try await lab.run(
                "name: t\nsteps:\n  - {id: a, action: hang, timeout: 20ms}\nfinally:\n  - {id: z, action: clean}\n",
                performer)
            #expect(step.states == ["a: failed", "z: ok"] && step.summary.exit == .unreachable)
            let whole = try await lab.run(
                "name: t\ntimeout: 20ms\nsteps:\n  - {id: a, action: hang}\n  - {id: b, action: x}\nfinally:\n  - {id: z, action: clean}\n",
                performer)
            #expect(whole.summary.error?.code == "bundle.timed-out" && whole.summary.status == .failed)
            #expect(whole.summary.steps.last?.key == "z" && whole.summary.steps.last?.outcome.status == .ok)
        }
    }

    @Test("A stopped run reports every step as cancelled, and cleans up")
    func cancelling() async throws {
        try await withLab { lab in
            let (began, told) = AsyncStream<Void>.makeStream()
            let performer = TestPerformer([
                "hang": { _, _ in
                    told.yield()
                    try await ContinuousClock().sleep(for: .seconds(600))
                    return 1
                }
            ])
            let lab = lab
            let task = Task {
                try await lab.run(
                    """
                    name: t
                    parallel: 2
                    steps:
                      - {id: a, action: hang, needs: []}
                      - {id: b, action: hang, needs: []}
                      - {id: w, action: x, needs: []}
                      - {id: c, action: x, needs: [a]}
                    finally:
                      - {id: z, action: clean, with: {a: "${{ steps.a.status }}"}}
                    """, performer)
            }
            for await _ in began.prefix(2) {}
            task.cancel()
            let run = try await task.value
            #expect(run.summary.status == .cancelled && run.summary.exit == .interrupted)
            #expect(
                Set(run.states) == ["a: cancelled", "b: cancelled", "w: cancelled", "c: cancelled", "z: ok"],
                "\(run.states)")
            #expect(run.result("z") == ["a": "cancelled"])
            #expect(try await lab.journal.runs(limit: 1)[0].status == .cancelled)
        }
    }

    @Test("A secret is never saved, wherever it appears")
    func secrets() async throws {
        try await withLab { lab in
            lab.redactor.learn(Secret("swordfish-9000"))
            let performer = TestPerformer([
                "leak": { arguments, output in
                    try await output.event(
                        ActionEvent("message", ["text": "it is swordfish-9000"], text: "swordfish-9000"))
                    output.notice("swordfish-9000 again")
                    throw TestFailure("refused swordfish-9000", exit: .denied)
                }, "echo": { _, _ in ["answer": "swordfish-9000"] },
            ])
            let run = try await lab.run(
                """
                name: t
                steps:
                  - {id: a, action: leak, with: {key: swordfish-9000}, continue-on-error: true}
                  - {id: b, action: echo}
                  - {id: c, action: use, with: {key: "${{ steps.b.result.answer }}"}}
                outputs: {all: "${{ steps.b.result.answer }}"}
                """, performer)
            #expect(performer.calls.last == "use {\"key\":\"swordfish-9000\"}")
            let id = run.summary.id.text
            var texts = try await lab.journal.steps(of: id).map { "\($0)" }
            texts += try await lab.journal.events(of: id).map { "\($0)" }
            texts += run.events.map { "\($0)" } + [JSON.object(run.summary.outputs).text()]
            #expect(texts.count > 10 && !texts.contains { $0.contains("swordfish") })
            #expect(texts.contains { $0.contains("‹redacted›") })
        }
    }

    @Test("The output of a step is kept up to a limit")
    func events() async throws {
        try await withLab { lab in
            let performer = TestPerformer([
                "talk": { _, output in
                    for number in 0..<1_500 { try await output.event(ActionEvent("message", ["n": .int(number)])) }
                    return "done"
                }
            ])
            let run = try await lab.run("name: t\nsteps:\n  - {id: a, action: talk}\n", performer)
            let kept = try await lab.journal.events(of: run.summary.id.text, step: "a")
            #expect(kept.count == 1_001 && kept.last?.event["text"] == "more events are not kept")
            #expect(run.events.count { if case .output = $0 { true } else { false } } == 1_500)
        }
    }

    @Test("Cleanup steps run even if the journal cannot be written, which is reported once")
    func lostJournal() async throws {
        try await withLab { lab in
            lab.files["inner"] = "name: inner\nsteps:\n  - {id: deep, action: clean}\n"
            let journal = lab.journal
            let performer = TestPerformer([
                "lose": { _, _ in
                    await journal.close()
                    return 1
                }
            ])
            let run = try await lab.run(
                """
                name: t
                steps:
                  - {id: a, action: lose}
                  - {id: b, action: x}
                finally:
                  - {id: y, action: clean}
                  - {id: z, bundle: inner}
                """, performer)
            #expect(performer.calls == ["lose", "clean", "clean"])
            #expect(run.states == ["a: failed", "b: failed", "y: ok", "z/deep: ok", "z: ok"], "\(run.states)")
            #expect(run.summary.status == .failed && run.summary.error?.message.contains("closed") == true)
            let notices = run.events.compactMap { if case .notice(_, let text) = $0 { text } else { nil } }
            #expect(notices.count == 1 && notices[0].contains("'finally' steps still run"), "\(notices)")
        }
    }

    @Test("A run whose end could not be saved can be resumed at once by the same process")
    func lostEnd() async throws {
        try await withLab { lab in
            let text = "name: t\nsteps:\n  - {id: a, action: x}\n"
            let first = try await lab.journal.begin(lab.bundle(text), inputs: [:])
            try await lab.journal.database.write { connection in
                try connection.run(
                    """
                    CREATE TRIGGER lost_end BEFORE UPDATE ON runs WHEN new.ended IS NOT NULL
                    BEGIN SELECT raise(ABORT, 'no room for the end'); END
                    """)
            }
            let run = try await lab.run(text, on: first)
            let notices = run.events.compactMap { if case .notice(_, let text) = $0 { text } else { nil } }
            #expect(run.states == ["a: ok"] && notices.count == 1)
            #expect(notices.first?.contains("no room for the end") == true, "\(notices)")
            #expect(try await lab.journal.runs(limit: 1).first?.isBroken == true)
            try await lab.journal.database.write { try $0.run("DROP TRIGGER lost_end") }
            let performer = TestPerformer()
            let again = try await lab.run(text, performer, on: try await lab.journal.resume(first.id))
            #expect(performer.calls.isEmpty && again.summary.status == .ok)
            #expect(try await lab.journal.runs(limit: 1).first?.status == .ok)
            // `first` lives until here, so only the failed end can have given the run back.
            withExtendedLifetime(first) {}
        }
    }

    @Test("A run without a journal works the same and saves nothing") func unkept() async throws {
        try await withLab { lab in
            let run = try await lab.run(
                "name: t\nsteps:\n  - {id: a, action: x, cache: {for: 1h}}\n  - {id: b, action: x}\n",
                on: .unkept(at: .testNow()))
            #expect(run.states == ["a: ok", "b: ok"] && run.summary.status == .ok)
            #expect(try Files.list(lab.folder).isEmpty)
        }
    }

    @Test("A cached result from the future is not used") func futureCache() async throws {
        try await withLab { lab in
            let time = Mutex(Timestamp.testNow())
            let journal = Journal("\(lab.folder)/clock.db", now: { time.withLock { $0 } })
            let text = "name: t\nsteps:\n  - {id: a, action: slow, cache: {for: 1h}}\n"
            let performer = TestPerformer()
            let bundle = try lab.bundle(text)
            for (shift, calls) in [(864_000, 1), (600, 1), (-864_600, 2), (60, 2)] {
                time.withLock { $0 = $0 + .seconds(shift) }
                let run = try await lab.run(
                    text, performer, on: try await journal.begin(bundle, inputs: [:]),
                    now: { time.withLock { $0 } })
                #expect(run.summary.status == .ok && performer.calls.count == calls, "\(shift)")
            }
            await journal.close()
        }
    }

    @Test("A cached result is used while it is fresh and its key is the same")
    func cache() async throws {
        try await withLab { lab in
            let performer = TestPerformer(["slow": { arguments, _ in arguments["x"] ?? .null }])
            let text = """
                name: t
                inputs: {key: {}}
                steps:
                  - {id: a, action: slow, with: {x: 1}, cache: {key: "${{ inputs.key }}", for: 1h}}
                """
            for (key, isCached, calls) in [("one", false, 1), ("one", true, 1), ("two", false, 2), ("one", true, 2)] {
                let run = try await lab.run(text, performer, inputs: ["key": .string(key)])
                #expect(run.result("a") == 1 && performer.calls.count == calls, "\(key)")
                #expect(run.summary.steps.last?.isCached == isCached)
            }
            let changed = text.replacing("x: 1", with: "x: 2")
            let run = try await lab.run(changed, performer, inputs: ["key": "one"])
            #expect(run.result("a") == 2 && performer.calls.count == 3)
        }
    }
}
