import Glibc
import JSON
import Synchronization

/// A piece of work while it runs and until its sinks have written it: one object, in which a few facts need no further memory.
public final class SpanRecord: Sendable {
    /// Which side of an exchange it is.
    public enum Kind: Int, Sendable, Hashable {
        /// Work inside of a program.
        case `internal` = 1
        /// The answer to a request of another program.
        case server = 2
        /// A request to another program.
        case client = 3
        /// Work that others take up later.
        case producer = 4
        /// Work that others have left.
        case consumer = 5
    }

    /// The feature that does it.
    public let scope: String
    /// Which side of an exchange it is.
    public let kind: Kind
    /// The trace that it belongs to, and its own id.
    public let context: TraceContext
    /// The span around it; nil for the first of a trace.
    public let parent: SpanID?
    /// Whether the span around it is one of another program.
    public let isParentRemote: Bool
    /// The time of day when the work began.
    public let start: Timestamp
    let began: Int64
    private let ticks: (@Sendable () -> Int64)?
    private let state: Mutex<State>

    /// The facts that need no memory besides the span's.
    private static let room = 8
    /// More attributes and events of one span are counted and left out.
    static let most = (attributes: 128, events: 128)

    private struct State {
        var name: String
        var first = InlineArray<8, SpanAttribute?>(repeating: nil)
        var count = 0
        var more: [SpanAttribute] = []
        var events: [SpanEvent] = []
        var dropped = (attributes: 0, events: 0)
        var failure: String?
        var nanoseconds: Int64?
    }

    init(
        _ name: String, _ kind: Kind, _ scope: String, _ context: TraceContext, under outer: TraceContext?,
        start: Timestamp, ticks: (@Sendable () -> Int64)?
    ) {
        (self.kind, self.scope, self.context) = (kind, scope, context)
        state = Mutex(State(name: name))
        (parent, isParentRemote) = (outer?.span, outer?.isRemote ?? false)
        (self.start, self.ticks) = (start, ticks)
        began = ticks?() ?? Self.systemTicks()
    }

    /// Nanoseconds that never go back.
    private var present: Int64 { ticks?() ?? Self.systemTicks() }

    private static func systemTicks() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Whether nothing is around it in this process.
    public var isLocalRoot: Bool { parent == nil || isParentRemote }

    // MARK: While it runs

    /// Sets an attribute; the last value for a name counts. After the end nothing changes.
    public func set(_ key: SpanKey, _ value: SpanValue) {
        state.withLock { state in
            guard state.nanoseconds == nil else { return }
            for index in 0..<state.count where state.first[index]?.key == key {
                state.first[index] = SpanAttribute(key, value)
                return
            }
            if state.count < Self.room {
                state.first[state.count] = SpanAttribute(key, value)
                state.count += 1
            } else if let index = state.more.firstIndex(where: { $0.key == key }) {
                state.more[index] = SpanAttribute(key, value)
            } else if state.more.count < Self.most.attributes - Self.room {
                state.more.append(SpanAttribute(key, value))
            } else {
                state.dropped.attributes += 1
            }
        }
    }

    /// How long the work has taken so far.
    public var elapsed: Duration { .nanoseconds(max(0, present - began)) }

    /// Adds something that happened.
    ///
    /// - Parameter time: how long after the beginning of the work; nil for now.
    public func add(_ event: String, _ attributes: [SpanAttribute] = [], after time: Duration? = nil) {
        let time = time.map { Int64($0 / .nanoseconds(1)) } ?? present - began
        state.withLock { state in
            guard state.nanoseconds == nil else { return }
            guard state.events.count < Self.most.events else { return state.dropped.events += 1 }
            state.events.append(SpanEvent(event, after: max(0, time), attributes))
        }
    }

    /// Replaces the name, once more is known of the work.
    public func rename(_ name: String) {
        state.withLock { state in
            if state.nanoseconds == nil { state.name = name }
        }
    }

    /// Marks the work as failed, by the code of an error.
    public func fail(_ code: String) { state.withLock { $0.failure = $0.failure ?? code } }

    /// - Returns: false if it has ended before.
    func end(_ failure: String?) -> Bool {
        let time = present - began
        return state.withLock { state in
            guard state.nanoseconds == nil else { return false }
            state.nanoseconds = max(0, time)
            if let failure { state.failure = failure }
            return true
        }
    }

    // MARK: What became of it

    /// The kind of work, such as `gateway.turn`.
    public var name: String { state.withLock { $0.name } }

    /// The code of the error that ended it, if any.
    public var failure: String? { state.withLock { $0.failure } }

    /// How long the work took; zero while it runs.
    public var duration: Duration { .nanoseconds(state.withLock { $0.nanoseconds ?? 0 }) }

    /// The value of an attribute.
    public subscript(_ key: SpanKey) -> SpanValue? {
        state.withLock { state in
            for index in 0..<state.count where state.first[index]?.key == key { return state.first[index]?.value }
            return state.more.first { $0.key == key }?.value
        }
    }

    /// Roughly the memory that it takes.
    var bytes: Int {
        state.withLock { state in
            var bytes = 600 + state.events.count * 200
            for index in 0..<state.count { bytes += state.first[index]?.value.bytes ?? 0 }
            return state.more.reduce(bytes) { $0 + 48 + $1.value.bytes }
        }
    }

    /// A copy of all of it, from whose texts a redactor has removed the secrets. What leaves this process is made from it.
    public func copy(without redactor: Redactor) -> TraceSpan {
        let (first, more, events, dropped, failure, nanoseconds) = state.withLock { state in
            let first = (0..<state.count).compactMap { state.first[$0] }
            return (first, state.more, state.events, state.dropped, state.failure, state.nanoseconds)
        }
        func object(_ attributes: [SpanAttribute]) -> JSONObject {
            var object: JSONObject = [:]
            for attribute in attributes { object[attribute.key.description] = attribute.value.json }
            return redactor.redact(object)
        }
        var span = TraceSpan(
            name: redactor.redact(name), feature: scope, context: context.ids, parent: parent, start: start,
            duration: .nanoseconds(nanoseconds ?? 0), attributes: object(first + more), failure: failure)
        span.kind = kind
        span.isParentRemote = isParentRemote
        span.events = events.map { event in
            TraceSpan.Event(
                name: redactor.redact(event.name), time: start + .nanoseconds(event.nanoseconds),
                attributes: object(event.attributes))
        }
        span.dropped = dropped.attributes + dropped.events
        return span
    }
}

/// Something that happened during a span.
struct SpanEvent: Sendable {
    let name: String
    let nanoseconds: Int64
    let attributes: [SpanAttribute]

    init(_ name: String, after nanoseconds: Int64, _ attributes: [SpanAttribute]) {
        (self.name, self.nanoseconds, self.attributes) = (name, nanoseconds, attributes)
    }
}
