public import Capabilities
import Registry
import Synchronization

/// Trusts what the system trusts, and beyond that what a person has accepted for exactly that server.
public final class PinnedTrust: TrustStore {
    public let credentials: TrustCredentials
    private let pins: PinStore
    private let now: @Sendable () -> Timestamp
    private let asking = AskingTurns()
    private let noticed = Mutex(Noticed())

    private struct Noticed {
        /// What the count of withdrawals was when the first pin was used; nil while none was.
        var withdrawals: Int?
        var toTell: [String] = []
        var told: Set<ServerAddress> = []
    }

    public init(
        pins: PinStore, credentials: TrustCredentials, now: @escaping @Sendable () -> Timestamp
    ) {
        self.pins = pins
        self.credentials = credentials
        self.now = now
    }

    /// The verdict on a certificate. The pins are looked at only where the system does not vouch for it.
    public func verdict(on certificate: PresentedCertificate) throws -> Verdict {
        if certificate.defects.isEmpty { return .trustedBySystem }
        return Verdict(certificate, pin: try pins.pin(of: certificate.server))
    }

    public func judge(_ certificate: PresentedCertificate) -> TrustJudgement {
        if certificate.defects.isEmpty { return .accepted }
        do {
            // Before the pin, so that a withdrawal between the two is counted as one after it.
            let withdrawals = try pins.withdrawals()
            switch try verdict(on: certificate) {
            case .trustedBySystem: return .accepted
            case .pinned(let warnings):
                note(warnings, certificate, withdrawals)
                return .accepted
            case let refused:
                return .refused(TrustError.untrusted(certificate, refused, program: "martlet").message)
            }
        } catch {
            return .refused("the pinned certificates cannot be read: \(AnyFailure(error).message)")
        }
    }

    private func note(_ warnings: [CertificateDefect], _ certificate: PresentedCertificate, _ withdrawals: Int) {
        noticed.withLock { noticed in
            if noticed.withdrawals == nil { noticed.withdrawals = withdrawals }
            guard !warnings.isEmpty, noticed.told.insert(certificate.server).inserted else { return }
            noticed.toTell.append(
                "the certificate of \(certificate.server) is trusted, although "
                    + warnings.map(\.description).joined(separator: ", and "))
        }
    }

    public func tell() {
        guard let context = ActionContext.current else { return }
        let texts = noticed.withLock { noticed in
            defer { noticed.toTell = [] }
            return noticed.toTell
        }
        for text in texts { context.notice(text) }
    }

    public var generation: Int {
        guard let first = noticed.withLock({ $0.withdrawals }) else { return 0 }
        // A database that cannot be read any more takes back what it said before.
        guard let now = try? pins.withdrawals() else { return -1 }
        return now - first
    }

    public func settle(_ certificate: PresentedCertificate) async throws {
        // Requests that run side by side meet the same certificate, and the person is asked once.
        try await asking.inTurn(certificate.server) { [self] in
            let verdict = try verdict(on: certificate)
            guard !verdict.isAccepted else { return }
            let context = ActionContext.current
            guard let context, context.interaction.canAsk else {
                throw TrustError.untrusted(certificate, verdict, program: context?.host.name ?? "martlet")
            }
            context.notice(Explanation(certificate: certificate, verdict: verdict).lines.joined(separator: "\n"))
            let question = "Trust this certificate for \(certificate.server) from now on?"
            guard try await context.interaction.confirm("auth.trust", question) else {
                throw TrustError.declined(certificate, verdict)
            }
            try await trust(certificate, how: .asked)
        }
    }

    /// Pins a certificate for the server that showed it.
    public func trust(_ certificate: PresentedCertificate, how: Pin.Acceptance) async throws {
        try await pins.keep(
            Pin(
                server: certificate.server, certificate: PinnedCertificate(certificate), acceptedAt: now(), how: how))
    }
}

/// Lets one at a time ask about a server; the others wait for the answer.
actor AskingTurns {
    private struct Turn {
        let number: Int
        let task: Task<Void, any Error>
    }

    private var last: [ServerAddress: Turn] = [:]
    private var count = 0

    /// Runs the question when those before it have ended. When the person said no to one, that is the answer for all who
    /// waited. Whoever is cancelled while another asks returns at once.
    func inTurn(
        _ server: ServerAddress, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        let before = last[server]?.task
        count += 1
        let number = count
        let (end, ended) = AsyncThrowingStream<Void, any Error>.makeStream()
        // It ends with the questions before it and its own, also when nobody waits for it any more: those behind it
        // must not ask before.
        let task = Task {
            defer { if last[server]?.number == number { last[server] = nil } }
            do {
                do { try await before?.value } catch is CancellationError {
                    // Whoever asked before gave up, which says nothing about this one.
                }
                try Task.checkCancellation()
                try await body()
                ended.finish()
            } catch {
                ended.finish(throwing: error)
                throw error
            }
        }
        last[server] = Turn(number: number, task: task)
        try await withTaskCancellationHandler {
            for try await _ in end {}
            try Task.checkCancellation()
        } onCancel: {
            task.cancel()
        }
    }
}
