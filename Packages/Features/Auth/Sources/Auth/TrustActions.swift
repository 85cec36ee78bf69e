import AuthTrust
import Capabilities
import Cryptography
import HTTPClient
import HTTPCore
import Registry
import Synchronization

/// The certificates that were accepted for single servers.
struct TrustActions {
    let services: AuthServices

    init(_ services: AuthServices) {
        self.services = services
    }

    var all: [Action] { [list, show, add, remove, verify] }

    private static let host: Parameter<HostValue> = .argument(
        "host", "A host, host:port or https address", as: HostValue.self)

    private static func server(_ typed: HostValue) throws -> (url: HTTPURL, address: ServerAddress) {
        let url = try HTTPURL(typed.text, assuming: .https)
        guard url.scheme == .https else { throw TrustError.noCertificate(url.server) }
        return (url, ServerAddress(host: url.host, port: url.port))
    }

    private var list: Action {
        Action("auth.trust.list", "List the certificates that were accepted", .reads) { context in
            context.rows(
                try await services.pins.all().map { PinRow($0) },
                orSay: "no certificate was accepted by hand; those that the system vouches for need no entry")
        }
        .asDefault()
    }

    private var show: Action {
        Action("auth.trust.show", "Show the certificate that was accepted for a server", .reads, Self.host) {
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
            "auth.trust.add", "Trust the certificate that a server shows now", .writes, Self.host,
            .option("fingerprint", "Only this one: its SHA-256, from whoever runs the server", as: String?.self)
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
                context.notice("this system trusts \(server) already, so there is nothing to accept")
            } else {
                try await services.trust.settle(certificate)
            }
            return VerifiedServer(certificate, try services.trust.verdict(on: certificate))
        }
        .byName()
        .sending()
        .details(
            "Without a fingerprint the certificate is shown and asked about. Scripts name the fingerprint, and nothing is "
                + "trusted when the server shows another one."
        )
        .example("martlet auth trust add lab.local:8443", "Shows the certificate and asks")
    }

    private var remove: Action {
        Action("auth.trust.remove", "Trust a server's certificate no longer", .writes, Self.host) { context, host in
            let server = try Self.server(host).address
            let pin = try await pin(server)
            _ = try await services.pins.remove(server)
            return PinRow(pin)
        }
        .byName()
    }

    private var verify: Action {
        Action("auth.trust.verify", "Look whether a server's certificate is trusted", .reads, Self.host) {
            context, host in
            let certificate = try await services.certificate(of: try Self.server(host).url)
            let verdict = try services.trust.verdict(on: certificate)
            if !verdict.isAccepted {
                let command = TrustError.command(certificate, context.host.name)
                context.notice("when you know that this is your server, trust it with:\n    \(command)")
            }
            return VerifiedServer(certificate, verdict)
        }
        .details("Ends with 3 when it is not. The server sees a handshake and no request.")
        .sending()
    }
}

extension AuthServices {
    /// What a server shows. The handshake ends there, so the server sees no request.
    func certificate(of url: HTTPURL) async throws -> PresentedCertificate {
        let shown = Shown()
        var configuration = HTTPClient.Configuration()
        configuration.trust = TrustDomain(trust)
        (configuration.trust.settle, configuration.trust.tell, configuration.trust.generation) = (nil, nil, nil)
        configuration.trust.judge = { certificate in
            shown.set(certificate)
            return .refused("it was only looked at")
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
        Field("server", "The server that it is accepted for", .name) { $0.pin.server.description },
        Field("subject", "Whom it names") { PlainText.escape($0.pin.certificate.subject) },
        Field("expires", "When it ends") { $0.pin.certificate.notAfter },
        Field("accepted", "When it was accepted") { $0.pin.acceptedAt },
        Field("how", "By a question (asked) or a command that named it (fingerprint)") { $0.pin.how },
        Field("fingerprint", "Its SHA-256") { Fingerprint.text($0.pin.certificate.fingerprint) },
    ]
}

/// An accepted certificate with everything that is kept of it.
struct PinDetail: Record {
    let pin: Pin

    init(_ pin: Pin) {
        self.pin = pin
    }

    static let fields: [Field<PinDetail>] = [
        Field("server", "The server that it is accepted for", .name) { $0.pin.server.description },
        Field("accepted", "When it was accepted") { $0.pin.acceptedAt },
        Field("how", "By a question (asked) or a command that named it (fingerprint)") { $0.pin.how },
        Field("subject", "Whom it names") { PlainText.escape($0.pin.certificate.subject) },
        Field("issuer", "Who signed it") { PlainText.escape($0.pin.certificate.issuer) },
        Field("names", "The hosts that it is for") { $0.pin.certificate.names.map { PlainText.escape($0) } },
        Field("not_before", "When it begins") { $0.pin.certificate.notBefore },
        Field("expires", "When it ends") { $0.pin.certificate.notAfter },
        Field("fingerprint", "Its SHA-256") { Fingerprint.text($0.pin.certificate.fingerprint) },
        Field("key_fingerprint", "The SHA-256 of its key") { Fingerprint.text($0.pin.certificate.keyFingerprint) },
        Field("certificate", "The certificate itself as Base64 of its DER", .detail) {
            Base64.encode($0.pin.certificate.encoded)
        },
    ]
}

/// What a server shows, and whether it is trusted.
struct VerifiedServer: Record {
    let certificate: PresentedCertificate
    let verdict: Verdict

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
        Field("server", "The server", .name) { $0.certificate.server.description },
        Field("state", "trusted or refused", .state) { $0.verdict.isAccepted ? "trusted" : "refused" },
        Field("by", "system, pinned, changed or unknown") { $0.verdict.word },
        Field("defects", "What is wrong with the certificate") { $0.certificate.defects.map(\.description) },
        Field("subject", "Whom it names") { PlainText.escape($0.certificate.subject) },
        Field("issuer", "Who signed it") { PlainText.escape($0.certificate.issuer) },
        Field("names", "The hosts that it is for") { $0.certificate.names.map { PlainText.escape($0) } },
        Field("not_before", "When it begins") { $0.certificate.notBefore },
        Field("expires", "When it ends") { $0.certificate.notAfter },
        Field("fingerprint", "Its SHA-256") { Fingerprint.text($0.certificate.fingerprint) },
        Field("trusted_fingerprint", "The SHA-256 that was accepted before, when it has changed") { $0.trusted },
    ]
}
