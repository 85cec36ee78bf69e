import Capabilities
import FileKit
import JSON
import TerminalKit

/// Formats a result for a person: a table for records, a list for one record, otherwise the bare value.
struct TextForm {
    let level: ColorLevel
    let width: Int?
    /// Provides the theme; called only if the text has colours.
    var theme: @Sendable () -> Theme = { .dark }
    /// Formats times relative to now and in local time; nil to print them as programs get them.
    var clock: LocalClock?

    func text(_ value: JSON, _ schema: Schema) -> String {
        text(lines(value, schema))
    }

    /// The lines as the terminal gets them.
    func text(_ lines: [StyledText]) -> String {
        if lines.isEmpty { return "" }
        let isColored = level != .none && lines.contains { $0.runs.contains { $0.style.token != nil } }
        let theme = isColored ? theme() : .dark
        return lines.map { $0.rendered(level: level, theme: theme) }.joined(separator: "\n") + "\n"
    }

    private func lines(_ value: JSON, _ schema: Schema) -> [StyledText] {
        if case .array(let element) = schema.unwrapped, case .record(let properties) = element.unwrapped {
            return table(value.array ?? [], properties)
        }
        if case .record(let properties) = schema.unwrapped, let object = value.object {
            return list(object, properties)
        }
        if let items = value.array,
            schema.element.map(Self.isScalar) ?? items.allSatisfy({ $0.array == nil && $0.object == nil })
        {
            return items.map { StyledText(Cells.text($0, schema.element ?? .any)) }
        }
        if value.isNull { return [] }
        if value.array != nil || value.object != nil {
            return value.text(.pretty).split(separator: "\n", omittingEmptySubsequences: false)
                .map { StyledText(Sanitizer.sanitize(String($0))) }
        }
        // A text of several lines, such as a help page, is printed unchanged.
        var text = Cells.text(value, schema)[...]
        if text.hasSuffix("\n") { text = text.dropLast() }
        return text.split(separator: "\n", omittingEmptySubsequences: false).map { StyledText(String($0)) }
    }

    private static func isScalar(_ schema: Schema) -> Bool {
        switch schema.unwrapped {
        case .array, .map, .record: false
        default: true
        }
    }

    /// Leaves out details and columns that are empty in every row.
    func table(_ rows: [JSON], _ properties: [Schema.Property]) -> [StyledText] {
        if rows.isEmpty { return [] }
        let shown = properties.filter { property in
            property.role != .detail && rows.contains { !Cells.isEmpty($0[property.name]) }
        }
        let title = shown.firstIndex { $0.role == .plain && Cells.mayWrap($0.schema) }
        var table = Table(
            shown.enumerated().map { index, property in
                let isIdentifier = rows.contains { Cells.isIdentifier($0[property.name]) }
                return TableColumn(
                    Cells.title(property), alignment: Cells.isNumber(property.schema) ? .trailing : .leading,
                    mayWrap: [.plain, .minor].contains(property.role) && Cells.mayWrap(property.schema)
                        && !isIdentifier,
                    need: index == title
                        ? .always : Self.need(of: property, isIdentifier: isIdentifier, fromRight: shown.count - index))
            })
        for row in rows {
            table.append(shown.map { Cells.styled(row[$0.name] ?? .null, $0, clock, isBrief: true) })
        }
        return table.lines(width: width) { titles in
            "not shown for lack of space: \(titles.joined(separator: ", ")); --json shows all"
        }
    }

    /// What a table drops first if it is too wide: switches, then numbers, then ids of other things, then the rest,
    /// each from the right. Names, states and times stay.
    private static func need(
        of property: Schema.Property, isIdentifier: Bool, fromRight place: Int
    ) -> TableColumn.Need {
        switch property.role {
        case .name, .state, .detail: return .always
        case .minor: return .ifThereIsRoom
        case .plain: break
        }
        switch property.schema.unwrapped {
        case .time: return .always
        case .boolean: return .ifItFits(place)
        case .integer, .number, .size, .duration: return .ifItFits(100 + place)
        default: return .ifItFits((isIdentifier ? 200 : 300) + place)
        }
    }

    /// Plain members first. Then each list of records, and each object of any shape, as a separate table.
    func list(_ object: JSONObject, _ properties: [Schema.Property]) -> [StyledText] {
        var list = KeyValueList()
        var tables: [[StyledText]] = []
        for property in properties {
            guard let value = object[property.name], !Cells.isEmpty(value) else { continue }
            if case .array(let element) = property.schema.unwrapped, case .record(let inner) = element.unwrapped {
                tables.append(
                    [StyledText(Cells.title(property), Style(.mutedForeground))] + table(value.array ?? [], inner))
            } else if property.schema.unwrapped == .any, let members = value.object {
                // The outputs of a bundle: shows texts as they read, without JSON quotes and escapes.
                var inner = KeyValueList()
                for (name, member) in members { inner.append(name, StyledText(Cells.text(member, .any))) }
                tables.append([StyledText(Cells.title(property), Style(.mutedForeground))] + inner.lines(width: width))
            } else {
                list.append(Cells.label(property), Cells.styled(value, property, clock, isBrief: false))
            }
        }
        var lines = list.lines(width: width)
        for table in tables {
            if !lines.isEmpty { lines.append("") }
            lines += table
        }
        return lines
    }
}

/// Formats single values for a person. Text from outside is sanitised here, before it is drawn.
enum Cells {
    /// The label of a member of a single record.
    static func label(_ property: Schema.Property) -> String {
        if isSeconds(property) { return "took" }
        // The values say the currency.
        let name = property.name.hasSuffix("_usd") ? String(property.name.dropLast(4)) : property.name
        return String(name.map { $0 == "_" ? " " : $0 })
    }

