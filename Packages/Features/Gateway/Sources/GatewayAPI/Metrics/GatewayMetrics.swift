public import Capabilities
import GatewayTurns
import JSON
import Synchronization
import TurnLoop

/// Counts what a gateway does. It learns of requests from the server's spans, and of turns from the routes.
public final class GatewayMetrics: SpanSink {
    struct Request: Hashable {
        let method: String
        let route: String
        let status: Int
    }

    struct Counts {
        var requests: [Request: Int] = [:]
        var durations: [String: Histogram] = [:]
        /// By how they ended.
        var turns: [String: Int] = [:]
        var turnDurations = Histogram()
        /// By model.
        var input: [String: Int] = [:]
        var output: [String: Int] = [:]
        var nanodollars = 0
        var calls = 0
        var failedCalls = 0
    }

    private let counts = Mutex(Counts())

    public init() {}

    public func record(_ span: TraceSpan) {
        guard span.name == "http.serve" else { return }
        // A method can be any word that a client makes up, and each would be a series of its own.
        let method = span.attributes["method"]?.string ?? ""
        let request = Request(
            method: Self.methods.contains(method) ? method : "other", route: span.attributes["route"]?.string ?? "",
            status: span.attributes["status"]?.int ?? 0)
        let seconds = (span.end - span.start) / .seconds(1)
        counts.withLock { counts in
            counts.requests[request, default: 0] += 1
            counts.durations[request.route, default: Histogram()].add(seconds)
        }
    }

    /// Counts a turn or a completion that has ended.
    func count(_ report: TurnReport, took duration: Duration) {
        let (usage, model) = (report.outcome.usage, report.place.name)
        counts.withLock { counts in
            counts.turns[report.endWord, default: 0] += 1
            counts.turnDurations.add(duration / .seconds(1))
            if let tokens = usage.inputTokens { counts.input[model, default: 0] += tokens }
            if let tokens = usage.outputTokens { counts.output[model, default: 0] += tokens }
            counts.nanodollars += usage.cost?.nanodollars ?? 0
            counts.calls += report.outcome.calls
            counts.failedCalls += report.outcome.failedCalls
        }
    }

    /// Counts a stream whose client went away before its end.
    func countVanished() {
        counts.withLock { $0.turns["vanished", default: 0] += 1 }
    }

    var snapshot: Counts { counts.withLock { $0 } }

    private static let methods: Set<String> = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
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
