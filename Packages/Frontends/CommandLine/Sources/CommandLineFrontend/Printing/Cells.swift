import Capabilities
import JSON
import TerminalKit

/// Single values as a person reads them. Everything from outside is neutralised here, before it is drawn.
enum Cells {
    static func title(_ property: Schema.Property) -> String {
        String(property.name.map { $0 == "_" ? " " : $0 }).uppercased()
    }

    static func isNumber(_ schema: Schema) -> Bool {
        switch schema.unwrapped {
        case .integer, .number, .size: true
        default: false
        }
    }

    /// Whether there is nothing to show.
    static func isEmpty(_ value: JSON?) -> Bool {
        guard let value else { return true }
        return value.isNull || value.string?.isEmpty == true || value.array?.isEmpty == true
            || value.object?.isEmpty == true
    }

    static func styled(_ value: JSON, _ schema: Schema, _ role: Schema.Role = .plain) -> StyledText {
        let text = text(value, schema)
        switch role {
        case .state: return StyledText(text, style(ofState: text))
        case .name: return StyledText(text, Style(bold: true))
        case .plain, .detail: return StyledText(text)
        }
    }

    /// The value without style.
    static func text(_ value: JSON, _ schema: Schema) -> String {
        switch schema.unwrapped {
        case .size:
            if let bytes = value.int { return ByteCount(bytes).words }
        case .time:
            // Programs get the fraction; to people it is noise.
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

    /// Success, work under way and trouble look different; the words stay the same without colour.
    private static func style(ofState state: String) -> Style {
        switch state {
        case "ok", "done", "valid", "active", "trusted", "signed-in": Style(.accent)
        case "starting", "running", "stopping": Style(.ring)
        case "failed", "error", "damaged", "denied", "refused", "expired", "revoked": Style(.destructive, bold: true)
        case "degraded", "warning", "expiring": Style(.primary, bold: true)
        default: Style(.mutedForeground)
        }
    }
}
