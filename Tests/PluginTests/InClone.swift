import CoreTesting
import FileKit
import Testing
import WorkspaceSupport

/// Makes one clone for a whole suite: the plugin writes Weather, Packer and Courier, of which two are replaced by
/// fixtures, Station with all parts that a new feature can have, and Beacon with one.
struct InClone: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await TemporaryDirectory.run { folder in
            let clone = try await Clone(of: .current, in: folder)
            // In this order one goes to an empty list, one to the end and one between.
            let parts = ["--with", "background,http,screen,secret,storage"]
            for words in [["Courier"], ["Weather"], ["Packer"], ["Station"] + parts, ["Beacon", "--with", "http"]] {
                let outcome = try await clone.plugin("new-feature", words)
                guard outcome.code == 0 else { throw CloneError.refused(outcome.output + outcome.errors) }
            }
            // As make does.
            try await clone.shell.run(
                "swift", "format", "format", "--in-place", "--recursive", "Packages/Features/Beacon",
                "Packages/Features/Station", "Packages/Features/Weather")
            for name in ["Packer", "Courier"] {
                let target = "Packages/Features/\(name)"
                try await clone.shell.run("rm", "-r", target)
                try await clone.shell.run("cp", "-r", "Tests/Fixtures/\(name)", target)
            }
            try clone.replace(
                #"BuiltInFeature(trait: "Packer")"#,
                with: #"BuiltInFeature(trait: "Packer", provides: "ToolSource")"#,
                in: "Apps/martlet/BuiltInFeatures.swift")
            try await Clone.$current.withValue(clone) { try await function() }
        }
    }
}

extension SuiteTrait where Self == InClone {
    /// The suite's tests work in a clone of the checkout.
    static var inClone: InClone { InClone() }
}
