import Capabilities
import FileKit
import HostTesting
import JSON
import Registry
import Runner

extension TestWorkbench {
    /// Lends a workbench with the runner and the lab's actions.
    static func withRunner(
        isolation: isolated (any Actor)? = #isolation, _ body: (inout TestWorkbench) async throws -> Void
    ) async throws {
        try await run([LabFeature.self]) { bench in
            bench.features.insert(BuiltInFeature(essential: RunnerFeature.self), at: 0)
            bench.environment["MARTLET_HOME"] = "\(bench.folder)/home"
            bench.current = "\(bench.folder)/current"
            try Files.makeDirectories(bench.current)
            try await body(&bench)
        }
    }

    /// Writes a bundle and runs it.
    func run(_ text: String, _ arguments: JSONObject = [:], file: String = "b.yaml") async throws -> TestResult {
        try await perform("run.start", try start(text, file, arguments))
    }

    /// The failure of a bundle; nil if it succeeds.
    func failure(ofBundle text: String, _ arguments: JSONObject = [:]) async throws -> AnyFailure? {
        try await failure("run.start", try start(text, "b.yaml", arguments))
    }

    private func start(_ text: String, _ file: String, _ arguments: JSONObject) throws -> JSONObject {
        var arguments = arguments
        arguments.append("bundle", .string(try write(text, to: file)))
        return arguments
    }
}
