import Glibc
import Synchronization

/// Times as header lines write them: `Sun, 06 Nov 1994 08:49:37 GMT`.
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
        // `tm` counts as unsafe because of the zone's name in it, which is not touched.
        let (hour, minute, second) = unsafe (parts.tm_hour, parts.tm_min, parts.tm_sec)
        let (weekday, day, month, year) = unsafe (parts.tm_wday, parts.tm_mday, parts.tm_mon, parts.tm_year)
        let date = "\(days[Int(weekday) % 7]), \(two(day)) \(months[Int(month) % 12]) \(1900 + year)"
        return "\(date) \(two(hour)):\(two(minute)):\(two(second)) GMT"
    }
}

/// The `Date` line, made once a second for all answers.
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
