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
    func write(running: Int, into page: inout PrometheusText) {
        let counts = counts.withLock { $0 }
        page.family("martlet_turns_running", "gauge", "Turns and completions running now")
        page.number("martlet_turns_running", "\(running)")
        page.family("martlet_turns_total", "counter", "Turns and completions by how they ended")
        for (end, count) in counts.ends.sorted(by: { $0.key < $1.key }) {
            page.number("martlet_turns_total", "\(count)", [("end", end)])
        }
        page.family("martlet_turn_duration_seconds", "histogram", "Duration of turns and completions")
        page.histogram("martlet_turn_duration_seconds", counts.durations)
        page.family("martlet_tokens_total", "counter", "Tokens read and written by models, as far as reported")
        for (kind, tokens) in [("input", counts.input), ("output", counts.output)] {
            for (model, count) in tokens.sorted(by: { $0.key < $1.key }) {
                page.number("martlet_tokens_total", "\(count)", [("direction", kind), ("model", model)])
            }
        }
        page.family("martlet_cost_dollars_total", "counter", "Cost of answers, as far as known")
        page.number("martlet_cost_dollars_total", "\(Double(counts.nanodollars) / 1e9)")
        page.family("martlet_tool_calls_total", "counter", "Tool calls by result")
        page.number("martlet_tool_calls_total", "\(counts.calls - counts.failedCalls)", [("result", "ok")])
        page.number("martlet_tool_calls_total", "\(counts.failedCalls)", [("result", "error")])
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
