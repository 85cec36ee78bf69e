import Capabilities
import CoreTesting
import Cryptography
import FileKit
import JSON
import Registry
import StorageKit
import Synchronization

@testable import Audit

/// A vault in memory, which can be closed.
final class TestVault: SecretStore {
    struct State {
        var secrets: [SecretName: Secret] = [:]
        var isOpen = true
        /// Whether a vault is there at all; the first secret makes one.
        var exists = true
    }

    private let state = Mutex(State())

    /// Reads or changes what is in it.
    func edit<Value: Sendable>(_ body: (inout sending State) -> sending Value) -> Value { state.withLock(body) }

    func secret(named name: SecretName) async throws -> Secret? {
        try state.withLock { state in
            guard state.isOpen else { throw ClosedVault() }
            return state.secrets[name]
        }
    }

    func store(_ secret: Secret, named name: SecretName) async throws {
        state.withLock { state in
            state.secrets[name] = secret
            state.exists = true
        }
    }

    func remove(named name: SecretName) async throws { state.withLock { $0.secrets[name] = nil } }
    func names() async throws -> [SecretName] { state.withLock { Array($0.secrets.keys) } }
    func isReady() async -> Bool { state.withLock { $0.isOpen && $0.exists } }
}

/// A passphrase was needed, and nobody was asked.
struct ClosedVault: Failure {
    let code = "test.closed"
    let message = "the vault is closed"
}

/// A folder with a log, which several programs may open.
struct TestLog {
    let folder: String
    let vault = TestVault()
    let redactor = Redactor()
    let clock = MovingTime()

    var path: String { "\(folder)/audit.db" }

    /// One program's log. Close it.
    func open(lockLimit: Duration = AuditStore.lockLimit) -> AuditStore {
        let surroundings = Surroundings(
            environment: [:],
            locations: Locations(
                current: folder, config: folder, data: folder, state: folder, cache: folder),
            redactor: redactor, clock: ContinuousClock(), now: clock.now)
        let key = SealKey(surroundings) { [vault] in vault }
        return AuditStore(
            AuditStore.database(at: path, lockLimit: lockLimit), key: key, without: redactor, now: clock.now)
    }

    static func run(_ body: (TestLog) async throws -> Void) async throws {
        try await TemporaryDirectory.run { try await body(TestLog(folder: $0)) }
    }

    /// Writes entries, one for each subject.
    func write(_ subjects: [String]) async throws {
        let store = open()
        for subject in subjects {
            try await store.record(
                AuditEntry(
                    session: "s", actor: "model", action: "tool.call", source: "files", subject: subject,
                    detail: ["id": .string(subject), "input": ["path": .string(subject)]]))
        }
        await store.close()
    }

    /// Does what somebody does who can write the file, and has no key.
    func tamper(_ body: (Connection) throws -> Void) throws {
        let connection = try Connection.open(path, migrations: AuditStore.migrations)
        try connection.transaction { try body(connection) }
        connection.close()
    }

    func verify() async throws -> AuditVerdict {
        let store = open()
        let verdict = try await store.verify()
        await store.close()
        return verdict
    }
}

/// A time that goes on by a minute with each look, so that a closed vault is tried again.
final class MovingTime: Sendable {
    private let minutes = Mutex<Int64>(0)

    @Sendable func now() -> Timestamp {
        minutes.withLock { minutes in
            minutes += 1
            return Timestamp(microseconds: 1_700_000_000_000_000 + minutes * 60_000_000)
        }
    }
}

extension AuditVerdict {
    /// Each finding with its place.
    var found: [String] { problems.map { "\($0.kind.rawValue) \($0.number)" } }
}

/// A filler for JSON texts that nothing else contains.
func canary() -> String { "canary" + String(UInt64.random(in: .min ... .max), radix: 36) }

extension String {
    /// Whether a text is anywhere in the files of a folder.
    func isInFiles(of folder: String) throws -> Bool {
        try Files.list(folder).contains { file in
            let bytes = try Files.read("\(folder)/\(file.name)", limit: 1 << 30)
            return bytes.firstRange(of: Array(utf8)) != nil
        }
    }
}

/// The kind of error of the database that something throws; nil if it throws none.
func storageFailure(_ body: () async throws -> Void) async throws -> StorageError.Kind? {
    do {
        try await body()
        return nil
    } catch let error as StorageError {
        return error.kind
    }
}
