/// Writes a `text/event-stream`. Each call writes a whole event; data, type and id cannot inject a line. Send the
/// output with `Content-Type: text/event-stream` and `Cache-Control: no-cache`.
public struct EventWriter: Sendable {
    /// Output that was not taken yet.
    public private(set) var bytes: [UInt8] = []

    /// A writer without output.
    public init() {}

    /// Writes an event. Data of several lines goes out as several `data` lines, which a reader joins with line feeds.
    ///
    /// - Parameters:
    ///   - type: Its name; without one it is a `message`.
    ///   - id: What a reader sends as `Last-Event-ID` when it comes back. An empty one clears the id, `nil` leaves it.
    /// - Throws: `invalid` when the type or the id has a line end, or the id a NUL.
    public mutating func event(_ data: ArraySlice<UInt8>, type: String? = nil, id: String? = nil) throws(HTTPError) {
        if let type, type.utf8.contains(where: { $0 == 10 || $0 == 13 }) {
            throw HTTPError(.invalid, "an event was not sent: its type has a line break; use one line")
        }
        if let id, id.utf8.contains(where: { $0 == 10 || $0 == 13 || $0 == 0 }) {
            throw HTTPError(.invalid, "an event was not sent: its id has a line break or a NUL; use one line")
        }
        bytes.reserveCapacity(bytes.count + data.count + 16)
        if let id { line("id: ", id) }
        if let type, !type.isEmpty, type != ServerSentEvent.defaultType { line("event: ", type) }
        lines("data: ", data)
        bytes.append(10)
    }

    /// Writes an event with these bytes.
    public mutating func event(_ data: [UInt8], type: String? = nil, id: String? = nil) throws(HTTPError) {
        try event(data[...], type: type, id: id)
    }

    /// Writes an event with this text.
    public mutating func event(_ text: String, type: String? = nil, id: String? = nil) throws(HTTPError) {
        try event(Array(text.utf8)[...], type: type, id: id)
    }

    /// Writes a comment, which readers ignore: an empty one every 15 to 30 seconds keeps proxies from closing.
    public mutating func comment(_ text: String = "") {
        lines(": ", Array(text.utf8)[...])
        bytes.append(10)
    }

    /// Sets how long readers wait before they reconnect.
    public mutating func retry(_ time: Duration) {
        let (seconds, attoseconds) = time.components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        let milliseconds = overflow ? Int64.max : whole + attoseconds / 1_000_000_000_000_000
        line("retry: ", String(max(0, milliseconds)))
        bytes.append(10)
    }

    /// Returns the output and clears it.
    public mutating func take() -> [UInt8] {
        var taken: [UInt8] = []
        swap(&taken, &bytes)
        return taken
    }

    private mutating func line(_ name: String, _ value: String) {
        bytes.append(contentsOf: name.utf8)
        bytes.append(contentsOf: value.utf8)
        bytes.append(10)
    }

    private mutating func lines(_ name: String, _ value: ArraySlice<UInt8>) {
        unsafe value.withUnsafeBytes { value in
            var ends = LineEnds()
            var start = 0
            while true {
                let end = unsafe ends.next(in: value, from: start)
                bytes.append(contentsOf: name.utf8)
                unsafe bytes.append(contentsOf: value[start..<end])
                bytes.append(10)
                guard end < value.count else { return }
                start = end + 1
                if unsafe value[end] == 13, start < value.count, unsafe value[start] == 10 { start += 1 }
            }
        }
    }
}
