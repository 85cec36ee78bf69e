import Capabilities
import CoreTesting
import FileKit
import Glibc
import HostKit
import JSON
import Registry
import Testing

/// A real host over real files in a folder of its own.
struct Bench: Sendable {
    /// The folder, which is also the home.
    let home: String
    let output = RecordingOutput()
    var features: [BuiltInFeature] = []
    var variables: [String: String] = [:]
    var options = Workbench.Options()
    var answers: [String: JSON] = [:]

    var workbench: Workbench {
        Workbench(
            name: "martlet", version: "1.0", features: features, options: options,
            environment: ["HOME": home, "PATH": "/usr/bin:/bin"].merging(variables) { $1 })
    }

    var userFile: String { "\(home)/.config/martlet/config.json" }

    /// Does an action as a frontend would, with everything read anew.
    @discardableResult
    func perform(
        _ id: String, _ arguments: JSONObject = [:], interaction: (any Interaction)? = nil, limit: Duration? = nil,
        isAgreed: Bool = false
    ) async throws -> any OutputValue {
        let workbench = workbench
        return try await workbench.perform(
            try workbench.registry.actions.find(id), arguments,
            as: .person(interaction ?? HeadlessInteraction(answers: answers)), output: output, limit: limit,
            isAgreed: isAgreed)
    }

    func write(_ text: String, to path: String) throws {
        try write(Array(text.utf8), to: path)
    }

    func write(_ bytes: [UInt8], to path: String) throws {
        try Files.makeDirectories(String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]))
        try Files.writeAtomically(bytes, to: path)
    }

    func read(_ path: String) throws -> String {
        String(decoding: try Files.read(path, limit: 1 << 24), as: UTF8.self)
    }
}

/// Lends a bench and removes its folder with all it holds, whether the body passes or throws.
func withBench<T>(
    _ features: any Feature.Type..., isolation: isolated (any Actor)? = #isolation,
    _ body: (inout Bench) async throws -> T
) async throws -> T {
    var template = Array("/tmp/host-XXXXXX".utf8CString)
    let made = unsafe mkdtemp(&template) != nil
    try #require(made)
    let path = try Files.canonical(String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self))
    defer { unsafe system("rm -rf \(path)") }
    var bench = Bench(home: path, features: features.map { BuiltInFeature($0) })
    return try await body(&bench)
}

/// The failure that the body throws, as frontends see it; nil when it throws none.
func failure(isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Void) async -> AnyFailure? {
    do {
        try await body()
        return nil
    } catch {
        return AnyFailure(error)
    }
}
