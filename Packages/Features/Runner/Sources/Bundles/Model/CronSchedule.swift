import Capabilities

/// A schedule in crontab syntax: five fields, in which months and days may have names, or a word such as `@daily`.
public struct CronSchedule: Sendable, Hashable {
    /// The five fields in numbers, which every cron reads the same way.
    public let line: String
    /// The same for systemd, one `OnCalendar=` each. Any of them starts the bundle.
    public let calendars: [String]

    /// What is wrong with the text.
    public struct Problem: Error, Hashable {
        /// A sentence without a final stop, with the text quoted in it.
        public let message: String
    }

    private static let words = [
        "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
        "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
    ]

    /// Reads a crontab line or a word. Throws what is wrong with it, such as a day that no month has.
    public init(parsing text: String) throws(Problem) {
        let shown = PlainText.escape(text)
        var parts = text.split(whereSeparator: \.isWhitespace).map(String.init)
        if parts.count == 1, let word = parts.first, word.hasPrefix("@") {
            guard let fields = Self.words[word.lowercased()] else {
                let near = Suggestion.text(for: word, among: Self.words.keys.sorted())
                let known = Self.words.keys.sorted().joined(separator: ", ")
                throw Problem(message: "'\(shown)' is not a schedule; known words: \(known)\(near)")
            }
            parts = fields.split(separator: " ").map(String.init)
        }
        guard parts.count == 5 else {
            throw Problem(
                message: "'\(shown)' has \(parts.count) fields; a crontab line has five, such as '0 3 * * *', "
                    + "or is a word such as @daily")
        }
        let minute = try CronField(parts[0], "minute", 0...59)
        let hour = try CronField(parts[1], "hour", 0...23)
        let day = try CronField(parts[2], "day of the month", 1...31)
        let month = try CronField(parts[3], "month", 1...12, names: Self.months)
        let weekday = try CronField(parts[4], "day of the week", 0...7, names: Self.weekdays)
        line = [minute, hour, day, month, weekday].map(\.text).joined(separator: " ")

        let time = "\(hour.calendar):\(minute.calendar):00"
        let week = weekday.isEvery ? "" : Self.names(of: weekday) + " "
        // "If both fields are restricted (i.e., do not contain the '*' character), the command will be run when either
        // field matches the current time." (crontab(5))
        let isEither = !day.beginsWithStar && !weekday.beginsWithStar
        let lengths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        let hasDay = month.values.contains { month in day.values.contains { $0 <= lengths[month - 1] } }
        guard hasDay || isEither else { throw Problem(message: "'\(shown)' names a day that its months do not have") }
        let dates = hasDay ? ["\(isEither ? "" : week)*-\(month.calendar)-\(day.calendar) \(time)"] : []
        calendars = dates + (isEither ? ["\(week)*-\(month.calendar)-* \(time)"] : [])
    }

    private static let months = [
        "jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "oct": 10,
        "nov": 11, "dec": 12,
    ]
    private static let weekdays = ["sun": 0, "mon": 1, "tue": 2, "wed": 3, "thu": 4, "fri": 5, "sat": 6]

    /// `Mon,Wed`; both 0 and 7 are Sunday.
    private static func names(of field: CronField) -> String {
        let days = Set(field.values.map { $0 == 0 ? 7 : $0 })
        let names = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
        return days.sorted().map { names[$0 - 1] }.joined(separator: ",")
    }
}

/// A field of a crontab line: a list of numbers, ranges and steps.
private struct CronField {
    let beginsWithStar: Bool
    let text: String
    /// The field in `OnCalendar=` syntax.
    let calendar: String
    /// All numbers that it matches.
    let values: Set<Int>
    /// Whether it matches everything.
    var isEvery: Bool { text == "*" }

    init(
        _ field: String, _ what: String, _ bounds: ClosedRange<Int>, names: [String: Int] = [:]
    ) throws(CronSchedule.Problem) {
        func wrong(_ why: String) -> CronSchedule.Problem {
            CronSchedule.Problem(message: "the \(what) '\(PlainText.escape(field))' \(why)")
        }
        var texts: [String] = []
        var calendars: [String] = []
        var values: Set<Int> = []
        for part in field.split(separator: ",", omittingEmptySubsequences: false) {
            let pieces = part.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            let ends = pieces[0].split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
            let isStar = pieces[0] == "*"
            var numbers: [Int] = []
            for end in isStar ? [] : ends {
                guard let number = Self.number(end) ?? names[end.lowercased()] else {
                    let known = names.isEmpty ? "" : " or names such as \(names.keys.sorted()[0])"
                    throw wrong("must consist of numbers\(known), lists, ranges, steps and *")
                }
                guard bounds.contains(number) else {
                    throw wrong("must be from \(bounds.lowerBound) to \(bounds.upperBound)")
                }
                numbers.append(number)
            }
            // A week that ends on Sunday, as in MON-SUN.
            if numbers.count == 2, bounds.upperBound == 7, numbers[1] == 0, numbers[0] > 0 { numbers[1] = 7 }
            let (first, last) = (numbers.first ?? bounds.lowerBound, numbers.last ?? bounds.upperBound)
            guard first <= last else { throw wrong("has a range that ends before it begins") }
            var step = 1
            if pieces.count == 2 {
                guard let number = Self.number(pieces[1]), (1...bounds.upperBound).contains(number) else {
                    throw wrong("needs a step from 1 to \(bounds.upperBound)")
                }
                guard isStar || ends.count == 2 else { throw wrong("has a step without a range or * before it") }
                step = number
            }
            let suffix = step == 1 ? "" : "/\(step)"
            let range = numbers.count == 2 ? "\(first)-\(last)" : isStar ? "*" : "\(first)"
            texts.append(range + suffix)
            let meant = Array(stride(from: first, through: last, by: step))
            values.formUnion(meant)
            // systemd rejects a step that matches only one number.
            let start = isStar && step > 1 ? "\(first)" : range.replacing("-", with: "..")
            calendars.append(meant.count == 1 ? "\(first)" : start + suffix)
        }
        beginsWithStar = field.hasPrefix("*")
        text = texts.joined(separator: ",")
        // A list that contains a star matches everything.
        calendar = calendars.contains("*") ? "*" : calendars.joined(separator: ",")
        self.values = values
    }

    private static func number(_ text: Substring) -> Int? {
        text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int(text) : nil
    }
}
