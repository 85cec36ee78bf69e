import Capabilities
import JSON
import Registry
import Screens
import TraceStore

/// The screen of what was requested in the last minute, for the home screen.
struct ActivityScreen {
    let store: TraceStore
    /// The spans of this process that are not written yet.
    let spool: SpanSpool

    private static let interval = Duration.seconds(5)

    func add(to registry: inout RegistryBuilder) {
        registry.add(
            Screen("trace.activity", "Requests of the last minute", .home) { [store, spool] screen in
                repeat {
                    spool.flush()
                    let activity = try await Activity.read(from: store, at: screen.context.host.now())
                    try await screen.show(
                        Block(
                            .values(Values(activity)), id: "activity",
                            links: [
                                .screen("trace.diagnostics", "Diagnostics", key: "d"),
                                .screen("trace.traces", "Traces", key: "t"), .screen("trace.log", "Log", key: "l"),
                            ]))
                } while try await screen.changed(orAfter: Self.interval)
            })
    }
}

/// What was requested in a minute, by the requests that began and the streams that ended in it.
struct Activity: Record {
    private var requests = 0
    private var failures = 0
    private var eventsPerSecond = 0.0
    private var slowest: SeenRequest?
    private var failure: SeenRequest?

    private static let period = Duration.seconds(60)
    /// Streams that are longer do not count.
    private static let longest = Duration.seconds(3_600)

    static func read(from store: TraceStore, at now: Timestamp) async throws -> Activity {
        var activity = Activity()
        let start = now + (.zero - period)
        for request in try await RequestActions.find(RequestArguments(since: start), in: store).rows
        where !request.isStream {
            activity.add(request)
        }
        let streams = RequestArguments(since: now + (.zero - longest), hasOnlyStreams: true)
        for stream in try await RequestActions.find(streams, in: store).rows where stream.span.end >= start {
            activity.add(stream: stream, from: start)
        }
        return activity
    }

    private mutating func add(stream: SeenRequest, from start: Timestamp) {
        let part = (stream.span.end - max(start, stream.span.start)) / stream.span.duration
        if part.isFinite { eventsPerSecond += Double(stream.events ?? 0) * part / (Self.period / .seconds(1)) }
    }

    private mutating func add(_ request: SeenRequest) {
        requests += 1
        if request.level >= .warning {
            failures += 1
            failure = failure ?? request
        }
        if request.span.duration > slowest?.span.duration ?? .zero { slowest = request }
    }

    static let fields: [Field<Activity>] = [
        Field("requests", "Requests by HTTP in the last minute, to the gateway and to servers") { $0.requests },
        Field("failed", "How many of them failed or were refused") { $0.failures },
        Field("events_per_second", "Events of streams in a second, in the last minute") {
            ($0.eventsPerSecond * 10).rounded() / 10
        },
        Field("slowest", "The longest of them") { $0.slowest?.span.duration },
        Field("failure", "The newest of those that failed") { $0.failure?.words },
    ]
}

extension SeenRequest {
    /// The request and its outcome in one line.
    fileprivate var words: String {
        let outcome = status.map(String.init) ?? span.failure ?? ""
        let words = [method, server, path, outcome].compactMap(\.self).filter { !$0.isEmpty }.joined(separator: " ")
        return PlainText.escape(words, limit: 200)
    }
}
