import Capabilities
import GatewayTurns
import Synchronization
import TraceKit
import TurnLoop

/// Counts turns and completions. The routes report them.
final class TurnMetrics: Sendable {
    private struct Counts {
        /// The number of turns by how they ended.
        var ends: [String: Int] = [:]
        var durations = Histogram()
        /// The number of tokens by model.
        var input: [String: Int] = [:]
        var output: [String: Int] = [:]
        var nanodollars = 0
        var calls = 0
        var failedCalls = 0
    }

    private let counts = Mutex(Counts())

    /// Counts an ended turn or completion.
    func count(_ report: TurnReport, took duration: Duration) {
        let (usage, model) = (report.outcome.usage, report.place.name)
        counts.withLock { counts in
            counts.ends[report.endWord, default: 0] += 1
            counts.durations.add(duration)
            if let tokens = usage.inputTokens { counts.input[model, default: 0] += tokens }
            if let tokens = usage.outputTokens { counts.output[model, default: 0] += tokens }
            counts.nanodollars += usage.cost?.nanodollars ?? 0
            counts.calls += report.outcome.calls
            counts.failedCalls += report.outcome.failedCalls
        }
    }

    /// Counts a stream whose client disconnected before its end.
    func countVanished() {
        counts.withLock { $0.ends["vanished", default: 0] += 1 }
    }

    /// - Parameter running: the turns that run now.
    func families(running: Int) -> [MetricFamily] {
        let counts = counts.withLock { $0 }
        let tokens = [("input", counts.input), ("output", counts.output)].flatMap { direction, tokens in
            tokens.sorted { $0.key < $1.key }.map { model, count in
                MetricFamily.Sample(.whole(count), [("direction", direction), ("model", model)])
            }
        }
        return [
            MetricFamily(
                "martlet_turns_running", .gauge, "Turns and completions running now", [.init(.whole(running))]),
            MetricFamily(
                "martlet_turns_total", .counter, "Turns and completions by how they ended",
                counts.ends.sorted { $0.key < $1.key }.map { .init(.whole($0.value), [("end", $0.key)]) }),
            MetricFamily(
                "martlet_turn_duration_seconds", .histogram, "Duration of turns and completions", unit: "s",
                [.init(.histogram(counts.durations))]),
            MetricFamily(
                "martlet_tokens_total", .counter, "Tokens read and written by models, as far as reported", tokens),
            MetricFamily(
                "martlet_cost_dollars_total", .counter, "Cost of answers, as far as known", unit: "{USD}",
                [.init(.number(Double(counts.nanodollars) / 1e9))]),
            MetricFamily(
                "martlet_tool_calls_total", .counter, "Tool calls by result",
                [
                    .init(.whole(counts.calls - counts.failedCalls), [("result", "ok")]),
                    .init(.whole(counts.failedCalls), [("result", "error")]),
                ]),
        ]
    }
}

extension TurnReport {
    fileprivate var endWord: String {
        if failure != nil { return "failed" }
        return switch outcome.end {
        case .answered: "answered"
        case .stopped: "stopped"
        case .failed, .roundLimit: "failed"
        }
    }
}
