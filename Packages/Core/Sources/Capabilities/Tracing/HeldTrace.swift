import Synchronization

/// The spans of a trace that is not recorded, until its work in this process has ended. If something failed in it, or it took
/// too long, all of them are recorded after all.
final class HeldTrace: Sendable {
    private static let most = (spans: 1_000, bytes: 1 << 20)

    private struct State {
        var spans: [SpanRecord] = []
        var bytes = 0
        var hasFailed = false
        /// Whether the spans are recorded; nil before the end.
        var isKept: Bool?
    }

    private let state = Mutex(State())

    /// Takes a span that has ended.
    ///
    /// - Returns: the spans to record now.
    func take(_ span: SpanRecord, slow: Duration?) -> [SpanRecord] {
        let (failed, bytes) = (span.failure != nil, span.bytes)
        let isSlow = slow.map { span.duration > $0 } ?? false
        return state.withLock { state in
            // Work that goes on after the end belongs to what was decided, but for what fails.
            if let isKept = state.isKept { return isKept || failed ? [span] : [] }
            if failed { state.hasFailed = true }
            let hasRoom = state.spans.count < Self.most.spans && state.bytes + bytes <= Self.most.bytes
            if hasRoom || span.isLocalRoot {
                state.spans.append(span)
                state.bytes += bytes
            }
            guard span.isLocalRoot else { return [] }
            let isKept = state.hasFailed || isSlow
            defer { (state.spans, state.isKept) = ([], isKept) }
            return isKept ? state.spans : []
        }
    }
}
