import Capabilities
import Cryptography
import HTTPClient
import HTTPTesting
import Synchronization

/// A trust store for tests: the accepted certificates, the person's answers, and the questions asked.
final class Trustee: Sendable {
    private struct State {
        var accepted: Set<[UInt8]> = []
        var judged = 0
        var asked: [String] = []
        var askers: [String] = []
        var told: [String] = []
        var generation = 0
        var looks = 0
    }

    /// The person in the current task, which shows whether a question was asked in the request's own task.
    @TaskLocal static var person = "nobody"

    private let state = Mutex(State())
    private let answer: @Sendable (PresentedCertificate) async throws -> Bool

    /// - Parameter answer: True accepts the certificate, false changes nothing; it may throw.
    init(_ answer: @escaping @Sendable (PresentedCertificate) async throws -> Bool = { _ in true }) {
        self.answer = answer
    }

    var judged: Int { state.withLock { $0.judged } }
    /// The servers that were asked about.
    var asked: [String] { state.withLock { $0.asked } }
    var askers: [String] { state.withLock { $0.askers } }
    var told: [String] { state.withLock { $0.told } }
    var looks: Int { state.withLock { $0.looks } }

    func accept(_ fingerprint: [UInt8]) { state.withLock { _ = $0.accepted.insert(fingerprint) } }

    func withdraw() {
        state.withLock { state in
            state.accepted = []
            state.generation += 1
        }
    }

    func domain() throws -> TrustDomain {
        let authority = try TestCertificates.shared().authority
        var domain = TrustDomain(authorities: .bytes(Array(authority.chainPEM.utf8))) { certificate in
            self.state.withLock { state in
                state.judged += 1
                if certificate.defects.isEmpty || state.accepted.contains(certificate.fingerprint) { return .accepted }
                return .refused("not accepted")
            }
        }
        domain.settle = { certificate in
            self.state.withLock { state in
                state.asked.append("\(certificate.host):\(certificate.port)")
                state.askers.append(Self.person)
            }
            if try await self.answer(certificate) { self.accept(certificate.fingerprint) }
        }
        domain.tell = { self.state.withLock { $0.told.append(Self.person) } }
        domain.generation = {
            self.state.withLock { state in
                state.looks += 1
                return state.generation
            }
        }
        return domain
    }

    func configuration() throws -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration.standalone
        configuration.trust = try domain()
        return configuration
    }
}

struct Refusal: Error, Equatable {}
