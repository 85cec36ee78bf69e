import Capabilities
import HTTPClient
import Registry
import Synchronization
import TraceExport

/// The connection to the collector that gets a signal of a composition. Nothing is opened and no secret is read before something is sent.
final class CollectorClient<Item: ExportItem>: Sendable {
    private struct State {
        var client: HTTPClient?
        var exporter: SignalExporter<Item>?
    }

    private let surroundings: Surroundings
    private let whole: WholeRegistry
    private let state = Mutex(State())

    init(_ surroundings: Surroundings, _ whole: WholeRegistry) {
        (self.surroundings, self.whole) = (surroundings, whole)
    }

    /// What sends, made for the first request.
    ///
    /// - Throws: a `TraceExportError` if the headers cannot be had.
    func exporter(for collector: Collector) async throws -> SignalExporter<Item> {
        if let exporter = state.withLock({ $0.exporter }) { return exporter }
        let headers = try await headers(of: collector)
        return state.withLock { state in
            let client = state.client ?? HTTPClient(configuration(of: collector))
            let exporter = SignalExporter<Item>(collector, client: client, headers: headers)
            (state.client, state.exporter) = (client, exporter)
            return exporter
        }
    }

    private func headers(of collector: Collector) async throws -> [(name: String, value: Secret)] {
        let lines: [(name: String, value: Secret)]
        switch collector.headers {
        case .none: return []
        case .list(let list, let variable): lines = try CollectorHeaders.lines(of: list, from: variable)
        case .stored(let name):
            lines = try CollectorHeaders.lines(
                of: try await secret(named: name), from: "the secret \(PlainText.escape(name.text))")
        }
        for secret in CollectorHeaders.secrets(of: lines) { surroundings.redactor.learn(secret) }
        return lines
    }

    private func secret(named name: SecretName) async throws -> Secret {
        let shown = PlainText.escape(name.text)
        let found: Secret?
        do { found = try await whole.registry?.optional((any SecretStore).self)?.secret(named: name) } catch {
            if error is CancellationError { throw error }
            throw TraceExportError(
                .configuration, "the secret \(shown) of trace.headers cannot be read: \(AnyFailure(error).message)",
                cause: error)
        }
        guard let found else {
            throw TraceExportError(
                .configuration,
                "the secret \(shown) of trace.headers does not exist; 'martlet auth secret set' stores it")
        }
        return found
    }

    private func configuration(of collector: Collector) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        if let trust = whole.registry?.optional((any TrustStore).self) { configuration.trust = TrustDomain(trust) }
        if let file = collector.authorities {
            (configuration.trust.authorities, configuration.trust.serverAuthorities) = (.file(file), [:])
        }
        // The person's certificate is for their own servers; the collector may have one that is for it.
        (configuration.trust.identity, configuration.trust.identities) = (collector.identity, [:])
        configuration.proxies = ProxySettings(environment: surroundings.environment)
        configuration.feature = "trace"
        configuration.clock = surroundings.clock
        configuration.now = surroundings.now
        return configuration
    }

    /// Has the headers read again before the next request.
    func renew() { state.withLock { $0.exporter = nil } }

    func close() async {
        let client = state.withLock { state in
            state.exporter = nil
            return state.client.take()
        }
        await client?.close()
    }
}
