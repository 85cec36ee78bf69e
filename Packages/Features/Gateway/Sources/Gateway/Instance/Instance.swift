import Capabilities
import FileKit
import JSON
import LoopKit
import ProcessKit
import Registry

/// The one gateway of these data, as seen from every command: a lock that it holds while it lives, and a file that says
/// where it is.
struct Instance: Sendable {
    private let folder: String
    private let now: @Sendable () -> Timestamp

    init(_ surroundings: Surroundings) {
        folder = surroundings.runtimeFolder
        now = surroundings.now
    }

    private var lock: String { "\(folder)/gateway.lock" }
    private var file: String { "\(folder)/gateway.json" }

    /// Becomes the one gateway for as long as the lock is kept.
    func claim() async throws -> FileLock {
        try Files.makeDirectories(folder)
        do {
            // A moment is waited for, in which a program that the last one started may still hold what it inherited.
            let held = try await FileLock.acquire(lock, within: .milliseconds(200))
            // What one that was killed has left.
            try forget()
            return held
        } catch let error as FileError where error.kind == .busy {
            let state = try state()
            let place = state?.addresses.first.map { " at \(PlainText.escape($0))" } ?? ""
            let number = state.map { " (process \($0.process.process))" } ?? ""
            throw ServingError(
                .running, "a gateway runs already\(place)\(number); use it, or end it with 'martlet gateway stop'")
        }
    }

    /// Tells other commands where it is; the lock has to be held.
    func announce(_ addresses: [String], fingerprint: String?) throws -> InstanceState {
        let state = InstanceState(
            process: .own, started: now(), addresses: addresses, fingerprint: fingerprint)
        try Files.writeAtomically(Array((state.json.text() + "\n").utf8), to: file, mode: 0o600)
        return state
    }

    /// Takes back what was announced.
    func forget() throws {
        if Files.exists(file) { try Files.remove(file) }
    }

    /// What the last gateway said of itself, whether or not it is there.
    private func state() throws -> InstanceState? {
        do {
            return try InstanceState(json: try JSON(parsing: try Files.read(file, limit: 64 << 10)))
        } catch let error as FileError where error.kind == .notFound {
            return nil
        } catch is JSONError, is ValueError {
            // Nobody but this program writes there, and it writes whole files: another program's is as good as none.
            return nil
        }
    }

    /// The gateway that runs, as other commands speak of it; nil when there is none.
    func user() throws -> String? {
        guard let state = try state(), state.process.isAlive else { return nil }
        return "the gateway that runs here (process \(state.process.process))"
    }

    /// The gateway that runs, held so that its number cannot come to mean another process; nil when there is none.
    func running(loop: EventLoop) throws -> (state: InstanceState, process: OtherProcess)? {
        guard let state = try state(), let process = try OtherProcess(state.process.process, loop: loop),
            state.process.isAlive
        else { return nil }
        return (state, process)
    }
}

/// What a running gateway says of itself to other commands, in a file.
struct InstanceState: Sendable, Hashable {
    var process: ProcessIdentity
    var started: Timestamp
    /// Where it listens: URLs, and `unix:` with a path.
    var addresses: [String]
    /// SHA-256 of its certificate in hexadecimal digits, where it speaks TLS.
    var fingerprint: String?

    var json: JSON {
        var object: JSONObject = [
            "pid": .int(Int(process.process)), "process": .string(process.text), "started": started.json,
            "addresses": addresses.json,
        ]
        if let fingerprint { object["fingerprint"] = .string(fingerprint) }
        return .object(object)
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
