public import Capabilities
import JSON

extension LogLevel {
    /// The number that OpenTelemetry has for it.
    public var severity: Int {
        switch self {
        case .debug: 5
        case .info: 9
        case .warning: 13
        case .error: 17
        }
    }

    /// The level of a number.
    public init(severity: Int) {
        self = LogLevel.allCases.last { $0.severity <= severity } ?? .debug
    }
}

extension LogRecord: OTLPItem {
    static var signal: OTLPSignal { .logs }
    var scopeName: String { scope }

    func writeProtobuf(into bytes: inout [UInt8]) {
        bytes.addFixed(1, time.nanoseconds)
        bytes.addNumber(2, UInt64(level.severity))
        bytes.addText(3, level.rawValue)
        bytes.addMessage(5) { $0.addTextAlways(1, message) }
        bytes.addAttributes(6, attributes)
        if let trace { bytes.addTrace(9, trace) }
        if let span { bytes.addSpan(10, span) }
        bytes.addFixed(11, time.nanoseconds)
    }

    func writeJSON(into bytes: inout [UInt8]) {
        bytes.add("{\"timeUnixNano\":\"")
        bytes.addDecimal(time.nanoseconds)
        bytes.add("\",\"observedTimeUnixNano\":\"")
        bytes.addDecimal(time.nanoseconds)
        bytes.add("\",\"severityNumber\":")
        bytes.addDecimal(Int64(level.severity))
        bytes.add(",\"severityText\":")
        bytes.addJSON(level.rawValue)
        bytes.add(",\"body\":")
        bytes.addJSONValue(.string(message))
        bytes.addJSONAttributes(attributes)
        if let trace {
            bytes.add(",\"traceId\":\"")
            bytes.addHexadecimal(trace.words.0)
            bytes.addHexadecimal(trace.words.1)
            bytes.add("\"")
        }
        if let span {
            bytes.add(",\"spanId\":\"")
            bytes.addHexadecimal(span.word)
            bytes.add("\"")
        }
        bytes.add("}")
    }
}
