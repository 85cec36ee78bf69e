import Capabilities
import JSON
import Synchronization

/// A generator whose numbers follow from its seed (SplitMix64), so that a failure can be had again.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// The seeds of property tests: a few that stay and a new one in each run, all named when a test fails.
let seeds: [UInt64] = [1, 2, 3, .random(in: 4 ... .max)]

/// Keeps every span.
final class SpanList: SpanSink {
    private let contents = Mutex<[Span]>([])

    var spans: [Span] { contents.withLock { $0 } }

    func record(_ span: Span) { contents.withLock { $0.append(span) } }
}

/// A failure that says all that one can say.
struct DemoFailure: Failure {
    var code: String { "demo.failed" }
    var message: String { "it failed; try again" }
    var exit: ExitCode { .unreachable }
    var cause: (any Error)?
    var details: JSONObject = [:]
}

/// The units of the examples.
enum Units: String, Choice { case metric, imperial }

/// A record with each role and an optional member.
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

/// The message of the error that a body throws, or nil when it throws none.
func thrownMessage(_ body: () throws(ValueError) -> some Any) -> String? {
    do {
        _ = try body()
        return nil
    } catch {
        return error.description
    }
}
