import Bundles
import Capabilities
import JSON
import StorageKit
import Synchronization
import Testing

@testable import Runs

@Suite("Resumed runs")
struct ResumeTests {
    private static let text = """
        name: t
        parallel: 3
        steps:
          - {id: a, action: count, with: {n: 1}}
          - {id: m, action: count, matrix: {i: [1, 2, 3, 4, 5]}, with: {n: "${{ matrix.i }}"}}
          - {id: b, action: count, with: {n: "${{ length(steps.m.result) }}"}}
          - {id: f, action: fail, needs: [a], continue-on-error: true}
          - {id: c, action: count, needs: [b, f], with: {n: "${{ steps.f.exit }}"}}
        finally:
          - {id: z, action: clean}
        outputs: {b: "${{ steps.b.result }}", m: "${{ steps.m.result }}"}
        """

    /// From the n-th action on, actions hang, which is signalled once.
    private func performer(_ done: DoneLog, hangingAt last: Int, _ told: AsyncStream<Void>.Continuation? = nil)
        -> TestPerformer
    {
        let count = Mutex(0)
        let work: TestPerformer.Work = { arguments, _ in
            let number = count.withLock { count -> Int in
                count += 1
                return count
            }
            if number >= last {
                told?.yield()
                try await ContinuousClock().sleep(for: .seconds(3_600))
            }
            done.add(JSON.object(arguments).text())
            return ["did": arguments["n"] ?? .null]
        }
        return TestPerformer([
            "count": work,
            "fail": { arguments, output in
                _ = try await work(arguments, output)
                throw TestFailure("no", exit: .toolFailed)
            },
            "clean": { _, _ in "clean" },
        ])
    }

    @Test("A resumed run keeps only the new attempts of a repeated step")
    func attempts() async throws {
        try await withLab { lab in
            let text = """
                name: t
                steps:
                  - {id: a, action: luck, retry: {times: 2, delay: 1ms, on: [5]}}
                  - {id: b, action: never}
                """
            let never: TestPerformer.Work = { _, _ in throw TestFailure("no", exit: .toolFailed) }
            let id = try await lab.journal.begin(lab.bundle(text), inputs: [:])
            _ = try await lab.run(text, TestPerformer(["luck": never, "never": never]), on: id)
            #expect(try await lab.journal.steps(of: id.id.text).map(\.key) == ["a", "a", "a", "b"])
            let lucky = TestPerformer(["never": never])
            _ = try await lab.run(text, lucky, on: try await lab.journal.resume(id.id, again: true))
            let rows = try await lab.journal.steps(of: id.id.text)
            #expect(rows.map { "\($0.key) \($0.attempt) \($0.status.rawValue)" } == ["a 1 ok", "b 1 failed"])
            #expect(try await lab.journal.find(id.id.text).failed == 1)
            let last = try await lab.run(text, TestPerformer(), on: try await lab.journal.resume(id.id))
            #expect(last.states == ["a: ok", "b: failed"] && last.summary.steps.allSatisfy(\.isRestored))
        }
    }

