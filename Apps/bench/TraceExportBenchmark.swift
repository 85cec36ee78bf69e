import Capabilities
import CoreTesting
import FileKit
import JSON
import TraceKit

/// Spans as requests of OTLP in protobuf, in batches as an exporter sends them, against the encoder of OpenTelemetry's exporter
/// for Python with the same spans; and the memory of a process that does that.
enum TraceExportBenchmark {
    /// The first argument that makes the program encode spans; the second is their number.
    static let word = "trace-export-spans"
    private static let count = 1_000_000
    private static let fewer = 100_000
    /// As many are measured with Python, and as often again with us until all are encoded.
    private static let sample = 50_000
    private static let rounds = 3
    /// What both exporters send together.
    private static let batch = 512
    private static let request = OTLPRequest(
        resource: TraceResource(attributes: ["service.name": "martlet", "process.pid": 4711]))

    static func run() async throws -> [Figure] {
        try await TemporaryDirectory.run { folder in
            let spans = try (0..<sample).map(span)
            var lines: [UInt8] = []
            for span in spans { SpanLine.write(span, into: &lines) }
            try Files.writeAtomically(lines, to: "\(folder)/spans.ndjson")
            let batches = stride(from: 0, to: sample, by: batch).map { Array(spans[$0..<min($0 + batch, sample)]) }
            var (ours, theirs) = (Double.infinity, Double.infinity)
            // In alternating rounds, because a machine's speed drifts.
            for _ in 0..<rounds {
                var bytes = 0
                ours = min(
                    ours,
                    Samples.best(of: 1) {
                        for _ in 0..<count / sample { bytes += encode(batches) }
                    })
                let peer = try await python("\(folder)/spans.ndjson")
                theirs = min(theirs, peer.seconds)
                // Both write the same facts, which take about the same bytes.
                guard abs(Double(bytes * sample / count) / Double(peer.bytes) - 1) < 0.1 else {
                    throw BenchmarkError("\(bytes * sample / count) bytes are compared with \(peer.bytes)")
                }
            }
            let (rate, peerRate) = (Double(count) / ours, Double(sample) / theirs)
            let memory = (many: try peakMemory(count), few: try peakMemory(fewer))
            return [
                Figure(
                    "1,000,000 spans to OTLP in protobuf, rate: martlet / OpenTelemetry for Python", rate / peerRate,
                    "ratio", .atLeast(10)),
                Figure(
                    "most memory with 1,000,000 spans, more than with 100,000", Double(memory.many - memory.few) / 1e6,
                    "MB", .atMost(2)),
                Figure("martlet", rate, "spans/s"),
                Figure("OpenTelemetry for Python, 50,000 spans", peerRate, "spans/s"),
                Figure("most memory with 1,000,000 spans", Double(memory.many) / 1e6, "MB"),
            ]
        }
    }

    /// Encodes spans that are made and forgotten batch by batch.
    static func encode(_ word: String) throws {
        guard let count = Int(word) else { throw BenchmarkError("\(word) is not a number of spans") }
        for start in stride(from: 0, to: count, by: batch) {
            let spans = try (start..<min(start + batch, count)).map(span)
            guard encode([spans]) > 0 else { throw BenchmarkError("nothing was encoded") }
        }
    }

    private static func span(_ number: Int) throws -> TraceSpan {
        let root = number / 10 * 10
        return try SampleTrace.span(
            number, trace: root / 10 + 1, parent: number == root ? nil : root,
            start: Timestamp(microseconds: 1_800_000_000_000_000 + Int64(number)))
    }

    /// The number of bytes, so that they are not for nothing.
    private static func encode(_ batches: [[TraceSpan]]) -> Int {
        batches.reduce(0) { sum, spans in
            var bytes: [UInt8] = []
            request.write(spans, as: .protobuf, into: &bytes)
            return sum + bytes.count
        }
    }

    private static func python(_ path: String) async throws -> (seconds: Double, bytes: Int) {
        let words: [Substring]
        do {
            words = try await Peers.output(Peers.python, [Peers.path("encode_spans.py"), path, "1"])
                .split { $0 == " " || $0 == "\n" }
        } catch {
            throw BenchmarkError(
                "opentelemetry-exporter-otlp-proto-common is not in .build/peers; 'make setup' installs it")
        }
        guard words.count == 2, let seconds = Double(words[0]), let bytes = Int(words[1]) else {
            throw BenchmarkError("the encoder of OpenTelemetry says \(words)")
        }
        return (seconds, bytes)
    }

    private static func peakMemory(_ count: Int) throws -> Int {
        try Child.peakMemory("/proc/self/exe", [word, "\(count)"])
    }
}
