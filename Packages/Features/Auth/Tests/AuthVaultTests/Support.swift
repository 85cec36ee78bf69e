import Capabilities
import CoreTesting
import Cryptography
import FileKit
import Glibc
import HTTPTesting
import Synchronization
import Testing

@testable import AuthVault

/// A vault in a test's folder, with a person who answers from a list, and the vault's notices.
struct Bench: Sendable {
    let folder: String
    let vault: Vault
    let person: Person
    let notices: Notices

    /// - Parameter answers: The person's answers, in order; nil if there is no person.
    init(
        in folder: String, answers: [String]? = nil, environment: [String: String] = [:], descriptor: Int32? = nil,
        keepUnlocked: Duration? = nil, patience: Duration = .seconds(30), now: Timestamp = .test
    ) throws {
        let (person, notices) = (Person(answers), Notices())
        let sources = PassphraseSources(descriptor: descriptor, environment: environment) { person.answer($0) }
        var setup = VaultSetup(folder: "\(folder)/data", keyFile: "\(folder)/config/vault.key", passphrase: sources) {
            notices.add($0)
        }
        setup.keepUnlocked = keepUnlocked
        setup.scrypt = try .cheap
        setup.patience = patience
        setup.now = { now }
        self.folder = folder
        self.person = person
        self.notices = notices
        vault = Vault(setup)
    }

    var keyFile: String { vault.setup.keyFile }

    /// Lends a bench in a folder that is removed afterwards.
    static func run(
        answers: [String]? = nil, environment: [String: String] = [:], keepUnlocked: Duration? = nil,
        _ body: (Bench) async throws -> Void
    ) async throws {
        try await withFolder { folder in
            try await body(
                Bench(in: folder, answers: answers, environment: environment, keepUnlocked: keepUnlocked))
        }
    }
}

/// Answers questions from a list and records them.
final class Person: Sendable {
    private let state: Mutex<(answers: [String]?, asked: [PassphraseQuestion])>

    init(_ answers: [String]?) {
        state = Mutex((answers, []))
    }

    var asked: [PassphraseQuestion] { state.withLock { $0.asked } }

    func answer(_ question: PassphraseQuestion) -> Secret? {
        state.withLock { state in
            state.asked.append(question)
            guard state.answers?.isEmpty == false, let answer = state.answers?.removeFirst() else { return nil }
            return Secret(answer)
        }
    }
}

/// The notices for the person.
final class Notices: Sendable {
    private let texts = Mutex<[String]>([])
    var all: [String] { texts.withLock { $0 } }
    func add(_ text: String) { texts.withLock { $0.append(text) } }
}

extension Scrypt {
    /// A cost for tests, which takes a few microseconds.
    static var cheap: Scrypt {
        get throws { try Scrypt(cost: 16, blockSize: 1, parallelism: 1) }
    }
}

extension Timestamp {
    static let test = Timestamp(microseconds: 1_790_000_000_000_000)
}

extension Secret {
    /// The plain text, which a test may read.
    var text: String { withText { $0 } }
}

extension VaultKey {
    static func test(_ passphrase: String = "correct horse", salt: UInt8 = 7) throws -> VaultKey {
        let salt = [UInt8](repeating: salt, count: VaultHeader.saltSize)
        return try VaultKey(passphrase: SecretBytes(Secret(passphrase)), salt: salt, scrypt: .cheap)
    }
}

/// The kind of the `VaultError` that the body throws, or nil if it throws none.
func reason(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Void
) async -> VaultError.Kind? {
    do {
        try await body()
        return nil
    } catch {
        return (error as? VaultError)?.kind
    }
}

/// All bytes and names in a folder, to search for secrets that must not be there.
func everything(under folder: String) throws -> [UInt8] {
    try Files.list(folder).flatMap { entry -> [UInt8] in
        let path = "\(folder)/\(entry.name)"
        let content = entry.kind == .directory ? try everything(under: path) : try Files.read(path, limit: 1 << 26)
        return Array(entry.name.utf8) + content
    }
}

func contains(_ bytes: [UInt8], _ text: String) -> Bool {
    let wanted = Array(text.utf8)
    guard let first = wanted.first, bytes.count >= wanted.count else { return false }
    return (0...bytes.count - wanted.count).contains {
        bytes[$0] == first && bytes[$0..<$0 + wanted.count].elementsEqual(wanted)
    }
}

/// Lends a folder and removes it afterwards.
func withFolder(
    isolation: isolated (any Actor)? = #isolation, _ body: (String) async throws -> Void
) async throws {
    try await TemporaryDirectory.run(body)
}
