public import Capabilities
import StorageKit

@_spi(Benchmarks)
extension TraceStore {
    /// Counts spans in the figures without keeping them, as if they had been added and removed since. With it a benchmark
    /// fills more days than it could add spans for.
    public func count(_ spans: [TraceSpan], of service: String) async throws {
        var tally = FigureTally(of: service, isReceived: false, at: now())
        for span in spans { tally.add(span) }
        try await database.write { [tally] connection in try tally.store(in: connection) }
    }
}
