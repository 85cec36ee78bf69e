import Capabilities
import CoreTesting
import FileKit
import HTTPClient
import HTTPCore
import JSON
import Registry
import Settings
import Testing
import TraceKit

@testable import Gateway

/// Writes the last metrics that it gets to a file.
private struct PublisherFeature: Feature {
    static let manifest = Manifest(
        id: "publisher", summary: "A publisher for tests", version: "1.0",
        provides: [.single((any MetricPublisher).self)])

    private final class Publisher: MetricPublisher {
        let file: String

        init(_ file: String) { self.file = file }

        func publish(
            of feature: String, _ read: @escaping @Sendable () -> [MetricFamily]
        ) -> @Sendable () async -> Void {
            let file = file
            return {
                do {
                    try Files.writeAtomically(Array("\(feature)\n\(PrometheusText(read()).text)".utf8), to: file)
                } catch { Issue.record(error) }
            }
        }
    }

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        registry.provide(
            (any MetricPublisher).self, Publisher("\(registry.surroundings.locations.state)/published"))
    }
}

@Suite("Metrics of a gateway that runs", .timeLimit(.minutes(5)))
struct PublishedMetricsTests {
    @Test("They are published until it has answered its last request, and not if it never listened")
    func published() async throws {
        try await TemporaryDirectory.run { folder in
            let host = try TestHost([MemoryVault.self, PublisherFeature.self, GatewayFeature.self], folder: folder)
            await #expect(throws: ServingError.self) { try await host.perform("gateway.serve", ["port": 70_000]) }
            #expect(!Files.exists("\(folder)/state/published"))
            let serving = Task { try await host.perform("gateway.serve", ["port": 0]) }
            let deadline = ContinuousClock.now + .seconds(20)
            while !Files.exists("\(folder)/state/gateway.json"), ContinuousClock.now < deadline { await Task.yield() }
            let state = try JSON(parsing: try Files.read("\(folder)/state/gateway.json", limit: 4096))
            let client = HTTPClient(.standalone)
            let address = try HTTPURL(try #require(state["addresses"]?[0]?.string) + "/health")
            #expect(try await client.send(HTTPRequest(.get, address)).status == .ok)
            await client.close()
            serving.cancel()
            _ = await serving.result
            let text = String(decoding: try Files.read("\(folder)/state/published", limit: 1 << 20), as: UTF8.self)
            #expect(text.hasPrefix("gateway\n# HELP martlet_info "))
            #expect(text.contains(#"martlet_http_requests_total{method="GET",route="/health",status="200"} 1"#))
        }
    }
}
