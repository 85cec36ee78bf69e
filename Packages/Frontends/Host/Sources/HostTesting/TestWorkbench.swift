public import Capabilities
public import CoreTesting
import FileKit
public import HostKit
public import JSON
public import Registry
import Settings

/// A workbench of chosen features in a temporary folder, for one test.
///
/// Settings, data and state are real files below the folder. Each `perform` is like a command in a new process: it reads
/// the settings anew and closes everything at its end. `open` is like a program that keeps running.
///
/// ```swift
/// try await TestWorkbench.run([WeatherFeature.self]) { bench in
///     try bench.write(settings: "{weather: {units: 'metric'}}")
///     let done = try await bench.perform("weather.now", ["city": "Bern"])
///     #expect(done["degrees"] == 21)
/// }
/// ```
public struct TestWorkbench: Sendable {
    /// The temporary folder; the home, and unless changed the current folder.
    public let folder: String
    /// The features besides those of the host; a test may change them between two actions.
    public var features: [BuiltInFeature]
    /// Variables besides `HOME`, `MARTLET_HOME` and a `PATH` of the system's programs, which they may replace.
    public var environment: [String: String] = [:]
    /// Whether all files are in the folder itself; otherwise they are where the home of a person has them.
    public var isOneFolder = true
    /// The folder in which commands run.
    public var current: String
    /// The choices for each run, as the program's common options would set them.
    public var options = Workbench.Options()
    /// Settings that take precedence over those of files, as the text of a settings file.
    public var settings = "{}"
    /// Answers the questions of actions.
    public var person: any Interaction = HeadlessInteraction()
    /// The clock for limits and pauses.
    public var clock: any Clock<Duration> = ContinuousClock()
    /// The time of day; nil for the real one.
    public var time: MovableTime?
    /// The output of all actions together; each result has its own.
    public var output = RecordingOutput()
    /// Whether somebody watches the output, as on a terminal.
    public var isWatched = false

    /// Lends a workbench and removes its folder at the end.
    public static func run<Result>(
        _ features: [any Feature.Type] = [], isolation: isolated (any Actor)? = #isolation,
        _ body: (inout TestWorkbench) async throws -> Result
    ) async throws -> Result {
        try await TemporaryDirectory.run { folder in
            var bench = TestWorkbench(folder, features)
            return try await body(&bench)
        }
    }

    /// - Parameter folder: exists, and is removed by the caller.
    public init(_ folder: String, _ features: [any Feature.Type] = []) {
        self.folder = folder
        self.features = features.map { BuiltInFeature($0) }
        current = folder
    }

    // MARK: Performing

    /// A workbench over the files as they are now.
    public var workbench: Workbench {
        get throws {
            let layer = try SettingsLayer(origin: .user(file: "test"), text: Array(settings.utf8))
            var variables = ["HOME": folder, "PATH": "/usr/bin:/bin"]
            if isOneFolder { variables["MARTLET_HOME"] = folder }
            return Workbench(
                name: "martlet", version: "1.0", features: features, options: options,
                environment: variables.merging(environment) { $1 },
                current: current, layers: [layer], clock: clock, now: time?.read)
        }
    }

    /// The declaration of an action.
    public func action(_ id: String) throws -> Action { try workbench.registry.actions.find(id) }

    /// Performs an action like a command, and returns its result.
    @discardableResult
    public func perform(
        _ id: String, _ arguments: JSONObject = [:], to output: RecordingOutput? = nil, limit: Duration? = nil,
        isAgreed: Bool = false
    ) async throws -> TestResult {
        let result = try await attempt(id, arguments, to: output, limit: limit, isAgreed: isAgreed)
        if let error = result.error { throw error }
        return result
    }

    /// Performs an action that may fail. Throws only if `settings` cannot be parsed, or a feature does not close.
    public func attempt(
        _ id: String, _ arguments: JSONObject = [:], to output: RecordingOutput? = nil, limit: Duration? = nil,
        isAgreed: Bool = false
    ) async throws -> TestResult {
        try await open { session in
            await session.attempt(id, arguments, to: output, limit: limit, isAgreed: isAgreed)
        }
    }

    /// The failure of an action; nil if it succeeds.
    public func failure(
        _ id: String, _ arguments: JSONObject = [:], isAgreed: Bool = false
    ) async throws -> AnyFailure? {
        try await attempt(id, arguments, isAgreed: isAgreed).failure
    }

    /// Lends a session that stays open for several actions, and closes it.
    public func open<Result: Sendable>(
        isolation: isolated (any Actor)? = #isolation, _ body: (TestSession) async throws -> Result
    ) async throws -> Result {
        let session = TestSession(
            session: try workbench.open(limits: .unhurried), person: person, output: output, isWatched: isWatched)
        let result: Swift.Result<Result, any Error>
        do { result = .success(try await body(session)) } catch { result = .failure(error) }
        let stuck = await session.session.close()
        guard stuck.isEmpty else { throw StuckFeatures(features: stuck) }
        return try result.get()
    }

