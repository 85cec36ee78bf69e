import Capabilities
import Registry
import SSHClient
import SSHCore

/// Accepts keys of hosts.
struct TrustAction: Sendable {
    static let questionID = "ssh.trust"

    let fleet: Fleet
    let fingerprint: String?
    let context: ActionContext

    func perform() async throws -> HostOutcomes<TrustRow> {
        if fingerprint != nil, fleet.targets.count > 1 {
            throw SSHError(
                .address,
                "a fingerprint is that of one host, and \(fleet.targets.count) are named; trust them one by one")
        }
        var rows = try await fleet.results { target in
            do {
                return TrustRow(target, try await fleet.hostKey(of: target))
            } catch let error where !(error is CancellationError) {
                return TrustRow(target, failure: AnyFailure(error))
            }
        } ended: { _, count in
            context.progress("connecting", completed: count, of: fleet.targets.count)
        }
        if fleet.targets.count == 1, let failure = rows.first?.failure { throw failure }
        let unknown = rows.indices.filter { rows[$0].isUnknown }
        guard !unknown.isEmpty, try await accepts(unknown.map { rows[$0] }) else { return HostOutcomes(rows: rows) }
        for index in unknown { try rows[index].add() }
        return HostOutcomes(rows: rows)
    }

    private func accepts(_ rows: [TrustRow]) async throws -> Bool {
        if let fingerprint, let row = rows.first {
            guard let key = row.presented?.key, fingerprint == key.fingerprint else {
                throw SSHError(
                    .hostKeyRefused,
                    "\(row.host) has the key \(row.presented?.key.fingerprint ?? ""), not \(PlainText.escape(fingerprint, limit: 80)); "
                        + "ask its owner, since another machine may answer in its place")
            }
            return true
        }
        let lines = rows.map { row in
            "  \(row.host) (\(row.presented?.address ?? ""))  "
                + (row.presented.map { "\($0.key.type) \($0.key.fingerprint)" } ?? "")
        }
        context.notice(
            "compare these with the fingerprints that the owners of the hosts tell:\n" + lines.joined(separator: "\n"))
        let what = rows.count == 1 ? "this key" : "these \(rows.count) keys"
        guard try await context.interaction.confirm(Self.questionID, "Trust \(what)?") else {
            throw InteractionError.declined(id: Self.questionID)
        }
        return true
    }
}

/// What came of asking a host for its key.
struct TrustRow: HostOutcome {
    private let target: Target
    let presented: PresentedHostKey?
    private(set) var failure: AnyFailure?
    private var isAdded = false

    init(_ target: Target, _ presented: PresentedHostKey? = nil, failure: AnyFailure? = nil) {
        self.target = target
        self.presented = presented
        self.failure = failure ?? presented.flatMap { Self.refusal($0, target) }.map { AnyFailure($0) }
    }

    var host: String { target.name }
    var isUnknown: Bool { presented?.verdict == .unknown && !isAdded }
    var state: HostState { failure?.state ?? .ok }
    var reason: String? { failure?.message }

    /// Adds the key to the known hosts.
    mutating func add() throws {
        guard let presented else { return }
        let settings = target.settings
        try KnownHosts(user: settings.userKnownHostsFiles, global: settings.globalKnownHostsFiles)
            .add(presented.key, of: settings.knownHostName, hashed: settings.hashesKnownHosts)
        isAdded = true
    }

    private static func refusal(_ presented: PresentedHostKey, _ target: Target) -> SSHError? {
        switch presented.verdict {
        case .known, .unknown: nil
        case .otherTypes, .changed, .revoked:
            SSHError.refusal(of: presented.key, presented.verdict, target.settings.knownHostName)
        }
    }

    private var verdict: String {
        if isAdded { return "added" }
        return switch presented?.verdict {
        case .known: "known"
        case .unknown: "unknown"
        case .changed, .otherTypes: "changed"
        case .revoked: "revoked"
        case nil: ""
        }
    }

    static let fields: [Field<TrustRow>] = [
        Field("host", "The host", .name) { $0.host },
        Field("state", "ok, refused, unreachable or failed", .state) { $0.state },
        Field("key", "known, added, unknown, changed or revoked") { $0.verdict },
        Field("type", "Type of the key") { $0.presented?.key.type.description },
        Field("fingerprint", "SHA-256 of the key, as ssh shows it") { $0.presented?.key.fingerprint },
        Field("address", "The address that answered") { $0.presented?.address },
        Field("reason", "What went wrong") { $0.reason },
        Field("code", "Code of the error", .detail) { $0.failure?.code },
    ]
}
