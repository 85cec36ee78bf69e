public import Capabilities
import JSON

/// An entry of the log as one line of JSON beside those of spans: `{"log":{…}}`.
public enum LogLine {
    /// Appends the line, with the line feed at its end.
    public static func write(_ log: LogRecord, into bytes: inout [UInt8]) {
        var object: JSONObject = [
            "time_us": .int(Int(log.time.microseconds)), "level": .string(log.level.rawValue),
            "scope": .string(log.scope), "message": .string(log.message),
        ]
        object["trace_id"] = log.trace.map { .string("\($0)") }
        object["span_id"] = log.span.map { .string("\($0)") }
        if !log.attributes.isEmpty { object["attributes"] = .object(log.attributes) }
        JSON.object(["log": .object(object)]).write(into: &bytes)
        bytes.append(UInt8(ascii: "\n"))
    }

    /// The beginning of each line.
    public static let start = Array(#"{"log":"#.utf8)

    /// Reads a line.
    ///
    /// - Throws: a `TraceKitError` if it is not a line of a log, for example because it was cut.
    public static func read(_ line: some Collection<UInt8>) throws -> LogRecord {
        let json: JSON
        do { json = try JSON(parsing: Array(line)) } catch {
            throw TraceKitError(.malformed, "this is no line of a log: \(error.message) at byte \(error.offset)")
        }
        guard let log = json["log"], let time = log["time_us"]?.int, let message = log["message"]?.string,
            let level = log["level"]?.string.flatMap(LogLevel.init)
        else { throw TraceKitError(.malformed, "this is no line of a log: the time, level or message is missing") }
        return LogRecord(
            level, log["scope"]?.string ?? "", message, log["attributes"]?.object ?? [:],
            at: Timestamp(microseconds: Int64(time)), trace: log["trace_id"]?.string.flatMap { TraceID(hex: $0) },
            span: log["span_id"]?.string.flatMap { SpanID(hex: $0) })
    }
}
