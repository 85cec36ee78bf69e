import AuthTrust
import Capabilities
import CoreTesting
import Cryptography
import HTTPClient
import HTTPCore
import HTTPTesting
import Registry
import StorageKit

/// A pin store in its own folder, and a client that uses it. Besides the pins, only the test authority is trusted.
struct Bench {
    /// The store's time of day: 2 January 2026.
    static let now = Timestamp(microseconds: 1_767_312_000_000_000)

    let folder: String
    let database: Database
    let pins: PinStore
    let trust: PinnedTrust
    let client: HTTPClient
    private let host: TestHost

    var path: String { database.path }
    /// The notices for the person.
    var notices: [String] { host.output.notices }

    /// Lends a bench and closes it afterwards.
    static func run<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: (Bench) async throws -> Result
    ) async throws -> Result {
        try await TemporaryDirectory.run { folder in
            let bench = try Bench(folder)
            let result: Swift.Result<Result, any Error>
            do { result = .success(try await body(bench)) } catch { result = .failure(error) }
            await bench.client.close()
            await bench.database.close()
            return try result.get()
        }
    }

    private init(_ folder: String) throws {
        self.folder = folder
        let authority = try TestCertificates.shared().authority.write(into: folder, as: "authority").chain
        database = Self.database(folder)
        pins = PinStore(database: database)
        trust = PinnedTrust(pins: pins, credentials: TrustCredentials(authorities: .file(authority))) { Self.now }
        client = HTTPClient(Self.configuration(trust))
        host = try TestHost([any Feature.Type]())
    }

    /// The pins' database, opened as by another part of the program or by another program.
    static func database(_ folder: String) -> Database {
        Database("\(folder)/auth.db", migrations: PinStore.migrations)
    }

    static func configuration(_ trust: PinnedTrust) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration.standalone
        configuration.trust = TrustDomain(trust)
        return configuration
    }

    /// Runs a body as in an action, with a person to ask.
    func asAction<Result: Sendable>(
        by person: any Interaction = HeadlessInteraction(), isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Result
    ) async rethrows -> Result {
        let context = host.context(asking: person)
        return try await ActionContext.$current.withValue(context, operation: body, isolation: isolation)
    }

    /// Stores a pin as if it had been accepted before.
    func pin(_ identity: Identity, host: String = "127.0.0.1", port: Int) async throws {
        try await pins.keep(.of(identity, host: host, port: port))
    }

    func get(_ port: Int, host: String = "127.0.0.1") async throws -> HTTPResponse {
        try await client.send(Self.request(port, host: host))
    }

    /// A request that is sent once.
    static func request(_ port: Int, host: String = "127.0.0.1") throws -> HTTPRequest {
        var request = HTTPRequest(.get, try HTTPURL("https://\(host):\(port)/"))
        request.retry = .none
        return request
    }
}

extension Pin {
    static func of(
        _ identity: Identity, host: String = "127.0.0.1", port: Int, how: Acceptance = .asked
    ) -> Pin {
        let shown = PresentedCertificate.of(identity, host: host, port: port)
        return Pin(server: shown.server, certificate: PinnedCertificate(shown), acceptedAt: Bench.now, how: how)
    }
}

extension PresentedCertificate {
    /// The certificate that a server with this identity presents.
    static func of(
        _ identity: Identity, host: String = "127.0.0.1", port: Int = 443, _ defects: [CertificateDefect] = []
    ) -> PresentedCertificate {
        let own = identity.certificate
        return PresentedCertificate(
            host: host, port: port, chain: identity.chain.map(\.encoded), fingerprint: own.fingerprint,
            keyFingerprint: own.keyFingerprint, subject: own.subject, issuer: own.issuer,
            names: own.dnsNames + own.addresses, notBefore: own.notBefore, notAfter: own.notAfter, defects: defects)
    }
}
