import Capabilities
import CoreTesting
import FileKit
import HTTPTesting
import HostKit
import JSON
import Registry
import Runs
import StorageKit
import Testing

@testable import Runner

@Suite("Runs with changed settings", .timeLimit(.minutes(5)))
struct ChangedSettingsTests {
    @Test("A run whose end could not be saved is resumed with the new settings, in the same process")
    func resume() async throws {
        try await TemporaryDirectory.run { folder in
            let bundle = "\(folder)/b.yaml"
            try Files.writeAtomically(Array("name: b\nsteps: [{action: version}]\n".utf8), to: bundle)
            let test = try TestHost([HostFeature.self, RunnerFeature.self], folder: folder)
            // Creates the journal, so that a trigger can prevent saving the end of the next run.
            try await test.perform("run.start", ["bundle": .string(bundle)])
            try await change(
                """
                CREATE TRIGGER lost_end BEFORE UPDATE ON runs WHEN new.ended IS NOT NULL
                BEGIN SELECT raise(ABORT, 'no room for the end'); END
                """, in: folder)
            let lost = try await test.perform("run.start", ["bundle": .string(bundle)])
            let id = try #require(lost["run"] ?? lost["id"])
            let shown = try await test.perform("runs.show", ["run": id])
            #expect(shown["status"] == "broken-off", "its end is not lost: \(shown.text())")
            try await change("DROP TRIGGER lost_end", in: folder)
            try test.change(settings: "{}")
            let resumed = try await test.perform("run.start", ["resume": id])
            #expect(resumed["status"] == "ok", "\(resumed.text())")
            await test.session.close()
        }
    }

    private func change(_ sql: SQL, in folder: String) async throws {
        let journal = Journal("\(folder)/data/runs.db", now: { Timestamp(microseconds: 0) })
        try await journal.database.write { try $0.run(sql) }
        await journal.close()
    }
}
