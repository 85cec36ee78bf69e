import Capabilities
import FileKit
import JSON
import StorageKit
import TraceKit
import TraceStore

/// A span that a test makes up.
struct SampleSpan {
    var trace = 1
    var id = 1
    var parent: Int?
    var name = "work"
    var feature = "demo"
    var start = Timestamp(microseconds: 1_800_000_000_000_000)
    var duration = Duration.milliseconds(10)
    var failure: String?
    var kind = SpanRecord.Kind.internal
    var attributes: JSONObject = [:]

    var span: TraceSpan {
        get throws {
            guard let trace = TraceID(words: (0, UInt64(trace))), let id = SpanID(word: UInt64(id)) else {
                throw ValueError("an id is zero")
            }
            var span = TraceSpan(
                name: name, feature: feature, context: TraceContext(trace: trace, span: id),
                parent: parent.flatMap { SpanID(word: UInt64($0)) }, start: start, duration: duration,
                attributes: attributes, failure: failure)
            span.kind = kind
            return span
        }
    }
}

extension TraceStore {
    /// Adds spans of a program of ours.
    func add(_ spans: [TraceSpan], of service: String = "martlet") async throws {
        var lines: [UInt8] = []
        SpoolLine.write(resource: ["service.name": .string(service)], into: &lines)
        for span in spans { SpanLine.write(span, into: &lines) }
        let path = "\(database.path).sample-\(service)"
        try Files.writeAtomically(lines, to: path)
        try await add(linesOf: .reading(path))
        try Files.remove(path)
    }
}