    // MARK: Files

    /// The person's settings file.
    public var settingsFile: String {
        get throws { try workbench.host.locations.config + "/config.json" }
    }

    /// Writes the person's settings file.
    public func write(settings text: String) throws {
        try write(text, to: settingsFile)
    }

    /// The person's settings as the actions left them.
    public func readSettings() throws -> JSON {
        let file = try settingsFile
        return Files.exists(file) ? try JSON(parsing: Array(try read(file).utf8), reading: .json5) : [:]
    }

    /// Writes a file and creates the folders above it. Returns its absolute path.
    ///
    /// - Parameter path: relative to the folder, or absolute.
    @discardableResult
    public func write(_ text: String, to path: String) throws -> String {
        try write(Array(text.utf8), to: path)
    }

    /// The same for bytes.
    @discardableResult
    public func write(_ bytes: [UInt8], to path: String) throws -> String {
        let path = AbsolutePath.joined(path, in: folder)
        if let slash = path.lastIndex(of: "/") { try Files.makeDirectories(String(path[..<slash])) }
        try Files.writeAtomically(bytes, to: path)
        return path
    }

    /// The text of a file.
    public func read(_ path: String) throws -> String {
        String(decoding: try Files.read(AbsolutePath.joined(path, in: folder), limit: 1 << 24), as: UTF8.self)
    }
}

/// An open session of a `TestWorkbench`.
public struct TestSession: Sendable {
    /// The session in which the actions run.
    public let session: WorkbenchSession
    let person: any Interaction
    /// The output of all actions together.
    public let output: RecordingOutput
    let isWatched: Bool

    /// The host of the newest generation; another one after a change of the settings.
    public var host: Host { session.newest.host }
    /// The actions and capabilities of the newest generation.
    public var registry: Registry { session.newest.registry }

    /// Performs an action and returns its result.
    @discardableResult
    public func perform(
        _ id: String, _ arguments: JSONObject = [:], to output: RecordingOutput? = nil, limit: Duration? = nil,
        isAgreed: Bool = false
    ) async throws -> TestResult {
        let result = await attempt(id, arguments, to: output, limit: limit, isAgreed: isAgreed)
        if let error = result.error { throw error }
        return result
    }

    /// Performs an action that may fail.
    public func attempt(
        _ id: String, _ arguments: JSONObject = [:], to output: RecordingOutput? = nil, limit: Duration? = nil,
        isAgreed: Bool = false
    ) async -> TestResult {
        let output = output ?? RecordingOutput(isWatched: isWatched, collector: self.output)
        let before = output.events.count
        let result = await done(id, arguments, to: output, limit: limit, isAgreed: isAgreed)
        // The action's own failure says more.
        guard result.error == nil else { return result }
        let declared = registry.actions[id]?.events ?? []
        let problems = output.events.dropFirst(before).flatMap { declared.problems(in: $0.json) }
        guard let first = problems.first else { return result }
        return TestResult(value: nil, error: UndeclaredEvent(action: id, problem: first), output: output)
    }

    private func done(
        _ id: String, _ arguments: JSONObject, to output: RecordingOutput, limit: Duration?, isAgreed: Bool
    ) async -> TestResult {
        do {
            let value = try await session.perform(
                id, arguments, as: .person(person), output: output, limit: limit, isAgreed: isAgreed)
            return TestResult(value: value, error: nil, output: output)
        } catch {
            return TestResult(value: nil, error: error, output: output)
        }
    }
}

/// The outcome of an action.
public struct TestResult: Sendable {
    /// What the action returned; nil if it failed.
    public let value: (any OutputValue)?
    /// What the action threw.
    public let error: (any Error)?
    /// The output of this action only, unless the test passed one to collect several.
    public let output: RecordingOutput

    /// The result as JSON; null if the action failed.
    public var json: JSON { value?.json ?? .null }
    /// A member of the result; nil if there is none or the action failed.
    public subscript(_ name: String) -> JSON? { json[name] }
    /// The error as every frontend would report it; nil if the action succeeded.
    public var failure: AnyFailure? { error.map { AnyFailure($0) } }
    /// The exit code of a command with this outcome.
    public var exit: ExitCode { value?.exit ?? failure?.exit ?? .done }
    /// All notices, a line each.
    public var notices: String { output.notices.joined(separator: "\n") }
}

/// An event that the action does not declare, which counts as its failure.
private struct UndeclaredEvent: Error, CustomStringConvertible {
    let action: String
    let problem: String

    var description: String { "\(action) sends an event that it does not declare: \(problem)" }
}

/// Features that did not close in time.
private struct StuckFeatures: Error, CustomStringConvertible {
    let features: [String]

    var description: String { "these features did not close: \(features.joined(separator: ", "))" }
}
