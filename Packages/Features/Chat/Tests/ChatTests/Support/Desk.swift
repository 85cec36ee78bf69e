import Capabilities
import ChatProviders
import CoreTesting
import FileKit
import HTTPTesting
import HostTesting
import JSON
import Registry
import Synchronization
import Testing

@testable import Chat

/// A workbench with Chat, and a scripted model server.
@dynamicMemberLookup
struct Desk: Sendable {
    private(set) var bench: TestWorkbench
    let server: ScriptedServer
    /// The local servers to look for: none, so that no test finds real ones.
    var localServers: [LocalServer] = []

    static let key = "sk-test-0123456789abcdefghij"

    subscript<Value>(dynamicMember path: WritableKeyPath<TestWorkbench, Value>) -> Value {
        get { bench[keyPath: path] }
        set { bench[keyPath: path] = newValue }
    }

    var folder: String { bench.folder }

    /// Lends a desk whose provider is the script.
    static func run(
        isolation: isolated (any Actor)? = #isolation, with features: [any Feature.Type] = [],
        _ script: @escaping ScriptedServer.Script,
        _ body: (inout Desk) async throws -> Void
    ) async throws {
        try await ScriptedServer.run(script) { server in
            try await TestWorkbench.run([Workshop.self, ChatFeature.self] + features) { bench in
                bench.time = MovableTime(step: .seconds(1))
                bench.environment["OPENAI_BASE_URL"] = "http://127.0.0.1:\(server.port)/v1"
                bench.environment["OPENAI_API_KEY"] = key
                var desk = Desk(bench: bench, server: server)
                try await body(&desk)
            }
        }
    }

    /// The same with one of these streams for each question.
    static func run(
        answers: String..., with features: [any Feature.Type] = [],
        isolation: isolated (any Actor)? = #isolation, _ body: (inout Desk) async throws -> Void
    ) async throws {
        let next = Counter()
        try await run(
            with: features,
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

    /// Performs a command that may fail.
    func attempt(
        _ id: String, _ arguments: JSONObject = [:], to output: RecordingOutput? = nil
    ) async throws -> TestResult {
        try await ChatServices.$localServers.withValue(localServers) {
            try await bench.attempt(id, arguments, to: output, isAgreed: true)
        }
    }

    /// Performs a command.
    @discardableResult
    func run(_ id: String, _ arguments: JSONObject = [:]) async throws -> TestResult {
        let done = try await attempt(id, arguments)
        if let error = done.error { throw error }
        return done
    }

    /// Sends a message.
    @discardableResult
    func say(_ text: String, _ arguments: JSONObject = [:]) async throws -> TestResult {
        try await run("chat.send", arguments.adding("message", .string(text)))
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

    /// Writes a file and returns its name.
    func write(_ bytes: [UInt8], to name: String) throws -> String {
        try bench.write(bytes, to: name)
        return name
    }
}

extension JSONObject {
    func adding(_ name: String, _ value: JSON) -> JSONObject {
        var copy = self
        copy[name] = value
        return copy
    }
}

extension TestResult {
    /// The types of the events.
    var types: [String] { output.events.map(\.type) }
}

final class Counter: Sendable {
    private let count = Atomic(0)

    func next() -> Int { count.add(1, ordering: .relaxed).oldValue }
}
