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

/// A machine of a test's own, with a server of models that does what the test says. Each command is composed anew from
/// what the one before left there, as each is a new process in life.
struct Desk: Sendable {
    let folder: String
    /// Where the commands run, when that is another folder.
    var current: String?
    let server: ScriptedServer
    var environment: [String: String]
    var person: any Interaction = HeadlessInteraction()
    /// The features that there are.
    var features: [any Feature.Type] = [Workshop.self, ChatFeature.self]
    /// The settings file of the project that the commands run in.
    var project: String?
    /// Settings that are stronger than those of the file.
    var settings = "{}"
    /// Where servers are looked for on this machine: nowhere, so that no test meets what else runs there.
    var localServers: [LocalServer] = []
    /// Whether a person looks at a terminal.
    var isWatched = false

    static let key = "sk-test-0123456789abcdefghij"

    /// What a command came to.
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

    /// The same where each question is answered with the next of these streams.
    static func run(
        answers: String..., isolation: isolated (any Actor)? = #isolation, _ body: (inout Desk) async throws -> Void
    ) async throws {
        let next = Counter()
        try await run(
            { connection in
                // Lists of models are asked for where a name is looked for.
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

    /// The questions that the server was asked.
    var asked: [RecordedRequest] { server.record.requests.filter { $0.method == "POST" } }

    /// Does one command from its start to its end.
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

    /// The same for one that has to succeed.
    @discardableResult
    func run(
        _ id: String, _ arguments: JSONObject = [:], location: SourceLocation = #_sourceLocation
    ) async throws -> Done {
        let done = try await attempt(id, arguments)
        if let failure = done.failure { Issue.record("\(failure.message)", sourceLocation: location) }
        return done
    }

    /// Says something.
    @discardableResult
    func say(
        _ text: String, _ arguments: JSONObject = [:], location: SourceLocation = #_sourceLocation
    ) async throws -> Done {
        try await run("chat.send", arguments.adding("message", .string(text)), location: location)
    }

    /// What is stored of a conversation, as `role: text`, with the state where it is not complete.
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

    /// What was decided in folders.
    var folders: FolderRecordFile { FolderRecordFile("\(folder)/state/folders.json") }

    /// Puts another folder in the place of one.
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

/// Times each of which is later than all before, so that what is the newest is clear.
private struct Moments: Sendable {
    private static let last = Atomic<Int64>(1_700_000_000_000_000)

    func next() -> Timestamp {
        Timestamp(microseconds: Self.last.add(1_000_000, ordering: .relaxed).newValue)
    }
}
