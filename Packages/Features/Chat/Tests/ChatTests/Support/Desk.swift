import Capabilities
import ChatProviders
import CoreTesting
import FileKit
import HTTPTesting
import JSON
import Registry
import Settings
import Synchronization
import Testing

@testable import Chat

/// A simulated machine for a test, with a scripted model server. Each command is composed again from the files that the
/// previous one left, like a new process.
struct Desk: Sendable {
    let folder: String
    /// The folder in which commands run, if it is another one.
    var current: String?
    let server: ScriptedServer
    var environment: [String: String]
    var person: any Interaction = HeadlessInteraction()
    /// The available features.
    var features: [any Feature.Type] = [Workshop.self, ChatFeature.self]
    /// The settings file of the project in which the commands run.
    var project: String?
    /// Settings that take precedence over the file.
    var settings = "{}"
    /// The local servers to look for: none, so that no test finds real ones.
    var localServers: [LocalServer] = []
    /// Whether the output is a terminal.
    var isWatched = false

    static let key = "sk-test-0123456789abcdefghij"

    /// The result of a command.
    struct Done: Sendable {
        var json: JSON = .null
        var exit = ExitCode.done
        let heard: Heard
        var failure: AnyFailure?

        var notices: String { heard.notices.joined(separator: "\n") }
        var types: [String] { heard.events.map(\.type) }
        subscript(_ name: String) -> JSON? { json[name] }
    }

    /// Lends a desk whose provider is the script.
    static func run(
        isolation: isolated (any Actor)? = #isolation, _ script: @escaping ScriptedServer.Script,
        _ body: (inout Desk) async throws -> Void
    ) async throws {
        try await ScriptedServer.run(script) { server in
            try await TemporaryDirectory.run { folder in
                var desk = Desk(
                    folder: folder, server: server,
                    environment: [
                        "OPENAI_BASE_URL": "http://127.0.0.1:\(server.port)/v1", "OPENAI_API_KEY": key,
                    ])
                try await body(&desk)
            }
        }
    }

    /// The same with one of these streams for each question.
    static func run(
        answers: String..., isolation: isolated (any Actor)? = #isolation, _ body: (inout Desk) async throws -> Void
    ) async throws {
        let next = Counter()
        try await run(
            { connection in
                // Lists of models are requested when a name is resolved.
                guard try connection.receiveRequest().method == "POST" else {
                    return try connection.respond(#"{"object":"list","data":[]}"#)
                }
                let number = next.next()
                guard number < answers.count else {
                    return try connection.respond(Answers.error("too many"), status: 400)
                }
                try connection.begin()
                try connection.send(answers[number])
            }, body)
    }

    /// The questions to the server.
    var asked: [RecordedRequest] { server.record.requests.filter { $0.method == "POST" } }

    /// Runs one command from start to end.
    func attempt(_ id: String, _ arguments: JSONObject = [:], heard: Heard? = nil) async throws -> Done {
        try await ChatServices.$localServers.withValue(localServers) {
            try await attempted(id, arguments, heard ?? Heard(isWatched: isWatched))
        }
    }

    private func attempted(_ id: String, _ arguments: JSONObject, _ heard: Heard) async throws -> Done {
        let host = try composed()
        let session = WorkbenchSession(host, limits: .unhurried)
        var done = Done(heard: heard)
        do {
            let value = try await session.perform(
                id, arguments, as: .person(person), output: heard, isAgreed: true)
            (done.json, done.exit) = (value.json, value.exit)
        } catch {
            let failure = AnyFailure(error)
            (done.failure, done.exit) = (failure, failure.exit)
        }
        let stuck = await session.close()
        #expect(stuck.isEmpty)
        return done
    }

    /// The same for a command that must succeed.
    @discardableResult
    func run(
        _ id: String, _ arguments: JSONObject = [:], location: SourceLocation = #_sourceLocation
    ) async throws -> Done {
        let done = try await attempt(id, arguments)
        if let failure = done.failure { Issue.record("\(failure.message)", sourceLocation: location) }
        return done
    }

    /// Sends a message.
    @discardableResult
    func say(
        _ text: String, _ arguments: JSONObject = [:], location: SourceLocation = #_sourceLocation
    ) async throws -> Done {
        try await run("chat.send", arguments.adding("message", .string(text)), location: location)
    }

    /// The stored messages of a conversation, as `role: text`, with the state if it is not complete.
    func stored(_ id: String = "") async throws -> [String] {
        var id = id
        if id.isEmpty {
            id = try #require(try await run("chat.list").json.array?.first?["id"]?.string)
        }
        let shown = try await run("chat.show", ["conversation": .string(id)])
        return (shown["messages"]?.array ?? []).map { message in
            let state = message["state"]?.string ?? ""
            return "\(message["role"]?.string ?? ""): \(message["text"]?.string ?? "")"
                + (state == "complete" ? "" : " (\(state))")
        }
    }

    /// The records of folders.
    var folders: FolderRecordFile { FolderRecordFile("\(folder)/state/folders.json") }

    /// Replaces a folder by another one at its place.
    func replace(_ path: String) throws {
        try Files.rename(path, toNew: "\(path)-before")
        try Files.makeDirectories(path)
    }

    func write(_ bytes: [UInt8], to name: String) throws -> String {
        try Files.writeAtomically(bytes, to: "\(folder)/\(name)")
        return name
    }

    // MARK: Composing

    private func composed() throws -> Host {
        let types = features
        var catalogue = SettingsCatalogue(features: types.map { $0.manifest.id })
        for type in types { catalogue.add(type.manifest.settings, of: type.manifest.id) }
        catalogue.closeWithProfiles()
        var layers: [SettingsLayer] = []
        let file = "\(folder)/config/config.json"
        if Files.exists(file) {
            layers.append(try SettingsLayer(origin: .user(file: file), text: try Files.read(file, limit: 1 << 20)))
        }
        layers.append(try SettingsLayer(origin: .user(file: "test"), text: Array(settings.utf8)))
        let settings = Settings(merging: layers, overrides: [], catalogue: catalogue) { _, _ in true }
        if !settings.problems.isEmpty { throw SettingsFailure(settings.problems) }
        let surroundings = Surroundings(
            environment: environment,
            locations: Locations(
                current: current ?? folder, config: "\(folder)/config", project: project, data: "\(folder)/data",
                state: "\(folder)/state",
                cache: "\(folder)/cache"), clock: ContinuousClock(), now: Moments().next)
        let composition = Composition(types.map { BuiltInFeature($0) }, settings: settings, surroundings: surroundings)
        if !composition.problems.isEmpty { throw CompositionFailure(composition.problems) }
        return Host(
            name: "martlet", version: "test", surroundings: surroundings, settings: settings, catalogue: catalogue,
            composition: composition)
    }
}

final class Counter: Sendable {
    private let count = Atomic(0)

    func next() -> Int { count.add(1, ordering: .relaxed).oldValue }
}

/// Strictly increasing times, so that the newest is unambiguous.
private struct Moments: Sendable {
    private static let last = Atomic<Int64>(1_700_000_000_000_000)

    func next() -> Timestamp {
        Timestamp(microseconds: Self.last.add(1_000_000, ordering: .relaxed).newValue)
    }
}
