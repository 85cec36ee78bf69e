import Capabilities
import JSON
public import SSHCore

/// The key of a host, and what the files of known hosts say about it.
public struct PresentedHostKey: Sendable, Hashable {
    /// The key, which the host has proved to have.
    public let key: HostKey
    /// The address that was connected to.
    public let address: String
    /// What is known about it.
    public let verdict: HostKeyVerdict
}

/// Decides about the key of a host, by the files of known hosts and, for an unknown host, by a person.
struct HostKeyCheck {
    /// What libssh2 can verify. It signs and verifies with RSA by SHA-1 only.
    static let supported = ["ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521"]

    /// The algorithms to offer, those with known keys first.
    let algorithms: [String]
    private let settings: SSHSettings
    private let questions: SSHQuestions
    private let files: KnownHosts
    private let known: KnownHostEntries
    private let isOwn: Bool

    /// Reads the files. Throws `.needsSystem` if no key that we can verify would be accepted.
    ///
    /// - Parameter isOwn: whether we verify the key, and not the system's ssh.
    init(_ settings: SSHSettings, questions: SSHQuestions, isOwn: Bool = true) throws(SSHError) {
        self.isOwn = isOwn
        self.settings = settings
        self.questions = questions
        files = KnownHosts(user: settings.userKnownHostsFiles, global: settings.globalKnownHostsFiles)
        known = try files.entries(for: settings.knownHostName)
        let wanted = settings.hostKeyAlgorithms
        algorithms = (settings.prefersKnownTypes ? known.ordered(wanted) : wanted).filter(Self.supported.contains)
        guard isOwn else { return }
        guard !algorithms.isEmpty else {
            throw SSHError.needsSystem(settings, "HostKeyAlgorithms has only \(wanted.joined(separator: ", "))")
        }
        let types = known.types
        if !types.isEmpty, !types.contains(where: { Self.supported.contains($0.name) }) {
            throw SSHError.needsSystem(
                settings, "its known key is of the type \(types.map(\.description).joined(separator: ", "))")
        }
    }

    /// What the files say about a key.
    func verdict(on key: HostKey) -> HostKeyVerdict { known.verdict(on: key) }

    /// Returns a word for the verdict if the key is accepted, and throws otherwise. A key that is changed or revoked is
    /// refused without a question.
    func judge(_ key: HostKey, from address: String) async throws -> String {
        let verdict = known.verdict(on: key)
        if settings.checksHostAddress, settings.hostKeyAlias == nil, address != settings.hostName {
            // ssh warns or asks if the address has another key. It is refused here.
            let name = KnownHostName(host: address, port: settings.port)
            switch try files.entries(for: name).verdict(on: key) {
            case .known, .unknown: break
            case let other: throw SSHError.refusal(of: key, other, name)
            }
        }
        switch verdict {
        case .known: return "known"
        case .changed, .revoked, .otherTypes: throw SSHError.refusal(of: key, verdict, known.name)
        case .unknown: break
        }
        if isOwn, let authority = known.authority {
            throw SSHError.needsSystem(
                settings, "\(authority) has an authority for it, whose certificates only ssh can check")
        }
        switch settings.strictHostKeyChecking {
        case .yes: throw unknown(key, address)
        case .ask:
            guard let ask = questions.hostKey, !settings.isBatch else { throw unknown(key, address) }
            let question = HostKeyQuestion(name: known.name, address: address, key: key, problems: known.problems)
            switch try await ask(question) {
            case .add: try files.add(key, of: known.name, hashed: settings.hashesKnownHosts)
            case .refuse:
                throw SSHError(
                    .hostKeyRefused, "the \(key.type) key \(key.fingerprint) of \(known.name) was not accepted")
            }
        // The person has said so in the settings, for all hosts that are unknown.
        case .acceptNew, .off: try files.add(key, of: known.name, hashed: settings.hashesKnownHosts)
        }
        return "added"
    }

    private func unknown(_ key: HostKey, _ address: String) -> SSHError {
        let command =
            "martlet ssh trust \(ShellWords.quoted(settings.address.description)) --fingerprint \(key.fingerprint)"
        var details = key.details(of: known.name)
        details["command"] = .string(command)
        return SSHError(
            .unknownHost,
            "\(known.name) (\(address)) is not a known host; its \(key.type) key is \(key.fingerprint): compare that, and "
                + "accept it with \(command)", details: details)
    }
}

extension SSHError {
    /// Why the key of a host is not accepted, by a verdict about which nobody is asked.
    public static func refusal(of key: HostKey, _ verdict: HostKeyVerdict, _ name: KnownHostName) -> SSHError {
        let shown = "the \(key.type) key \(key.fingerprint) of \(name)"
        let details = key.details(of: name)
        switch verdict {
        case .revoked(let place):
            return SSHError(.hostKeyRevoked, "\(shown) is revoked by \(place)", details: details)
        case .otherTypes(let types, let place):
            let list = types.map(\.description).joined(separator: ", ")
            return SSHError(
                .hostKeyChanged,
                "\(shown) is not known, and \(place) has one of another type (\(list)); another machine may answer in its place: compare "
                    + "the fingerprint before you change that line", details: details)
        case .changed(let place):
            return SSHError(
                .hostKeyChanged,
                "\(shown) is not the one in \(place); another machine may answer in its place: find out why it has changed before you "
                    + "remove that line", details: details)
        case .known, .unknown:
            return SSHError(.hostKeyRefused, "\(shown) was not accepted", details: details)
        }
    }
}

extension HostKey {
    fileprivate func details(of name: KnownHostName) -> JSONObject {
        ["host": .string(name.description), "type": .string(type.name), "fingerprint": .string(fingerprint)]
    }
}
