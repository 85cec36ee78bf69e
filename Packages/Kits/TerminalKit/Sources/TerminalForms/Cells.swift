public import Capabilities
public import JSON
public import TerminalKit

/// Formats single values for a person. Text from outside is sanitised here, before it is drawn.
public enum Cells {
    /// The label of a member of a single record.
    public static func label(_ property: Schema.Property) -> String {
        if isSeconds(property) { return "took" }
        // The values say the currency.
        let name = property.name.hasSuffix("_usd") ? String(property.name.dropLast(4)) : property.name
        return String(name.map { $0 == "_" ? " " : $0 })
    }

    /// The title of a column or a table.
    public static func title(_ property: Schema.Property) -> String { label(property).uppercased() }

    /// Whether the value is a number, which is aligned at its end.
    public static func isNumber(_ schema: Schema) -> Bool {
        switch schema.unwrapped {
        case .integer, .number, .size: true
        default: false
        }
    }

    /// Whether the value is text that may continue on several lines; times, numbers and choices may not.
    public static func mayWrap(_ schema: Schema) -> Bool {
        switch schema.unwrapped {
        case .integer, .number, .size, .time, .duration, .boolean, .choice: false
        default: true
        }
    }

    /// Whether a text is a generated identifier, such as `01a204ea-3e39-73e8-b3c0-7f718725d863`.
    public static func isIdentifier(_ value: JSON?) -> Bool {
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
    public static func isEmpty(_ value: JSON?) -> Bool {
        guard let value else { return true }
        return value.isNull || value.string?.isEmpty == true || value.array?.isEmpty == true
            || value.object?.isEmpty == true
    }

    /// A member of a record. `isBrief` if the value is one of many in a column.
    public static func styled(
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
        case .state: return StyledText(text, StateLook(of: text).style)
        case .name: return StyledText(text, Style(bold: true))
        case .plain, .minor, .detail: return StyledText(text)
        }
    }

    /// The value without style.
    public static func text(_ value: JSON, _ schema: Schema) -> String {
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
}
