import Glibc
public import JSON

/// A moment in time, exact to the microsecond, written in ISO 8601 with UTC.
///
/// Replaces Foundation's `Date`, because linking Foundation costs more start-up time than the whole host.
public struct Timestamp: InputValue, OutputValue, Hashable, Comparable {
    /// Microseconds since 1970-01-01T00:00:00Z.
    public var microseconds: Int64

    /// The inverse of `microseconds`, as databases store it.
    public init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    public static var schema: Schema { .time }
    public var json: JSON { .string(iso8601) }

    public init(json: JSON) throws(ValueError) {
        guard let value = json.string.flatMap(Timestamp.init(iso8601:)) else {
            throw ValueError("needs a time such as 2026-11-20T09:30:00Z")
        }
        self = value
    }

    /// `2026-11-20T09:30:00Z`, with a fraction only where there is one.
    public var iso8601: String {
        let seconds = Self.floor(microseconds, 1_000_000)
        let days = Self.floor(seconds, 86_400)
        let clock = seconds - days * 86_400
        let (year, month, day) = Self.civil(fromDays: days)
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        var text = "\(Self.padded(year, 4))-\(two(month))-\(two(day))"
        text += "T\(two(clock / 3600)):\(two(clock / 60 % 60)):\(two(clock % 60))"
        // For the earliest timestamps the start of the second is out of range, so the product may wrap and come back.
        let fraction = microseconds &- seconds &* 1_000_000
        if fraction != 0 {
            var digits = Self.padded(fraction, 6)
            while digits.hasSuffix("0") { digits.removeLast() }
            text += ".\(digits)"
        }
        return text + "Z"
    }

    /// The same in whole seconds and without signs, `20261120T093000`, for names of files and ids that sort by time.
    public var compact: String { String(iso8601.prefix(19).filter { $0 != "-" && $0 != ":" }) }

    /// Reads a date and time with `Z`, an offset, or no zone (taken as UTC, as several servers mean it).
    public init?(iso8601 text: String) {
        var rest = Array(text.utf8)[...]
        func number(_ digits: Int) -> Int64? {
            guard rest.count >= digits else { return nil }
            var value: Int64 = 0
            for byte in rest.prefix(digits) {
                guard (48...57).contains(byte) else { return nil }
                value = value * 10 + Int64(byte - 48)
            }
            rest = rest.dropFirst(digits)
            return value
        }
        func skip(_ allowed: String) -> Bool {
            guard let byte = rest.first, allowed.utf8.contains(byte) else { return false }
            rest = rest.dropFirst()
            return true
        }
        guard let year = number(4), skip("-"), let month = number(2), skip("-"), let day = number(2), skip("Tt "),
            let hour = number(2), skip(":"), let minute = number(2), skip(":"), let second = number(2),
            (1...12).contains(month), day >= 1, day <= Self.days(inMonth: month, of: year), hour < 24, minute < 60,
            second <= 60
        else { return nil }
        var fraction: Int64 = 0
        if skip(".,") {
            guard let first = rest.first, (48...57).contains(first) else { return nil }
            var scale: Int64 = 100_000
            while let digit = number(1) {
                fraction += digit * scale
                scale /= 10
            }
        }
        var offset: Int64 = 0
        if let sign = rest.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") {
            rest = rest.dropFirst()
            guard let hours = number(2), hours < 24 else { return nil }
            _ = skip(":")
            guard let minutes = rest.isEmpty ? 0 : number(2), minutes < 60 else { return nil }
            offset = (hours * 60 + minutes) * 60 * (sign == UInt8(ascii: "+") ? 1 : -1)
        } else {
            _ = skip("Zz")
        }
        guard rest.isEmpty else { return nil }
        let days = Self.days(fromYear: year, month: month, day: day)
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset
        self.init(microseconds: seconds * 1_000_000 + fraction)
    }

    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.microseconds < right.microseconds }

    /// A later moment, to the microsecond; an earlier one if the duration is negative. Times come from other programs, so
    /// that one beyond all dates is the last there is.
    public static func + (left: Timestamp, right: Duration) -> Timestamp {
        let (seconds, attoseconds) = right.components
        let change = Int128(seconds) * 1_000_000 + Int128(attoseconds / 1_000_000_000_000)
        return Timestamp(microseconds: Int64(clamping: Int128(left.microseconds) + change))
    }

    /// The time from another moment to this one.
    public static func - (left: Timestamp, right: Timestamp) -> Duration {
        // A duration has room for more than the time between the first moment and the last.
        .microseconds(left.microseconds) - .microseconds(right.microseconds)
    }
}

