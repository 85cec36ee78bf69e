import Capabilities
import JSON

/// Takes what both readers find in a request, within the limits.
struct SpanIntake {
    let limits: OTLPLimits
    private(set) var received: ReceivedSpans
    private var spans = 0
    private var values = 0
    /// The first limit that was met since it was last asked for.
    private var problem: ReceivedSpans.Rejection?

    init(of signal: OTLPSignal, _ limits: OTLPLimits) {
        self.limits = limits
        received = ReceivedSpans(of: signal)
    }

    /// Counts a value; false if there are too many.
    mutating func takesValue() -> Bool {
        guard values < limits.values else {
            problem = problem ?? .values(limits.values)
            return false
        }
        values += 1
        return true
    }

    /// Whether a value at this depth is read.
    mutating func takes(depth: Int) -> Bool {
        if depth >= limits.depth { problem = problem ?? .depth(limits.depth) }
        return depth < limits.depth
    }

    /// Begins with a span, an entry or a data point, whose problems are those from now on.
    ///
    /// - Returns: false if there are enough.
    mutating func takesSpan() -> Bool {
        problem = nil
        guard spans < limits.spans else {
            received.rejections[.spans(limits.spans), default: 0] += 1
            return false
        }
        return true
    }

    /// Adds a span to the last group, unless something is wrong with it.
    mutating func take(_ draft: OTLPDraft) {
        var draft = draft
        do {
            let span = try draft.finish(problem)
            spans += 1
            received.groups[received.groups.count - 1].spans.append(span)
        } catch { received.rejections[error.rejection, default: 0] += 1 }
    }

    /// Adds an entry of the log to the last group, unless something is wrong with it.
    mutating func take(_ draft: OTLPLogDraft) {
        if let problem { return received.rejections[problem, default: 0] += 1 }
        spans += 1
        received.groups[received.groups.count - 1].logs.append(draft.finish())
    }

    /// Adds a data point to the last group, unless something is wrong with it, or there is nothing in it.
    mutating func take(_ draft: OTLPPointDraft) {
        if let problem { return received.rejections[problem, default: 0] += 1 }
        if draft.isWithoutValue { return }
        do {
            let point = try draft.finish(limits)
            spans += 1
            received.groups[received.groups.count - 1].metrics.append(point)
        } catch { received.rejections[error.rejection, default: 0] += 1 }
    }

    /// How many data points the last group has.
    var points: Int { received.groups.last?.metrics.count ?? 0 }

    /// Says of the points from this one on whether they are since the one before: 1 is delta, 2 is cumulative.
    mutating func setTemporality(_ temporality: UInt64, from first: Int) {
        let last = received.groups.count - 1
        for place in first..<points { received.groups[last].metrics[place].isDelta = temporality == 1 }
    }

    /// Says of the points from this one on which metric they belong to. Those of one without a name are rejected.
    mutating func endMetric(_ name: String, unit: String, from first: Int) {
        let (last, count) = (received.groups.count - 1, points - first)
        guard count > 0 else { return }
        guard !name.isEmpty else {
            received.groups[last].metrics.removeLast(count)
            spans -= count
            received.rejections[.metricName, default: 0] += count
            return
        }
        for place in first..<points {
            (received.groups[last].metrics[place].name, received.groups[last].metrics[place].unit) = (name, unit)
        }
    }

    /// Begins with the spans of a part of a program.
    mutating func beginGroup() {
        received.groups.append(
            ReceivedSpans.Group(resource: TraceResource(), scope: TraceScope(name: "")))
    }

    /// Ends the last group. An empty one is dropped.
    mutating func endGroup(_ scope: TraceScope) {
        let last = received.groups.count - 1
        guard !received.groups[last].isEmpty else {
            received.groups.removeLast()
            return
        }
        received.groups[last].scope = scope
        // In JSON, the scope may come after its spans.
        if let first = received.groups[last].spans.first, first.feature != scope.name {
            received.groups[last].spans = received.groups[last].spans.map { $0.moved(to: scope.name) }
        }
        for place in received.groups[last].logs.indices { received.groups[last].logs[place].scope = scope.name }
        for place in received.groups[last].metrics.indices { received.groups[last].metrics[place].scope = scope.name }
    }

