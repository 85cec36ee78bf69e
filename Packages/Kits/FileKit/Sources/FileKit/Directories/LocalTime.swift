public import Capabilities
import Glibc

/// The local time, by `TZ` or the zone of this machine.
public enum LocalTime {
    /// The offset from UTC at a moment.
    public static func offset(at time: Timestamp) -> Duration {
        unsafe parts(of: time).map { unsafe .seconds($0.tm_gmtoff) } ?? .zero
    }

    /// `2026-11-22 14:03:12`.
    public static func words(_ time: Timestamp, withSeconds: Bool = true) -> String {
        guard let parts = unsafe parts(of: time) else { return time.iso8601 }
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let date = unsafe "\(Int(parts.tm_year) + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
        let clock = unsafe "\(two(parts.tm_hour)):\(two(parts.tm_min))"
        return unsafe "\(date) \(clock)" + (withSeconds ? ":\(two(parts.tm_sec))" : "")
    }

    private static func parts(of time: Timestamp) -> tm? {
        var seconds = time_t((Double(time.microseconds) / 1_000_000).rounded(.down))
        var parts = unsafe tm()
        // localtime_r does not have to read TZ itself.
        tzset()
        return unsafe localtime_r(&seconds, &parts) == nil ? nil : parts
    }
}
