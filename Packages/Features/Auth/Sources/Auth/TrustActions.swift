import AuthTrust
import Capabilities
import Cryptography
import HTTPClient
import HTTPCore
import JSON
import Registry
import Settings
import Synchronization

/// The actions for certificates accepted for individual servers.
struct TrustActions {
    let services: AuthServices

    init(_ services: AuthServices) {
        self.services = services
    }

    var all: [Action] { [list, show, add, remove, verify] }

    private func host(_ completion: Completion) -> Parameter<HostValue> {
        .argument("host", "Host, host:port or https address", as: HostValue.self, completion: completion)
    }

    /// Completes the servers whose certificates were accepted.
    private var pinned: Completion {
        .dynamic { [services] _, _, _ in
            services.pins.offered().map { Completion.Candidate($0.server.description, $0.subject) }
        }
    }

    /// Completes the addresses of the servers that are set up.
    private static let servers = Completion.dynamic { _, host, _ in
        host.settings.view(for: AuthFeature.manifest.id).servers.map { Completion.Candidate($0.address, $0.profile) }
    }

    private static func server(_ typed: HostValue) throws -> (url: HTTPURL, address: ServerAddress) {
        let url = try HTTPURL(typed.text, assuming: .https)
        guard url.scheme == .https else { throw TrustError.noCertificate(url.server) }
        return (url, ServerAddress(host: url.host, port: url.port))
    }

    private var list: Action {
        Action("auth.trust.list", "List the accepted certificates", .reads) { context in
            context.rows(
                try await services.pins.all().map { PinRow($0) },
                orSay: "no certificate has been accepted; certificates that the system trusts are not listed")
        }
        .asDefault()
    }

    private var show: Action {
        Action("auth.trust.show", "Show the certificate accepted for a server", .reads, host(pinned)) {
            context, host in
            PinDetail(try await pin(try Self.server(host).address))
        }
    }

    private func pin(_ server: ServerAddress) async throws -> Pin {
        let all = try await services.pins.all()
        guard let pin = all.first(where: { $0.server == server }) else {
            throw TrustError.noPin(server, known: all.map(\.server))
        }
        return pin
    }

    private var add: Action {
        Action(
            "auth.trust.add", "Trust the current certificate of a server", .writes, host(Self.servers),
            .option(
                "fingerprint", "Trust only the certificate with this SHA-256, from the server operator",
                as: String?.self)
        ) { context, host, fingerprint in
            let (url, server) = try Self.server(host)
            let expected = try fingerprint.map { text in
                guard let bytes = Fingerprint.bytes(text) else { throw TrustError.malformedFingerprint(text) }
                return bytes
            }
            let certificate = try await services.certificate(of: url)
            if let expected {
                guard expected == certificate.fingerprint else {
                    throw TrustError.otherFingerprint(certificate, expected: expected)
                }
                try await services.trust.trust(certificate, how: .fingerprint)
            } else if certificate.defects.isEmpty {
                context.notice("the system already trusts \(server), so there is nothing to accept")
            } else {
                try await services.trust.settle(certificate)
            }
            return VerifiedServer(certificate, try services.trust.verdict(on: certificate))
        }
        .byName()
        .sending()
        .details(
            "Without --fingerprint it shows the certificate and asks. In a script, give --fingerprint; if the server "
                + "has another certificate, it is not trusted."
        )
        .example("martlet auth trust add lab.local:8443", "Show the certificate and ask")
    }

    private var remove: Action {
        Action("auth.trust.remove", "Stop trusting the certificate of a server", .writes, host(pinned)) {
            context, host in
            let server = try Self.server(host).address
            let pin = try await pin(server)
            _ = try await services.pins.remove(server)
            return PinRow(pin)
        }
        .byName()
    }

    private var verify: Action {
        Action("auth.trust.verify", "Check whether the certificate of a server is trusted", .reads, host(Self.servers))
        {
            context, host in
            let certificate = try await services.certificate(of: try Self.server(host).url)
            let verdict = try services.trust.verdict(on: certificate)
            if !verdict.isAccepted {
                let command = TrustError.command(certificate, context.host.name)
                context.notice("if you know that this is your server, trust it with:\n    \(command)")
            }
            return VerifiedServer(certificate, verdict)
        }
        .details("The exit code is 3 if it is not trusted. The server gets a TLS handshake but no request.")
        .sending()
    }
}