    /// Says of the groups from this one on who sent them.
    mutating func setResource(_ resource: TraceResource, from first: Int) {
        for place in first..<received.groups.count { received.groups[place].resource = resource }
    }

    /// A text within the limit, to which the ellipsis counts.
    func shortened(_ text: String, to limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: max(0, limit - 3))
        // A character is not cut.
        while end > text.startIndex, text.utf8[end] & 0xC0 == 0x80 { end = text.utf8.index(before: end) }
        return String(text[..<end]) + "…"
    }
}

/// The values of attributes while they are read, with the count of those that are too many.
struct OTLPAttributes {
    var object: JSONObject = [:]
    var dropped = 0

    /// Whether another one is read.
    mutating func hasRoom(_ limits: OTLPLimits) -> Bool {
        if object.count >= limits.attributes { dropped += 1 }
        return object.count < limits.attributes
    }
}

/// Why a span or a data point is rejected.
struct OTLPProblem: Error {
    let rejection: ReceivedSpans.Rejection
}

/// A span while its fields are read, in any order.
struct OTLPDraft {
    var trace: TraceID?
    var span: SpanID?
    var parent: SpanID?
    var isParentWrong = false
    var state = ""
    var name = ""
    var kind: UInt64 = 0
    var start: UInt64 = 0
    var end: UInt64 = 0
    var attributes = OTLPAttributes()
    var events: [TraceSpan.Event] = []
    var links: [TraceSpan.Link] = []
    var dropped: UInt64 = 0
    var status = OTLPStatus()
    var flags: UInt32 = 0
    var scope = ""

    mutating func finish(_ problem: ReceivedSpans.Rejection?) throws(OTLPProblem) -> TraceSpan {
        guard let trace else { throw OTLPProblem(rejection: .traceID) }
        guard let span else { throw OTLPProblem(rejection: .spanID) }
        if isParentWrong { throw OTLPProblem(rejection: .parentID) }
        if let problem { throw OTLPProblem(rejection: problem) }
        let failure = status.failure(&attributes.object)
        // A clock that went back makes no negative time.
        let nanoseconds = Int64(clamping: end > start ? end - start : 0)
        var result = TraceSpan(
            name: name, feature: scope, context: Self.context(trace, span, flags, state), parent: parent,
            start: Timestamp(microseconds: Int64(start / 1_000)), duration: .nanoseconds(nanoseconds),
            attributes: attributes.object, failure: failure)
        result.kind = SpanRecord.Kind(rawValue: Int(clamping: kind)) ?? .internal
        result.isParentRemote = parent != nil && flags & OTLPFlags.remote != 0
        (result.events, result.links) = (events, links)
        // As many as can be told again.
        result.dropped = Int(UInt32(clamping: dropped + UInt64(attributes.dropped)))
        return result
    }

    /// A context from its fields. A sender that fills no flags has chosen what it sends.
    static func context(_ trace: TraceID, _ span: SpanID, _ flags: UInt32, _ state: String) -> TraceContext {
        let isUsable = !state.isEmpty && state.utf8.count <= 512 && state.utf8.allSatisfy { (0x20...0x7E).contains($0) }
        return TraceContext(
            trace: trace, span: span, isSampled: flags == 0 || flags & OTLPFlags.sampled != 0,
            state: isUsable ? state : nil)
    }
}

extension TraceSpan {
    fileprivate func moved(to feature: String) -> TraceSpan {
        var span = TraceSpan(
            name: name, feature: feature, context: context, parent: parent, start: start, duration: duration,
            attributes: attributes, failure: failure)
        (span.kind, span.isParentRemote, span.dropped) = (kind, isParentRemote, dropped)
        (span.events, span.links) = (events, links)
        return span
    }
}
