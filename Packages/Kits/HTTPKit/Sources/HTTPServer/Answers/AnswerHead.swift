import Glibc
import HTTPCore
import Synchronization

/// Writes the status line and header lines.
struct AnswerHead {
    var status: HTTPStatus
    var headers: HTTPHeaders
    var framing: Framing
    var closes: Bool
    /// Whether the client speaks HTTP/1.0, which keeps a connection only if the response says so.
    var isOldClient: Bool

    enum Framing: Equatable {
        /// The status allows no body.
        case bare
        case length(Int)
        case chunked
        /// The body ends with the connection, for clients that do not support chunks.
        case untilClose
    }

    /// Throws with the name of a header whose value would start another line.
    func write(into bytes: inout [UInt8], _ date: DateLine) throws(InvalidHeader) {
        if status == .ok {
            bytes.append(contentsOf: "HTTP/1.1 200 OK\r\n".utf8)
        } else {
            bytes.append(contentsOf: "HTTP/1.1 \(status.code) \(status.reason)\r\n".utf8)
        }
        date.append(to: &bytes)
        for (name, value) in headers {
            guard !name.isEmpty, name.utf8.allSatisfy(HTTPHeaders.isTokenByte),
                value.utf8.allSatisfy(HTTPHeaders.isValueByte), !isFraming(name)
            else { throw InvalidHeader(name: name) }
            bytes.append(contentsOf: name.utf8)
            bytes.append(contentsOf: ": ".utf8)
            bytes.append(contentsOf: value.utf8)
            bytes.append(contentsOf: "\r\n".utf8)
        }
        switch framing {
        case .bare, .untilClose: break
        case .length(let count): bytes.append(contentsOf: "Content-Length: \(count)\r\n".utf8)
        case .chunked: bytes.append(contentsOf: "Transfer-Encoding: chunked\r\n".utf8)
        }
        if closes {
            bytes.append(contentsOf: "Connection: close\r\n".utf8)
        } else if isOldClient {
            bytes.append(contentsOf: "Connection: keep-alive\r\n".utf8)
        }
        bytes.append(contentsOf: "\r\n".utf8)
    }

    /// Whether the header frames the body. The server writes these itself: two statements about where the body ends let
    /// readers see two different responses. A handler that forwards a response must leave them out.
    private func isFraming(_ name: String) -> Bool {
        switch name.utf8.count {
        case 10: ![101, 426].contains(status.code) && HTTPHeaders.isSame(name, "Connection")
        case 14: HTTPHeaders.isSame(name, "Content-Length")
        case 17: HTTPHeaders.isSame(name, "Transfer-Encoding")
        default: false
        }
    }

    struct InvalidHeader: Error {
        let name: String
    }
}

/// Formats times for header lines: `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HTTPDate {
    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    static func text(secondsSince1970 seconds: Int) -> String {
        var time = time_t(seconds)
        var parts = unsafe tm()
        guard unsafe gmtime_r(&time, &parts) != nil else { return text(secondsSince1970: 0) }
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        // `tm` counts as unsafe because of its zone name, which is not used.
        let (hour, minute, second) = unsafe (parts.tm_hour, parts.tm_min, parts.tm_sec)
        let (weekday, day, month, year) = unsafe (parts.tm_wday, parts.tm_mday, parts.tm_mon, parts.tm_year)
        let date = "\(days[Int(weekday) % 7]), \(two(day)) \(months[Int(month) % 12]) \(1900 + year)"
        return "\(date) \(two(hour)):\(two(minute)):\(two(second)) GMT"
    }
}

/// The `Date` line, formatted once a second for all responses.
final class DateLine: Sendable {
    private let state = Mutex((second: -1, line: [UInt8]()))

    func append(to bytes: inout [UInt8]) {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME_COARSE, &now)
        state.withLock { state in
            if state.second != now.tv_sec {
                state = (now.tv_sec, Array("Date: \(HTTPDate.text(secondsSince1970: now.tv_sec))\r\n".utf8))
            }
            bytes.append(contentsOf: state.line)
        }
    }
}
