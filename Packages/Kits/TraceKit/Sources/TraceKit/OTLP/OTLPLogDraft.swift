import Capabilities
import JSON

/// An entry of the log while its fields are read, in any order.
struct OTLPLogDraft {
    var time: UInt64 = 0
    var observed: UInt64 = 0
    var severity: UInt64 = 0
    var body = JSON.null
    var event = ""
    var attributes = OTLPAttributes()
    var trace: TraceID?
    var span: SpanID?

    /// The entry, whose scope is set later. One without a body tells the name of its event.
    func finish() -> LogRecord {
        var facts = attributes.object
        if !event.isEmpty { facts["event.name"] = .string(event) }
        let message = body.isNull ? event : body.string ?? body.text()
        return LogRecord(
            Self.level(severity), "", message, facts,
            at: Timestamp(microseconds: Int64((time > 0 ? time : observed) / 1_000)), trace: trace, span: span)
    }

    /// One without a severity is as important as most are.
    private static func level(_ severity: UInt64) -> LogLevel {
        switch severity {
        case 0, 9...12: .info
        case 1...8: .debug
        case 13...16: .warning
        default: .error
        }
    }
}
