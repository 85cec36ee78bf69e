import Capabilities
import CoreTesting
import FileKit
import HTTPTesting
import JSON
import KamiwazaTesting
import Registry
import Settings
import Testing

@testable import Auth

/// A machine of a test's own: a folder with settings, vault and database. Each command is composed anew from what the
/// one before left there, as each is a new process in life.
struct Desk: Sendable {
    let folder: String
    let time: MovableTime
    var environment: [String: String] = [:]
    var person: any Interaction = HeadlessInteraction()
    /// Settings that are stronger than those of the file.
    var overrides = "{}"
    /// Settings that were said with the options of a command.
    var flags = "{}"

    /// What a command came to.
    struct Done: Sendable {
        let json: JSON
        let exit: ExitCode
        let notices: [String]

        var said: String { notices.joined(separator: "\n") }
        subscript(_ name: String) -> JSON? { json[name] }
    }

    /// Lends a desk, and removes its folder after.
    static func run<Result>(
        time: MovableTime = MovableTime(), isolation: isolated (any Actor)? = #isolation,
        _ body: (inout Desk) async throws -> Result
    ) async throws -> Result {
        try await TemporaryDirectory.run { folder in
            var desk = Desk(folder: folder, time: time)
            // Nothing is signed for nobody; whoever is asked by a command is another one.
            return try await Caller.$current.withValue(
                .person(HeadlessInteraction()), operation: { try await body(&desk) }, isolation: isolation)
        }
    }

    /// Does one command from its start to its end.
    @discardableResult
    func run(_ id: String, _ arguments: JSONObject = [:], isAgreed: Bool = false) async throws -> Done {
        try await open { try await $0.perform(id, arguments, isAgreed: isAgreed) }
    }

    /// The failure of a command; nil and a recorded issue when it does not fail.
    func failure(
        _ id: String, _ arguments: JSONObject = [:], isAgreed: Bool = false,
        location: SourceLocation = #_sourceLocation
    ) async -> AnyFailure? {
        do {
            let done = try await run(id, arguments, isAgreed: isAgreed)
            Issue.record("nothing was thrown, but this came: \(done.json.text())", sourceLocation: location)
            return nil
        } catch {
            return AnyFailure(error)
        }
    }

    /// Lends a program that runs for the length of the body, for several things in one process.
    func open<Result: Sendable>(
        isolation: isolated (any Actor)? = #isolation, _ body: (OpenDesk) async throws -> Result
    ) async throws -> Result {
        let host = try composed()
        let session = WorkbenchSession(host, limits: .unhurried)
        let result: Swift.Result<Result, any Error>
        do {
            result = .success(try await body(OpenDesk(session: session, person: person)))
        } catch {
            result = .failure(error)
        }
        let stuck = await session.close()
        #expect(stuck.isEmpty)
        return try result.get()
    }

    // MARK: What is on the disk

    var settingsFile: String { "\(folder)/config/config.json" }

    /// The settings as the commands left them.
    func kept() throws -> JSON {
        guard Files.exists(settingsFile) else { return [:] }
        return try JSON(parsing: try Files.read(settingsFile, limit: 1 << 20), reading: .json5)
    }

    /// Writes the settings as a person would.
    func keep(_ text: String) throws {
        try Files.makeDirectories("\(folder)/config")
        try Files.writeAtomically(Array(text.utf8), to: settingsFile)
    }

    func write(_ text: String, to name: String) throws -> String {
        try Files.makeDirectories(folder)
        try Files.writeAtomically(Array(text.utf8), to: "\(folder)/\(name)")
        return "\(folder)/\(name)"
    }

    // MARK: Composing

    private func composed() throws -> Host {
        let types: [any Feature.Type] = [AuthFeature.self, SettingsFileFeature.self, SpanFileFeature.self]
        var catalogue = SettingsCatalogue(features: types.map { $0.manifest.id })
        for type in types { catalogue.add(type.manifest.settings, of: type.manifest.id) }
        catalogue.closeWithProfiles()
        var layers: [SettingsLayer] = []
        if Files.exists(settingsFile) {
            layers.append(
                try SettingsLayer(
                    origin: .user(file: settingsFile), text: try Files.read(settingsFile, limit: 1 << 20)))
        }
        layers.append(try SettingsLayer(origin: .user(file: "test"), text: Array(overrides.utf8)))
        let settings = Settings(
            merging: layers, overrides: [try SettingsLayer(origin: .flag, text: Array(flags.utf8))],
            catalogue: catalogue
        ) { _, _ in true }
        if !settings.problems.isEmpty { throw SettingsFailure(settings.problems) }
        let surroundings = Surroundings(
            environment: environment,
            locations: Locations(
                current: folder, config: "\(folder)/config", data: "\(folder)/data", state: "\(folder)/state",
                cache: "\(folder)/cache"), clock: ContinuousClock(), now: time.read)
        let composition = Composition(types.map { BuiltInFeature($0) }, settings: settings, surroundings: surroundings)
        if !composition.problems.isEmpty { throw CompositionFailure(composition.problems) }
        return Host(
            name: "martlet", version: "test", surroundings: surroundings, settings: settings, catalogue: catalogue,
            composition: composition)
    }
}

/// A program while it runs.
struct OpenDesk: Sendable {
    let session: WorkbenchSession
    let person: any Interaction

    var host: Host { session.newest.host }
    var registry: Registry { session.newest.registry }

    var authenticator: any Authenticator {
        get throws { try registry.one((any Authenticator).self) }
    }

    var secrets: any SecretStore {
        get throws { try registry.one((any SecretStore).self) }
    }

    func perform(_ id: String, _ arguments: JSONObject = [:], isAgreed: Bool = false) async throws -> Desk.Done {
        let output = RecordingOutput()
        let value = try await session.perform(
            id, arguments, as: .person(person), output: output, isAgreed: isAgreed)
        return Desk.Done(json: value.json, exit: value.exit, notices: output.notices)
    }

    func signed(_ url: String, for server: String) async throws -> [String: String] {
        var head = RequestHead(method: "GET", url: url)
        try await authenticator.sign(&head, for: ServerID(server))
        return Dictionary(head.headers.map { ($0.name, $0.value.plain) }) { first, _ in first }
    }
}

extension Secret {
    var plain: String { withText { $0 } }
}
