public import Capabilities
import Cryptography
import FileKit
import Glibc
import LoopKit
import Synchronization

/// Where passphrases come from: a descriptor, then the variable `MARTLET_PASSPHRASE`, then the person.
public final class PassphraseSources: Sendable {
    /// The variable that holds a passphrase.
    public static let variable = "MARTLET_PASSPHRASE"
    private static let longest = 4096

    private enum Descriptor {
        case unread(Int32)
        case read(Secret)
    }

    private let descriptor: Mutex<Descriptor?>
    private let fromEnvironment: Secret?
    private let question: @Sendable (PassphraseQuestion) async throws -> Secret?

    /// - Parameters:
    ///   - descriptor: an open descriptor whose first line is the passphrase; it is read and closed when one is needed.
    ///   - environment: the variables of the program.
    ///   - ask: asks the person, and gives nil when nobody is there.
    public init(
        descriptor: Int32? = nil, environment: [String: String] = [:],
        ask: @escaping @Sendable (PassphraseQuestion) async throws -> Secret?
    ) {
        self.descriptor = Mutex(descriptor.map { .unread($0) })
        fromEnvironment = environment[Self.variable].flatMap { $0.isEmpty ? nil : Secret($0) }
        question = ask
    }

    /// A passphrase that was given beforehand, and words for where it came from.
    func given() async throws -> (passphrase: Secret, origin: String)? {
        switch descriptor.withLock({ $0 }) {
        case .read(let secret): return (secret, "given by descriptor")
        case .unread(let number):
            let secret = try await onOwnThread { Result { try Self.firstLine(of: number) } }.get()
            descriptor.withLock { $0 = .read(secret) }
            return (secret, "given by descriptor")
        case nil: return fromEnvironment.map { ($0, "in \(Self.variable)") }
        }
    }

    func ask(_ asked: PassphraseQuestion) async throws -> Secret? {
        try await question(asked)
    }

    /// A new passphrase, typed twice; empty for none, nil when nobody is there.
    func askNew() async throws -> Secret? {
        for attempt in 1...3 {
            guard let first = try await ask(attempt == 1 ? .new : .different) else { return nil }
            if first.isEmpty { return first }
            if let second = try await ask(.again), first.equals(second) { return first }
        }
        throw VaultError(
            .passphrase, "the two passphrases differed three times; nothing was changed, so try again")
    }

    private static func firstLine(of number: Int32) throws -> Secret {
        let file = FileDescriptor(owning: number, path: "descriptor \(number)")
        var line: [UInt8] = []
        line.reserveCapacity(longest)
        defer { line.wipe() }
        // Byte by byte, so that what follows the line stays for whoever reads the same pipe.
        while line.count < longest, let byte = try file.read(upTo: 1).first, byte != UInt8(ascii: "\n") {
            line.append(byte)
        }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        guard !line.isEmpty, line.count < longest, let text = String(validating: line, as: UTF8.self) else {
            throw VaultError(
                .passphrase, "descriptor \(number) gave no passphrase; its first line has to be one, in UTF-8")
        }
        return Secret(text)
    }
}

/// What a person is asked about the vault's passphrase.
public enum PassphraseQuestion: Sendable, Hashable {
    /// The passphrase of the vault; `attempt` counts from 1.
    case unlock(attempt: Int)
    /// A new passphrase; an empty one means a key file instead.
    case new
    /// The new one once more.
    case again
    /// A new one, after two that were not the same.
    case different

    /// The id by which a run without a terminal can be given the answer.
    public var id: String {
        switch self {
        case .unlock: "auth.passphrase"
        case .new, .different: "auth.new-passphrase"
        case .again: "auth.new-passphrase-again"
        }
    }

    /// The question in words.
    public var prompt: String {
        switch self {
        case .unlock(1): "Passphrase of the vault with your keys and sign-ins"
        case .unlock: "That was not the passphrase of the vault; try again"
        case .new: "New passphrase for the vault with your keys and sign-ins (empty for a key file instead)"
        case .again: "The same passphrase again"
        case .different: "The two differ; type the new passphrase once more (empty for a key file instead)"
        }
    }
}
