import Capabilities

/// The five fields of a crontab, in systemd's words.
struct CronFields {
    private let fields: [String]

    init(_ text: String) throws(RunnerError) {
        fields = text.split(whereSeparator: \.isWhitespace).map(String.init)
        let allowed = "0123456789*,-/"
        guard fields.count == 5, fields.allSatisfy({ field in field.allSatisfy { allowed.contains($0) } }) else {
            throw .schedule("'\(PlainText.escape(text))' has to be five fields of numbers, *, lists, ranges and steps")
        }
    }

    var line: String { fields.joined(separator: " ") }

    /// The same as `OnCalendar=` takes it.
    func calendar() throws(RunnerError) -> String {
        guard fields[2] == "*" || fields[4] == "*" else {
            throw .schedule(
                "a crontab that names days of the month and of the week means either, which systemd cannot say")
        }
        let time = "\(values(fields[1], first: 0)):\(values(fields[0], first: 0)):00"
        let date = "*-\(values(fields[3], first: 1))-\(values(fields[2], first: 1))"
        return (fields[4] == "*" ? "" : "\(try days(fields[4])) ") + "\(date) \(time)"
    }

    private func values(_ field: String, first: Int) -> String {
        field.split(separator: ",").map { part in
            let (range, step) = Self.parts(part)
            let start = range == "*" ? (step == nil ? "*" : String(first)) : range.replacing("-", with: "..")
            return step.map { "\(start)/\($0)" } ?? start
        }.joined(separator: ",")
    }

    private func days(_ field: String) throws(RunnerError) -> String {
        let names = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
        var found: [String] = []
        for part in field.split(separator: ",") {
            let (range, step) = Self.parts(part)
            let ends = range == "*" ? [0, 6] : range.split(separator: "-").compactMap { Int($0) }
            guard let first = ends.first, let last = ends.last, ends.count <= 2, first <= last, last < names.count,
                let step = step == nil ? 1 : Int(step ?? ""), step > 0
            else { throw .schedule("'\(PlainText.escape(field))' names no days of the week") }
            for day in stride(from: first, through: last, by: step) where !found.contains(names[day]) {
                found.append(names[day])
            }
        }
        return found.joined(separator: ",")
    }

    private static func parts(_ part: Substring) -> (range: String, step: String?) {
        let pieces = part.split(separator: "/", maxSplits: 1)
        return (pieces.first.map(String.init) ?? "", pieces.count > 1 ? String(pieces[1]) : nil)
    }
}