extension Timestamp {
    /// The current time by the system's clock. What can be tested takes its time from outside, and this is the default.
    public static func now() -> Timestamp {
        // The members of `timespec` are visible only through another module in some builds, so it is read as what it is:
        // two numbers.
        var time = (seconds: 0, nanoseconds: 0)
        unsafe withUnsafeMutablePointer(to: &time) { time in
            // This cannot fail: the clock always exists and the pointer is valid.
            _ = unsafe clock_gettime(
                CLOCK_REALTIME, UnsafeMutableRawPointer(time).assumingMemoryBound(to: timespec.self))
        }
        return Timestamp(microseconds: Int64(time.seconds) * 1_000_000 + Int64(time.nanoseconds) / 1000)
    }
}

// MARK: The proleptic Gregorian calendar in whole numbers: years are counted from March, so that the leap day is last.

extension Timestamp {
    private static func floor(_ number: Int64, _ divisor: Int64) -> Int64 {
        number / divisor - (number % divisor < 0 ? 1 : 0)
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number.magnitude)
        return (number < 0 ? "-" : "") + String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    private static func days(inMonth month: Int64, of year: Int64) -> Int64 {
        let next = month == 12 ? (year + 1, 1) : (year, month + 1)
        return days(fromYear: next.0, month: next.1, day: 1) - days(fromYear: year, month: month, day: 1)
    }

    private static func days(fromYear year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = floor(shifted, 400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(fromDays days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = floor(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }
}

extension Timestamp {
    /// Reads a time as people type it: `2h` or `3d` (ago), `today`, `yesterday`, a day such as `2026-11-20`, or what
    /// `init(iso8601:)` reads. A day begins at midnight in the person's time zone.
    ///
    /// - Parameter offset: how far the person's time zone is ahead of UTC at a moment.
    public init?(words: String, now: Timestamp, offset: (Timestamp) -> Duration) {
        let word = words.lowercased()
        let today = Timestamp.days(of: now, offset)
        switch word {
        case "now": self = now
        case "today": self.init(day: today, offset)
        case "yesterday": self.init(day: today - 1, offset)
        default:
            if let time = Timestamp(iso8601: words) {
                self = time
            } else if let day = Timestamp(iso8601: words + "T00:00:00Z") {
                self.init(day: day.microseconds / Self.day, offset)
            } else if word.last?.isLetter == true, let ago = Duration(words: word), ago < .seconds(1 << 32) {
                self.init(microseconds: now.microseconds - Int64(ago / .microseconds(1)))
            } else {
                return nil
            }
        }
    }

    private static let day: Int64 = 86_400_000_000

    /// The number of the day in the person's time zone.
    private static func days(of time: Timestamp, _ offset: (Timestamp) -> Duration) -> Int64 {
        let local = (time + offset(time)).microseconds
        return local / day - (local % day < 0 ? 1 : 0)
    }

    /// The moment at which a day begins in the person's time zone, whose offset may differ from the present one.
    private init(day: Int64, _ offset: (Timestamp) -> Duration) {
        let midnight = Timestamp(microseconds: day * Self.day)
        let near = midnight + (.zero - offset(midnight))
        self = midnight + (.zero - offset(near))
    }
}