extension AuthServices {
    /// The certificate of a server. The connection ends after the TLS handshake, so no request is sent.
    func certificate(of url: HTTPURL) async throws -> PresentedCertificate {
        let shown = Shown()
        var configuration = HTTPClient.Configuration()
        configuration.trust = TrustDomain(trust)
        (configuration.trust.settle, configuration.trust.tell, configuration.trust.generation) = (nil, nil, nil)
        configuration.trust.judge = { certificate in
            shown.set(certificate)
            return .refused("this was only a check")
        }
        configuration.proxies = ProxySettings(environment: surroundings.environment)
        let client = HTTPClient(configuration)
        var request = HTTPRequest(.head, url)
        request.retry = .none
        request.limits.total = .seconds(30)
        do {
            _ = try await client.send(request)
        } catch let error as HTTPError {
            await client.close()
            if let certificate = shown.certificate { return certificate }
            throw error
        }
        await client.close()
        throw TrustError.noCertificate(url.server)
    }

    private final class Shown: Sendable {
        private let held = Mutex<PresentedCertificate?>(nil)

        var certificate: PresentedCertificate? { held.withLock { $0 } }

        func set(_ certificate: PresentedCertificate) { held.withLock { $0 = certificate } }
    }
}

/// An accepted certificate in a list.
struct PinRow: Record {
    let pin: Pin

    init(_ pin: Pin) {
        self.pin = pin
    }

    static let fields: [Field<PinRow>] = [
        Field("server", "Server it is accepted for", .name) { $0.pin.server.description },
        Field("subject", "Subject of the certificate") { PlainText.escape($0.pin.certificate.subject) },
        Field("expires", "When it expires") { $0.pin.certificate.notAfter },
        Field("accepted", "When it was accepted") { $0.pin.acceptedAt },
        Field("how", "asked (answered a question) or fingerprint (named in a command)") { $0.pin.how },
        Field("fingerprint", "SHA-256 of the certificate") { Fingerprint.text($0.pin.certificate.fingerprint) },
    ]
}

/// An accepted certificate in full.
struct PinDetail: Record {
    let pin: Pin

    init(_ pin: Pin) {
        self.pin = pin
    }

    static let fields: [Field<PinDetail>] = [
        Field("server", "Server it is accepted for", .name) { $0.pin.server.description },
        Field("accepted", "When it was accepted") { $0.pin.acceptedAt },
        Field("how", "asked (answered a question) or fingerprint (named in a command)") { $0.pin.how },
        Field("subject", "Subject of the certificate") { PlainText.escape($0.pin.certificate.subject) },
        Field("issuer", "Issuer of the certificate") { PlainText.escape($0.pin.certificate.issuer) },
        Field("names", "Host names in the certificate") { $0.pin.certificate.names.map { PlainText.escape($0) } },
        Field("not_before", "When it becomes valid") { $0.pin.certificate.notBefore },
        Field("expires", "When it expires") { $0.pin.certificate.notAfter },
        Field("fingerprint", "SHA-256 of the certificate") { Fingerprint.text($0.pin.certificate.fingerprint) },
        Field("key_fingerprint", "SHA-256 of its public key") { Fingerprint.text($0.pin.certificate.keyFingerprint) },
        Field("certificate", "The certificate in DER, as Base64", .detail) {
            Base64.encode($0.pin.certificate.encoded)
        },
    ]
}

/// The certificate of a server, and whether it is trusted.
struct VerifiedServer: Record {
    let certificate: PresentedCertificate
    private let verdict: Verdict

    init(_ certificate: PresentedCertificate, _ verdict: Verdict) {
        self.certificate = certificate
        self.verdict = verdict
    }

    var exit: ExitCode { verdict.isAccepted ? .done : .denied }

    private var trusted: String? {
        guard case .changed(let pin) = verdict else { return nil }
        return Fingerprint.text(pin.certificate.fingerprint)
    }

    static let fields: [Field<VerifiedServer>] = [
        Field("server", "Server", .name) { $0.certificate.server.description },
        Field("state", "trusted or refused", .state) { $0.verdict.isAccepted ? "trusted" : "refused" },
        Field("by", "Why: system, pinned, changed or unknown") { $0.verdict.word },
        Field("defects", "What is wrong with the certificate") { $0.certificate.defects.map(\.description) },
        Field("subject", "Subject of the certificate") { PlainText.escape($0.certificate.subject) },
        Field("issuer", "Issuer of the certificate") { PlainText.escape($0.certificate.issuer) },
        Field("names", "Host names in the certificate") { $0.certificate.names.map { PlainText.escape($0) } },
        Field("not_before", "When it becomes valid") { $0.certificate.notBefore },
        Field("expires", "When it expires") { $0.certificate.notAfter },
        Field("fingerprint", "SHA-256 of the certificate") { Fingerprint.text($0.certificate.fingerprint) },
        Field("trusted_fingerprint", "The previously accepted SHA-256, if the certificate changed") { $0.trusted },
    ]
}
