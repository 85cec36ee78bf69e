import Capabilities
public import JSON
public import MCPKit

/// What a tool says of itself, looked at with the eyes of somebody who does not trust it.
public enum ToolText {
    /// The names of this program's own tools that a server could want to be mistaken for.
    public static let ownNames = ["bash.run", "read_file", "write_file", "edit_file"]

    /// What the person should see before approving the tool: characters that hide something, and names that look like others.
    ///
    /// - Parameter others: the names of the other tools and programs that it could be mistaken for.
    public static func warnings(_ tool: MCPTool, of server: String, among others: [String]) -> [String] {
        var warnings: [String] = []
        let texts = [tool.name, tool.title ?? "", tool.summary ?? "", tool.input.text()]
        if texts.contains(where: hasHidden) {
            warnings.append("its description has characters that are not shown, which a model reads all the same")
        }
        let skeleton = skeleton(tool.name)
        if let other = others.first(where: { $0 != tool.name && Self.skeleton($0) == skeleton }) {
            warnings.append("its name looks like \(PlainText.escape(other).quotedForMessage)")
        } else if tool.name.unicodeScalars.contains(where: { !$0.isASCII }) {
            warnings.append("its name has letters of another script")
        }
        return warnings
    }

    /// Whether a text has characters that a reader cannot see.
    static func hasHidden(_ text: String) -> Bool { text.unicodeScalars.contains(where: isHidden) }

    /// The text without characters that a reader cannot see, so that a model is told no more than the person is shown.
    public static func visible(_ text: String) -> String {
        guard hasHidden(text) else { return text }
        var shown = String.UnicodeScalarView()
        shown.append(contentsOf: text.unicodeScalars.filter { !isHidden($0) })
        return String(shown)
    }

    /// Marks of direction, joiners, tags and variation selectors.
    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x200B...0x200F, 0x202A...0x202E, 0x2060...0x2064, 0x2066...0x206F, 0xFEFF, 0x00AD, 0x180E,
            0xFE00...0xFE0F, 0xE0000...0xE0FFF:
            true
        default: false
        }
    }

    /// The name without what makes look-alikes differ.
    static func skeleton(_ name: String) -> String {
        var result = ""
        for scalar in name.lowercased().unicodeScalars {
            if let known = confusable[scalar] {
                result.unicodeScalars.append(known)
            } else if scalar.isASCII {
                switch scalar {
                case "_", "-", ".", " ": break
                case "0": result += "o"
                case "1", "l": result += "i"
                default: result.unicodeScalars.append(scalar)
                }
            } else if !hasHidden(String(scalar)) {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// The Cyrillic and Greek letters that look like Latin ones.
    private static let confusable: [Unicode.Scalar: Unicode.Scalar] = [
        "а": "a", "е": "e", "о": "o", "р": "p", "с": "c", "у": "y", "х": "x", "і": "i", "ѕ": "s", "ј": "j", "һ": "h",
        "ԁ": "d", "ԛ": "q", "ԝ": "w", "м": "m", "т": "t", "к": "k", "в": "b", "н": "h", "г": "r", "ο": "o", "α": "a",
        "ε": "e", "ι": "i", "κ": "k", "ν": "v", "ρ": "p", "τ": "t", "υ": "u", "χ": "x", "ß": "b",
    ]

    /// What has changed since the person approved the tool, line by line; nil if nothing has.
    public static func change(from approved: JSON, to now: JSON) -> String? {
        guard approved != now else { return nil }
        let (old, new) = (lines(approved), lines(now))
        let (oldSet, newSet) = (Set(old), Set(new))
        let removed = old.filter { !newSet.contains($0) }.map { "- \($0)" }
        let added = new.filter { !oldSet.contains($0) }.map { "+ \($0)" }
        return (removed + added).prefix(40).joined(separator: "\n")
    }

    private static func lines(_ json: JSON) -> [String] {
        json.text(.pretty).split(separator: "\n").map { PlainText.escape(String($0), limit: 400) }
    }
}
