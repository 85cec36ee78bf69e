import Capabilities
import FileKit
import StorageKit
import Testing

@testable import Runs

@Suite("Runs offered while typing")
struct OfferedRunTests {
    @Test("They come with their states, newest first, and the journal is not created for it")
    func offered() async throws {
        try await withLab { lab in
            #expect(lab.journal.offered().isEmpty)
            #expect(!Files.exists(lab.journal.database.path))
            let failing = TestPerformer(["fail": { _, _ in throw TestFailure("no", exit: .toolFailed) }])
            _ = try await lab.run("name: first\nsteps:\n  - {action: fail}\n", failing)
            _ = try await lab.run("name: second\nsteps:\n  - {action: work}\n")
            let offered = lab.journal.offered()
            #expect(offered.map(\.name) == ["second", "first"])
            #expect(offered.map(\.state) == ["ok", "failed"])
            #expect(offered.map(\.canBeResumed) == [false, true])
            #expect(try await lab.journal.runs(limit: 2).map(\.id) == offered.map(\.id))
        }
    }

    @Test("Steps are those of the named run, or else of the newest")
    func steps() async throws {
        try await withLab { lab in
            #expect(lab.journal.offeredSteps(of: nil).isEmpty)
            #expect(!Files.exists(lab.journal.database.path))
            _ = try await lab.run(
                "name: first\nsteps:\n  - {id: a, action: work}\n  - {id: b, action: work, needs: [a]}\n")
            _ = try await lab.run("name: second\nsteps:\n  - {id: c, action: work}\n")
            let runs = lab.journal.offered().map(\.id)
            #expect(lab.journal.offeredSteps(of: runs.last).map { $0.key } == ["a", "b"])
            for newest in [nil, "last", runs.first] {
                #expect(lab.journal.offeredSteps(of: newest).map { $0.key } == ["c"])
            }
            #expect(lab.journal.offeredSteps(of: "none").isEmpty)
            // Both ids begin with the year, so that `find` refuses it.
            let year = try #require(runs.first?.prefix(4))
            #expect(runs.allSatisfy { $0.hasPrefix(year) })
            #expect(lab.journal.offeredSteps(of: String(year)).isEmpty)
        }
    }
}
