import Capabilities
import JSON
import Synchronization

/// The seeds of property tests: some fixed ones and a new one for each run. A failing test names its seed.
let seeds: [UInt64] = [1, 2, 3, .random(in: 4 ... .max)]

/// Keeps every span.
final class SpanList: SpanSink {
    private let contents = Mutex<[TraceSpan]>([])

    var spans: [TraceSpan] { contents.withLock { $0 } }

    func record(_ span: SpanRecord) {
        let copy = span.copy(without: Redactor())
        contents.withLock { $0.append(copy) }
    }
}

/// A failure with every optional part.
struct DemoFailure: Failure {
    var code: String { "demo.failed" }
    var message: String { "it failed; try again" }
    var exit: ExitCode { .unreachable }
    var cause: (any Error)?
    var details: JSONObject = [:]
}

/// The units of the examples.
enum Units: String, Choice { case metric, imperial }

/// A record with a field of each role and an optional member.
struct Reading: Record {
    var city: String
    var degrees: Double?
    var units: Units

    static let fields: [Field<Reading>] = [
        Field("city", "Where it was measured", .name) { $0.city },
        Field("degrees", "Temperature") { $0.degrees },
        Field("units", "Units of measure", .detail) { $0.units },
    ]
}

/// The message of the error that a body throws, or nil if it throws none.
func thrownMessage(_ body: () throws(ValueError) -> some Any) -> String? {
    do {
        _ = try body()
        return nil
    } catch {
        return error.description
    }
}
