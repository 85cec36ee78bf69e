import Capabilities
import HTTPClient
import HTTPCore
import JSON
import Registry
import Settings
import Synchronization

/// Actions for the tests. It counts its starts and its calls.
struct LabFeature: RunningFeature {
    static let manifest = Manifest(
        id: "lab", summary: "Actions for tests", version: "1.0",
        provides: [.shared((any ServerList).self), .single((any TrustStore).self)])

    struct Counts: Sendable {
        var starts = 0
        var stops = 0
        var calls = 0
    }

    /// By home folder, so that tests have separate counts.
    private static let counts = Mutex<[String: Counts]>([:])

    static func counts(_ home: String) -> Counts { counts.withLock { $0[home] ?? Counts() } }

    static func reset(_ home: String) { counts.withLock { $0[home] = nil } }

    private static func count(_ host: Host, _ change: (inout Counts) -> Void) {
        counts.withLock { change(&$0[host.environment["HOME"] ?? "", default: Counts()]) }
    }

    init(_ settings: FeatureSettings) {}

    private struct Servers: ServerList {
        let servers: [String]
    }

    func register(in registry: inout RegistryBuilder) {
        let server = registry.surroundings.environment["LAB_SERVER"].map { [$0] } ?? []
        registry.provide((any ServerList).self, Servers(servers: server))
        registry.provide((any TrustStore).self, LabTrust(registry.surroundings.environment))
        registry.add(
            Action("lab.secret", "Look at a secret", .reads, .argument("name", "Which", as: SecretName.self)) {
                context, name -> Int in
                try await context.registry.one((any SecretStore).self).secret(named: name)?.withText { $0.utf8.count }
                    ?? 0
            })
        registry.add(
            Action(
                "lab.echo", "Give back what is given", .reads, .option("value", "What", as: JSON?.self),
                .option("say", "What to say meanwhile", as: String?.self)
            ) { context, value, say -> JSON in
                Self.count(context.host) { $0.calls += 1 }
                if let say { try await context.emit(ActionEvent("said", ["text": .string(say)], text: say)) }
                return value ?? .null
            })
        registry.add(
            Action("lab.talk", "Say something piece by piece, as a model does", .reads) { context -> JSON in
                let pieces = ["Two ", "swallows\n", "fly."]
                try await context.emit(ActionEvent("init", ["model": "m"]))
                try await context.emit(ActionEvent("reasoning", ["delta": "birds"]))
                for piece in pieces.prefix(2) {
                    try await context.emit(ActionEvent("message", ["role": "assistant", "delta": .string(piece)]))
                }
                try await context.emit(ActionEvent("tool_use", ["id": "1", "name": "look", "input": [:]]))
                try await context.emit(
                    ActionEvent("tool_result", ["tool_id": "1", "is_error": true, "content": "too dark"]))
                try await context.emit(ActionEvent("message", ["role": "assistant", "delta": .string(pieces[2])]))
                try await context.emit(ActionEvent("seen", ["count": 2]))
                return .null
            })
        registry.add(
            Action("lab.fail", "Fail", .reads, .option("message", "Why", default: "it broke")) {
                context, message -> String in
                Self.count(context.host) { $0.calls += 1 }
                throw LabError(message: message)
            })
        registry.add(
            Action("lab.judge", "End with a finding", .reads) { _ in Finding() })
        registry.add(Action("lab.look", "Look whether something is well", .reads) { _ in Sickness() })
        registry.add(Action("lab.break", "Break something", .destroys) { _ in "broken" })
        registry.add(
            Action("lab.hang", "Never end, whatever anybody says", .reads) { _ -> String in
                unsafe await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
                return ""
            })
        registry.add(
            Action("lab.wait", "Wait until it is cancelled", .reads) { context -> String in
                try await context.host.clock.sleep(for: .seconds(3600))
                return ""
            })
        registry.add(
            Action("lab.ask", "Ask the person", .reads) { context in
                try await context.interaction.text("lab.name", "What is your name?")
            })
        registry.add(
            Action("lab.get", "Ask a server", .reads, .argument("url", "Where", as: String.self)) { _, url in
                let client = HTTPClient()
                let answer: Result<String, any Error>
                do {
                    answer = .success(try await client.send(HTTPRequest(.get, try HTTPURL(url))).text)
                } catch { answer = .failure(error) }
                await client.close()
                return try answer.get()
            })
    }

    func run(in host: Host, report: @escaping @Sendable (Health) -> Void) async throws {
        Self.count(host) { $0.starts += 1 }
        report(.ok)
        while !Task.isCancelled {
            do { try await host.clock.sleep(for: .seconds(3600)) } catch { break }
        }
        Self.count(host) { $0.stops += 1 }
    }
}

/// Trusts certificates without defects, by the authorities of the system or of a file.
final class LabTrust: TrustStore {
    let credentials: TrustCredentials
    let generation = 0

    init(_ environment: [String: String]) {
        let own = environment["LAB_CERTIFICATE"].map { ClientIdentity(certificate: "\($0).pem", key: "\($0).key") }
        credentials = TrustCredentials(
            authorities: environment["LAB_AUTHORITY"].map { .file($0) } ?? .system, identity: own)
    }

    func judge(_ certificate: PresentedCertificate) -> TrustJudgement {
        certificate.defects.isEmpty ? .accepted : .refused("nobody trusts it")
    }

    func settle(_ certificate: PresentedCertificate) async throws { throw LabError(message: "nobody trusts it") }

    func tell() {}
}

struct LabError: Failure {
    let message: String
    var code: String { "lab.failed" }
    var exit: ExitCode { .toolFailed }
}

/// A failed result with a reason and a remedy.
struct Sickness: Record {
    var exit: ExitCode { .unreachable }

    static let fields: [Field<Sickness>] = [
        Field("state", "How it is", .state) { _ in "down" },
        Field("reason", "Why") { _ in "nobody answers at the door" },
        Field("mend", "What to do") { _ in "ring the bell" },
    ]
}

struct Finding: OutputValue {
    static var schema: Schema { .string }
    var json: JSON { "something is wrong" }
    var exit: ExitCode { .failed }
}
