import Capabilities
import CoreTesting
import FileKit
import JSON
import Registry
import Testing

@testable import Runner

@Suite("Completion of bundles")
struct RunCompletionTests {
    @Test("Bundles of the project and of the user are offered by name, besides files")
    func bundles() async throws {
        try await TemporaryDirectory.run { folder in
            let test = try TestHost([RunnerFeature.self], folder: folder)
            func found(_ completion: Completion) -> [Completion.Candidate] {
                switch completion {
                case .dynamic(let find), .dynamicOrFiles(let find): find(test.composition.registry, test.host, [:])
                default: []
                }
            }
            #expect(found(RunCompletion.bundles).isEmpty && found(RunCompletion.runs).isEmpty)
            #expect(found(RunCompletion.resumable).map(\.word) == ["last"])
            #expect(try Files.list(folder).isEmpty)
            for path in [
                ".martlet/bundles/nightly.yaml", ".martlet/bundles/notes.txt", "config/bundles/nightly.yml",
                "config/bundles/früh.yaml", "config/bundles/tidy.json5", "config/bundles/two words.yaml",
            ] {
                try Files.makeDirectories(PathParts("\(folder)/\(path)").folder)
                try Files.writeAtomically([], to: "\(folder)/\(path)")
            }
            #expect(
                found(RunCompletion.bundles) == [
                    Completion.Candidate("nightly", "A bundle of this project"),
                    Completion.Candidate("früh", "One of your bundles"),
                    Completion.Candidate("tidy", "One of your bundles"),
                    Completion.Candidate("two words", "One of your bundles"),
                ])
        }
    }
}
