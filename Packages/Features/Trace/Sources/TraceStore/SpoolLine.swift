public import Capabilities
public import JSON
import TraceKit

/// A line of a spool: a span, an entry of the log, what the process is whose spans follow, or how many were left out.
public enum SpoolLine {
    /// A span.
    case span(TraceSpan)
    /// What recorded the spans and entries after it, and the collectors that get them.
    case resource(JSONObject, CollectorAddresses)
    /// An entry of the log.
    case log(LogRecord)
    /// How many spans and entries of the log were left out.
    case dropped(Int)

    /// - Throws: if the line is none of these, such as the last one of a process that was killed.
    public init(_ line: ArraySlice<UInt8>) throws {
        if line.starts(with: LogLine.start) {
            self = .log(try LogLine.read(line))
            return
        }
        // Spans begin with their ids, so that the other kinds are found without reading a span twice.
        if line.starts(with: Self.resourceStart) || line.starts(with: Self.droppedStart) {
            let json = try JSON(parsing: Array(line))
            if let resource = json["resource"]?.object {
                self = .resource(resource, CollectorAddresses(json))
                return
            }
            if let dropped = json["dropped_spans"]?.int {
                self = .dropped(dropped)
                return
            }
        }
        self = .span(try SpanLine.read(line))
    }

    private static let resourceStart = Array(#"{"resource":"#.utf8)
    private static let droppedStart = Array(#"{"dropped_spans":"#.utf8)

    /// Adds the line that says what recorded the spans after it.
    ///
    /// - Parameter collectors: who gets them. Only in the file of a process it means something.
    public static func write(
        resource: JSONObject, for collectors: CollectorAddresses = CollectorAddresses(), into bytes: inout [UInt8]
    ) {
        var line: JSONObject = ["resource": .object(resource)]
        collectors.write(to: &line)
        JSON.object(line).write(into: &bytes)
        bytes.append(UInt8(ascii: "\n"))
    }

    static func write(dropped: Int, into bytes: inout [UInt8]) {
        bytes += Array("{\"dropped_spans\":\(dropped)}\n".utf8)
    }
}
