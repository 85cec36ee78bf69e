import Capabilities
import FileKit
import JSON
import LoopKit
import ProcessKit
import Registry

/// The one gateway of a data folder, as other commands see it: a lock that it holds while it runs, and a file with its
/// addresses.
struct Instance: Sendable {
    private let folder: String
    private let now: @Sendable () -> Timestamp

    init(_ surroundings: Surroundings) {
        folder = surroundings.runtimeFolder
        now = surroundings.now
    }

    private var lock: String { "\(folder)/gateway.lock" }
    private var file: String { "\(folder)/gateway.json" }

    /// Takes the lock; this process is the one gateway for as long as it holds it.
    func claim() async throws -> FileLock {
        try Files.makeDirectories(folder)
        do {
            // Wait a moment: a program that the last gateway started may still hold the inherited lock.
            let held = try await FileLock.acquire(lock, within: .milliseconds(200))
            // Remove the file of a gateway that was killed.
            try forget()
            return held
        } catch let error as FileError where error.kind == .busy {
            let state = try state()
            let place = state?.addresses.first.map { " at \(PlainText.escape($0))" } ?? ""
            let number = state.map { " (process \($0.process.process))" } ?? ""
            throw ServingError(
                .running,
                "a gateway is already running\(place)\(number); use it, or stop it with 'martlet gateway stop'")
        }
    }

    /// Publishes the addresses for other commands. The lock must be held.
    func announce(_ addresses: [String], fingerprint: String?) throws -> InstanceState {
        let state = InstanceState(
            process: .own, started: now(), addresses: addresses, fingerprint: fingerprint)
        try Files.writeAtomically(Array((state.json.text() + "\n").utf8), to: file, mode: 0o600)
        return state
    }

    /// Removes the published addresses.
    func forget() throws {
        if Files.exists(file) { try Files.remove(file) }
    }

    /// What the last gateway published, whether or not it still runs.
    private func state() throws -> InstanceState? {
        do {
            return try InstanceState(json: try JSON(parsing: try Files.read(file, limit: 64 << 10)))
        } catch let error as FileError where error.kind == .notFound {
            return nil
        } catch is JSONError, is ValueError {
            // Only this program writes this file, and always whole. Content of another program is ignored.
            return nil
        }
    }

    /// A description of the running gateway for messages of other commands; nil when none runs.
    func user() throws -> String? {
        guard let state = try state(), state.process.isAlive else { return nil }
        return "the running gateway (process \(state.process.process))"
    }

    /// The running gateway, with a handle on its process so that its id cannot be reused; nil when none runs.
    func running(loop: EventLoop) throws -> (state: InstanceState, process: OtherProcess)? {
        guard let state = try state(), let process = try OtherProcess(state.process.process, loop: loop),
            state.process.isAlive
        else { return nil }
        return (state, process)
    }
}

/// What a running gateway publishes in a file for other commands.
struct InstanceState: Record, Hashable {
    var process: ProcessIdentity
    var started: Timestamp
    /// The addresses it listens on: URLs, and `unix:` with a path.
    var addresses: [String]
    /// SHA-256 of its certificate in hexadecimal digits, if it uses TLS.
    var fingerprint: String?

    static let fields: [Field<InstanceState>] = [
        Field("pid", "Process id") { Int($0.process.process) },
        Field("process", "Process id with its start, which tells it from later processes") { $0.process.text },
        Field("started", "Time it was ready") { $0.started },
        Field("addresses", "Addresses it listens on") { $0.addresses },
        Field("fingerprint", "SHA-256 of its certificate, if it uses TLS") { $0.fingerprint },
    ]

    static let listening = EventKind<InstanceState>("listening", "The gateway is ready")

    /// The event that reports its addresses to the user, and to a program that started it.
    func event(_ place: GatewayToken.Place, program: String) -> ActionEvent {
        let token =
            place == .variable
            ? "the token is in \(GatewayToken.variable)" : "'\(program) gateway token' prints the token"
        let places = addresses.joined(separator: " and ")
        return Self.listening.event(
            self,
            text: "The gateway is listening on \(PlainText.escape(places)); \(token); Ctrl-C stops it\n")
    }
}

extension InstanceState {
    init(json: JSON) throws(ValueError) {
        func member<Value: InputValue>(_ name: String, _ type: Value.Type) throws(ValueError) -> Value {
            do { return try Value(json: json[name] ?? .null) } catch { throw error.under(name) }
        }
        guard let process = ProcessIdentity(try member("process", String.self)) else {
            throw ValueError("names no process", at: ["process"])
        }
        self.process = process
        started = try member("started", Timestamp.self)
        addresses = try member("addresses", [String].self)
        fingerprint = try member("fingerprint", String?.self)
    }
}
