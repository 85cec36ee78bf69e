public import Capabilities
import Cryptography
import FileKit
import Glibc
import LoopKit
import Synchronization

/// Provides passphrases: from a descriptor, else from the variable `MARTLET_PASSPHRASE`, else from the user.
public final class PassphraseSources: Sendable {
    /// The environment variable for a passphrase.
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
    ///   - descriptor: an open descriptor whose first line is the passphrase. It is read and closed on first need.
    ///   - environment: the variables of the program.
    ///   - ask: asks the user. Returns nil when nobody is there.
    public init(
        descriptor: Int32? = nil, environment: [String: String] = [:],
        ask: @escaping @Sendable (PassphraseQuestion) async throws -> Secret?
    ) {
        self.descriptor = Mutex(descriptor.map { .unread($0) })
        fromEnvironment = environment[Self.variable].flatMap { $0.isEmpty ? nil : Secret($0) }
        question = ask
    }

    /// The passphrase from the descriptor or the environment, and a description of its source.
    func given() async throws -> (passphrase: Secret, origin: String)? {
        switch descriptor.withLock({ $0 }) {
        case .read(let secret): return (secret, "from the descriptor")
        case .unread(let number):
            let secret = try await onOwnThread { Result { try Self.firstLine(of: number) } }.get()
            descriptor.withLock { $0 = .read(secret) }
            return (secret, "from the descriptor")
        case nil: return fromEnvironment.map { ($0, "in \(Self.variable)") }
        }
    }

    func ask(_ asked: PassphraseQuestion) async throws -> Secret? {
        try await question(asked)
    }

    /// Asks twice for a new passphrase. Empty for no passphrase, nil when nobody is there.
    func askNew() async throws -> Secret? {
        for attempt in 1...3 {
            guard let first = try await ask(attempt == 1 ? .new : .different) else { return nil }
            if first.isEmpty { return first }
            if let second = try await ask(.again), first.equals(second) { return first }
        }
        throw VaultError(
            .passphrase, "the two passphrases differed three times; nothing was changed; try again")
    }

    private static func firstLine(of number: Int32) throws -> Secret {
        let file = FileDescriptor(owning: number, path: "descriptor \(number)")
        var line: [UInt8] = []
        line.reserveCapacity(longest)
        defer { line.wipe() }
        // Read byte by byte, so that the rest stays in the pipe for its other readers.
        while line.count < longest, let byte = try file.read(upTo: 1).first, byte != UInt8(ascii: "\n") {
            line.append(byte)
        }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        guard !line.isEmpty, line.count < longest, let text = String(validating: line, as: UTF8.self) else {
            throw VaultError(
                .passphrase,
                "descriptor \(number) provided no passphrase; its first line must be the passphrase in UTF-8")
        }
        return Secret(text)
    }
}

/// A question to the user about the vault's passphrase.
public enum PassphraseQuestion: Sendable, Hashable {
    /// The passphrase of the vault; `attempt` counts from 1.
    case unlock(attempt: Int)
    /// A new passphrase; an empty one means a key file instead.
    case new
    /// The new passphrase again.
    case again
    /// A new passphrase, after two that differed.
    case different

    /// The id for giving the answer without a terminal.
    public var id: String {
        switch self {
        case .unlock: "auth.passphrase"
        case .new, .different: "auth.new-passphrase"
        case .again: "auth.new-passphrase-again"
        }
    }

    /// The text of the question.
    public var prompt: String {
        switch self {
        case .unlock(1): "Passphrase of the vault with your keys and sign-ins"
        case .unlock: "Wrong passphrase for the vault; try again"
        case .new: "New passphrase for the vault with your keys and sign-ins (empty to use a key file)"
        case .again: "The new passphrase again"
        case .different: "The passphrases differ; enter the new passphrase again (empty to use a key file)"
        }
    }
}