    @Test("A resumed run repeats no finished step, and ends like an uninterrupted run", arguments: 1...9)
    func resuming(last: Int) async throws {
        try await withLab { lab in
            let whole = try await lab.run(Self.text, performer(DoneLog(), hangingAt: .max))
            let first = try await lab.journal.begin(lab.bundle(Self.text), inputs: [:])
            let (before, after) = (DoneLog(), DoneLog())
            let (hanging, told) = AsyncStream<Void>.makeStream()
            let dying = performer(before, hangingAt: last, told)
            let copy = lab
            let task = Task { try await copy.run(Self.text, dying, on: first) }
            for await _ in hanging.prefix(1) {}
            task.cancel()
            let broken = try await task.value
            #expect(broken.summary.status == .cancelled)
            let finished = broken.summary.steps.filter { [.ok, .failed].contains($0.outcome.status) && $0.key != "z" }
            let unfinished = try await lab.journal.unfinished(first.id.text)
            #expect(unfinished.digest == (try lab.bundle(Self.text)).source.digest)
            let run = try await lab.run(
                Self.text, performer(after, hangingAt: .max), on: try await lab.journal.resume(first.id))
            #expect(run.summary.outputs == whole.summary.outputs && run.summary.status == .ok)
            let restored = Set(run.summary.steps.filter(\.isRestored).map(\.key))
            // A step with several runs that has finished is restored as a whole.
            #expect(
                finished.allSatisfy { restored.contains($0.key) || restored.contains("m") && $0.key.hasPrefix("m[") })
            #expect(!restored.contains("z"))
            #expect(before.all.count + after.all.count == 9, "\(before.all) \(after.all)")
        }
    }

    @Test("A run is found by its id, by the beginning of the id, or as the last; other ids are errors")
    func finding() async throws {
        try await withLab { lab in
            await #expect(throws: RunError.unknown(nil)) { try await lab.journal.find(nil) }
            let done = try await lab.run("name: t\nsteps:\n  - action: x\n")
            let id = done.summary.id.text
            #expect(try await lab.journal.find("last").id == id)
            #expect(try await lab.journal.find(String(id.dropLast(2))).id == id)
            await #expect(throws: RunError.unknown("zzz")) { try await lab.journal.find("zzz") }
            await #expect(throws: RunError.alreadyDone(id)) { try await lab.journal.unfinished(id) }
            let open = try await lab.journal.begin(lab.bundle("name: t\nsteps:\n  - action: x\n"), inputs: [:])
            await #expect(throws: RunError.stillRunning(open.id.text)) {
                try await lab.journal.unfinished(open.id.text)
            }
            await #expect(throws: RunError.ambiguous("2")) { try await lab.journal.find("2") }
            #expect(try await lab.journal.prune(before: .testNow() + .seconds(1)) == 1)
            #expect(try await lab.journal.runs(limit: 10).map(\.id) == [open.id.text])
            withExtendedLifetime(open) {}
        }
    }

    @Test("A run can be resumed by its own journal; another journal refuses while the process lives")
    func givenUp() async throws {
        try await withLab { lab in
            let bundle = try lab.bundle("name: t\nsteps:\n  - action: x\n")
            let beside = Journal("\(lab.folder)/shared.db", now: Timestamp.testNow)
            let journal = Journal("\(lab.folder)/shared.db", now: Timestamp.testNow)
            var run: JournalRun? = try await journal.begin(bundle, inputs: [:])
            let id = try #require(run?.id)
            for other in [journal, beside] {
                await #expect(throws: RunError.stillRunning(id.text)) { try await other.resume(id) }
                await #expect(throws: RunError.overlaps("t", id.text)) {
                    try await other.begin(bundle, inputs: [:], alone: true)
                }
                #expect(try await other.runs(limit: 1).first?.isBroken == false)
            }
            run = nil
            #expect(try await journal.runs(limit: 1).first?.isBroken == true)
            // Another journal only knows that the process is alive.
            await #expect(throws: RunError.stillRunning(id.text)) { try await beside.resume(id) }
            let again = try await journal.resume(id)
            await #expect(throws: RunError.stillRunning(id.text)) { try await journal.resume(id) }
            withExtendedLifetime(again) {}
            await journal.close()
            await beside.close()
        }
    }

    @Test("The last run is the one that started last, even if the clock was set back")
    func order() async throws {
        try await withLab { lab in
            let bundle = try lab.bundle("name: t\nsteps:\n  - action: x\n")
            let time = Mutex(Timestamp.testNow())
            let journal = Journal("\(lab.folder)/clock.db", now: { time.withLock { $0 } })
            let ahead = try await journal.begin(bundle, inputs: [:])
            time.withLock { $0 = $0 + .seconds(-86_400) }
            let right = try await journal.begin(bundle, inputs: [:])
            #expect(try await journal.find("last").id == right.id.text)
            #expect(try await journal.runs(limit: 5).map(\.id) == [right.id.text, ahead.id.text])
            await journal.close()
        }
    }

    @Test("A run has a unique id, even among thousands that start in one second") func names() async throws {
        try await withLab { lab in
            let time = Timestamp.testNow()
            let journal = Journal("\(lab.folder)/names.db", now: { time })
            let bundle = try lab.bundle("name: t\nsteps:\n  - action: x\n")
            // Among so many ids, some four letters occur twice.
            for _ in 0..<2_500 { _ = try await journal.begin(bundle, inputs: [:]) }
            #expect(try await journal.runs(limit: 10_000).count == 2_500)
            await journal.close()
        }
    }

    @Test("Runs from an older journal version keep their order")
    func olderJournal() async throws {
        try await withLab { lab in
            let path = "\(lab.folder)/old.db"
            let old = Database(path, migrations: Array(Journal.migrations.prefix(1)), durability: .normal)
            try await old.write { connection in
                for (id, started) in [("b", 2), ("c", 1), ("a", 3)] {
                    try connection.run(
                        """
                        INSERT INTO runs (id, name, file, digest, inputs, started, status)
                        VALUES (?, 't', 'b.yaml', '', '{}', ?, 'ok')
                        """, id, started)
                }
            }
            await old.close()
            let journal = Journal(path, now: { .testNow() })
            let bundle = try lab.bundle("name: t\nsteps:\n  - action: x\n")
            let new = try await journal.begin(bundle, inputs: [:])
            #expect(try await journal.runs(limit: 5).map(\.id) == [new.id.text, "a", "b", "c"])
            await journal.close()
        }
    }

    @Test("A run with --alone does not start while the same bundle is running") func alone() async throws {
        try await withLab { lab in
            let bundle = try lab.bundle("name: t\nsteps:\n  - action: x\n")
            let first = try await lab.journal.begin(bundle, inputs: [:], alone: true)
            await #expect(throws: RunError.overlaps("t", first.id.text)) {
                try await lab.journal.begin(bundle, inputs: [:], alone: true)
            }
            _ = try await lab.run("name: t\nsteps:\n  - action: x\n", on: first)
            _ = try await lab.journal.begin(bundle, inputs: [:], alone: true)
            #expect(try await lab.journal.runs(limit: 5).count == 2)
        }
    }

    @Test("Failed steps are repeated only with --again")
    func again() async throws {
        try await withLab { lab in
            let text = "name: t\nsteps:\n  - {id: a, action: x}\n  - {id: b, action: fail}\n  - {id: c, action: x}\n"
            let failing = TestPerformer(["fail": { _, _ in throw TestFailure("no", exit: .failed) }])
            let first = try await lab.run(text, failing)
            #expect(first.states == ["a: ok", "b: failed", "c: blocked"])
            let kept = TestPerformer()
            let same = try await lab.run(text, kept, on: try await lab.journal.resume(first.summary.id))
            #expect(kept.calls.isEmpty && same.summary.status == .failed)
            let mended = TestPerformer()
            let again = try await lab.run(text, mended, on: try await lab.journal.resume(first.summary.id, again: true))
            #expect(mended.calls == ["fail", "x"] && again.summary.status == .ok)
        }
    }
}

/// A log of actions, shared by several performers.
final class DoneLog: Sendable {
    private let log = Mutex<[String]>([])

    var all: [String] { log.withLock { $0 } }

    func add(_ text: String) { log.withLock { $0.append(text) } }
}
