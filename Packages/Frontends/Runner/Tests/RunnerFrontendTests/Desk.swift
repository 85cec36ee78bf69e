import Capabilities
import CoreTesting
import FileKit
import HTTPTesting
import HostKit
import JSON
import Registry
import RunnerFrontend

/// A real host with the runner, in a temporary folder.
struct Desk: Sendable {
    let folder: String
    var variables: [String: String] = [:]
    var answers: [String: JSON] = [:]
    var output = RecordingOutput()

    static func with(isolation: isolated (any Actor)? = #isolation, _ body: (inout Desk) async throws -> Void)
        async throws
    {
        try await TemporaryDirectory.run { folder in
            var desk = Desk(folder: folder)
            try await body(&desk)
        }
    }

    /// Performs an action as a frontend would, in a new host.
    func perform(_ id: String, _ arguments: JSONObject = [:]) async throws -> any OutputValue {
        let workbench = workbench
        return try await workbench.perform(
            try workbench.registry.actions.find(id), arguments, as: .person(HeadlessInteraction(answers: answers)),
            output: output)
    }

    func action(_ id: String) throws -> Action { try workbench.registry.actions.find(id) }

    private var workbench: Workbench {
        Workbench(
            name: "martlet", version: "1.0",
            features: [BuiltInFeature(essential: RunnerFeature.self), BuiltInFeature(LabFeature.self)],
            environment: ["HOME": folder, "MARTLET_HOME": "\(folder)/home"].merging(variables) { $1 })
    }

    /// Writes a bundle and runs it.
    func run(_ text: String, _ arguments: JSONObject = [:], file: String = "b.yaml") async throws -> any OutputValue {
        try write(text, file)
        var arguments = arguments
        arguments.append("bundle", .string("\(folder)/\(file)"))
        return try await perform("run.start", arguments)
    }

    @discardableResult
    func write(_ text: String, _ file: String) throws -> String {
        if let slash = file.lastIndex(of: "/") { try Files.makeDirectories("\(folder)/\(file[..<slash])") }
        try Files.writeAtomically(Array(text.utf8), to: "\(folder)/\(file)")
        return "\(folder)/\(file)"
    }

    func read(_ file: String) throws -> String {
        String(decoding: try Files.read("\(folder)/\(file)", limit: 1 << 24), as: UTF8.self)
    }

    /// The error of a run that must fail.
    func failure(_ text: String, _ arguments: JSONObject = [:]) async throws -> AnyFailure? {
        do {
            _ = try await run(text, arguments)
            return nil
        } catch {
            return AnyFailure(error)
        }
    }
}
