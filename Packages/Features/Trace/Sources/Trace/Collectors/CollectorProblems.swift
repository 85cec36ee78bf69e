import Capabilities
import TraceExport
import TraceKit

/// What is wrong with sending, for those who read traces.
struct CollectorProblems: Sendable {
    let delivery: TraceDelivery
    let metrics: MetricDelivery

    /// The problems, as sentences.
    ///
    /// - Parameter time: refusals before this are not told.
    func sentences(since time: Timestamp?) async throws -> [String] {
        try await unusable + delivery.problems(since: time) + metrics.problems(since: time)
    }

    /// Why the collectors that are set up cannot be used. What several signals have in common is told once.
    private var unusable: [String] {
        let found: [(signal: OTLPSignal, error: TraceExportError?)] = [
            (.traces, delivery.spans.unusable), (.logs, delivery.logs.unusable), (.metrics, metrics.link.unusable),
        ]
        var problems: [(message: String, words: [String])] = []
        for (signal, error) in found {
            guard let message = error?.message else { continue }
            if let place = problems.firstIndex(where: { $0.message == message }) {
                problems[place].words.append(signal.words)
            } else {
                problems.append((message, [signal.words]))
            }
        }
        return problems.map { "nothing is sent of \($0.words.joined(separator: ", ")): \($0.message)" }
    }
}