    /// The title of a column or a table.
    static func title(_ property: Schema.Property) -> String { label(property).uppercased() }

    static func isNumber(_ schema: Schema) -> Bool {
        switch schema.unwrapped {
        case .integer, .number, .size: true
        default: false
        }
    }

    /// Whether the value is text that may continue on several lines; times, numbers and choices may not.
    static func mayWrap(_ schema: Schema) -> Bool {
        switch schema.unwrapped {
        case .integer, .number, .size, .time, .duration, .boolean, .choice: false
        default: true
        }
    }

    /// Whether a text is a generated identifier, such as `01a204ea-3e39-73e8-b3c0-7f718725d863`.
    static func isIdentifier(_ value: JSON?) -> Bool {
        guard let text = value?.string else { return false }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return parts.map(\.count) == [8, 4, 4, 4, 12] && parts.allSatisfy { $0.allSatisfy(\.isHexDigit) }
    }

    /// Whether the value is a duration in seconds, judged by its name.
    private static func isSeconds(_ property: Schema.Property) -> Bool {
        property.name == "seconds" && isNumber(property.schema)
    }

    /// Whether the value is an amount of money, judged by the end of its name.
    private static func isMoney(_ property: Schema.Property) -> Bool {
        property.name.hasSuffix("_usd") && isNumber(property.schema)
    }

    /// Whether there is nothing to show.
    static func isEmpty(_ value: JSON?) -> Bool {
        guard let value else { return true }
        return value.isNull || value.string?.isEmpty == true || value.array?.isEmpty == true
            || value.object?.isEmpty == true
    }

    /// A member of a record. `isBrief` if the value is one of many in a column.
    static func styled(
        _ value: JSON, _ property: Schema.Property, _ clock: LocalClock?, isBrief: Bool
    ) -> StyledText {
        var text = text(value, property.schema)
        if isSeconds(property), let seconds = value.double {
            text = Duration.roundedWords(seconds: seconds)
        } else if property.schema.unwrapped == .duration, let time = value.string.flatMap(Duration.init(words:)) {
            text = time.roundedWords
        } else if isMoney(property), let dollars = value.double,
            let nanodollars = Int(exactly: (dollars * 1e9).rounded())
        {
            text = Cost(nanodollars: nanodollars).words
        } else if property.schema.unwrapped == .time, let clock,
            let time = value.string.flatMap(Timestamp.init(iso8601:))
        {
            // An entry named by its time, such as a line of a log, needs the exact time instead of its age.
            text = property.role == .name ? clock.local(time) : isBrief ? clock.brief(time) : clock.full(time)
        }
        switch property.role {
        case .state: return StyledText(text, style(ofState: text))
        case .name: return StyledText(text, Style(bold: true))
        case .plain, .minor, .detail: return StyledText(text)
        }
    }

    /// The value without style.
    static func text(_ value: JSON, _ schema: Schema) -> String {
        switch schema.unwrapped {
        case .size:
            if let bytes = value.int { return ByteCount(bytes).words }
        case .time:
            // Programs get the fraction of a second; for people it is noise.
            if let text = value.string, let dot = text.firstIndex(of: "."), text.hasSuffix("Z") {
                return Sanitizer.sanitize(text[..<dot] + "Z")
            }
        case .boolean:
            if let flag = value.bool { return flag ? "yes" : "no" }
        case .array(let element):
            if let items = value.array { return items.map { text($0, element) }.joined(separator: ", ") }
        case .map(let element):
            if let members = value.object {
                return members.map { "\(Sanitizer.sanitize($0.key)) \(text($0.value, element))" }.joined(
                    separator: ", ")
            }
        default: break
        }
        if value.isNull { return "" }
        if let string = value.string { return Sanitizer.sanitize(string) }
        return Sanitizer.sanitize(value.text())
    }

    /// Success, work in progress and problems look different; the words are the same without colour.
    static func style(ofState state: String) -> Style {
        switch state {
        case "ok", "done", "valid", "active", "trusted", "signed-in": Style(.accent)
        case "starting", "running", "stopping": Style(.ring)
        case "failed", "error", "damaged", "denied", "refused", "expired", "revoked": Style(.error, bold: true)
        case "degraded", "warning", "expiring": Style(.warning, bold: true)
        default: Style(.mutedForeground)
        }
    }
}

/// Formats times for a person who reads them now: as an age, and in local time.
struct LocalClock: Sendable {
    let now: Timestamp

    /// For a table: `3 min ago`, `in 2 h`, or the date if that is more than a week away.
    func brief(_ time: Timestamp) -> String { relative(time) ?? local(time, withSeconds: false) }

    /// For a single value: the time and its age.
    func full(_ time: Timestamp) -> String { local(time) + (relative(time).map { " (\($0))" } ?? "") }

    /// `2026-11-22 14:03:12`, in the person's own zone.
    func local(_ time: Timestamp, withSeconds: Bool = true) -> String {
        LocalTime.words(time, withSeconds: withSeconds)
    }

    private func relative(_ time: Timestamp) -> String? {
        let seconds = Double(now.microseconds - time.microseconds) / 1_000_000
        let size = abs(seconds)
        let words: String
        switch size {
        case ..<5: return seconds < 0 ? "now" : "just now"
        case ..<60: words = "\(Int(size)) s"
        case ..<3_600: words = "\(Int(size / 60)) min"
        case ..<86_400: words = "\(Int(size / 3_600)) h"
        case ..<172_800: words = "1 day"
        case ..<604_800: words = "\(Int(size / 86_400)) days"
        default: return nil
        }
        return seconds < 0 ? "in \(words)" : "\(words) ago"
    }
}
