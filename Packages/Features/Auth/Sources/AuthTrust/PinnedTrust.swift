public import Capabilities
import Registry
import Synchronization

/// Trusts the certificates that the system trusts, and those that the user has accepted for exactly that server.
public final class PinnedTrust: TrustStore {
    public let credentials: TrustCredentials
    private let pins: PinStore
    private let now: @Sendable () -> Timestamp
    private let asking = AskingTurns()
    private let noticed = Mutex(Noticed())

    private struct Noticed {
        /// The number of withdrawals when the first pin was used. Nil before that.
        var withdrawals: Int?
        var toTell: [String] = []
        var told: Set<ServerAddress> = []
    }

    /// - Parameter now: the current time, which a new pin records.
    public init(
        pins: PinStore, credentials: TrustCredentials, now: @escaping @Sendable () -> Timestamp
    ) {
        self.pins = pins
        self.credentials = credentials
        self.now = now
    }

    /// The verdict on a certificate. The pins are read only when the system does not trust it.
    public func verdict(on certificate: PresentedCertificate) throws -> Verdict {
        if certificate.defects.isEmpty { return .trustedBySystem }
        return Verdict(certificate, pin: try pins.pin(of: certificate.server))
    }

    public func judge(_ certificate: PresentedCertificate) -> TrustJudgement {
        if certificate.defects.isEmpty { return .accepted }
        do {
            // Read before the pin, so that a withdrawal in between counts as one after it.
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
                "the certificate of \(certificate.server) is trusted although "
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
        // When the database becomes unreadable, connections made under its pins are no longer trusted.
        guard let now = try? pins.withdrawals() else { return -1 }
        return now - first
    }

    public func settle(_ certificate: PresentedCertificate) async throws {
        // Concurrent requests get the same certificate, but the user is asked only once.
        try await asking.inTurn(certificate.server) { [self] in
            let verdict = try verdict(on: certificate)
            guard !verdict.isAccepted else { return }
            try await Tracer.current.span("trust.settle", of: "auth") { span in
                span.set(.serverAddress, .string(certificate.host))
                span.set(.serverPort, .int(certificate.port))
                span.set(.decision, "unasked")
                try await ask(about: certificate, verdict, span)
            }
        }
    }

    private func ask(about certificate: PresentedCertificate, _ verdict: Verdict, _ span: ActiveSpan) async throws {
        let context = ActionContext.current
        guard let context, context.interaction.canAsk else {
            throw TrustError.untrusted(certificate, verdict, program: context?.host.name ?? "martlet")
        }
        context.notice(Explanation(certificate: certificate, verdict: verdict).lines.joined(separator: "\n"))
        let question = "Trust this certificate for \(certificate.server) from now on?"
        let isTrusted = try await context.interaction.confirm("auth.trust", question)
        span.set(.decision, isTrusted ? "trusted" : "declined")
        guard isTrusted else { throw TrustError.declined(certificate, verdict) }
        try await trust(certificate, how: .asked)
    }

    /// Pins a certificate for the server that presented it.
    public func trust(_ certificate: PresentedCertificate, how: Pin.Acceptance) async throws {
        try await pins.keep(
            Pin(
                server: certificate.server, certificate: PinnedCertificate(certificate), acceptedAt: now(), how: how))
    }
}

/// Lets one task at a time ask about a server. The others wait for the answer.
actor AskingTurns {
    private struct Turn {
        let number: Int
        let task: Task<Void, any Error>
    }

    private var last: [ServerAddress: Turn] = [:]
    private var count = 0

    /// Runs the question after the earlier ones. If the user said no to one, all waiting tasks get that answer. A task
    /// that is cancelled while another asks returns at once.
    func inTurn(
        _ server: ServerAddress, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        let before = last[server]?.task
        count += 1
        let number = count
        let (end, ended) = AsyncThrowingStream<Void, any Error>.makeStream()
        // The task ends only after the earlier questions and its own, even when the caller was cancelled, so that later
        // questions keep their turn.
        let task = Task {
            defer { if last[server]?.number == number { last[server] = nil } }
            do {
                do { try await before?.value } catch is CancellationError {
                    // The earlier caller was cancelled, which does not answer this question.
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
