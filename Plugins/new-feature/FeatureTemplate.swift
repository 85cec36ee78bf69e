import Foundation

/// The template of a feature package, named Weather. A new feature differs in that name, and in the parts that it has.
///
/// A line `//# http` in the template begins lines that only a feature with that part has, up to the next such line. `a|b`
/// is for one of several parts, `a&b` for all of them, `!a` for features without it, and nothing for all features.
struct FeatureTemplate {
    /// What a new feature can have besides an action and a setting.
    static let parts = ["background", "http", "screen", "secret", "storage"]

    private let folder: URL

    init(_ folder: URL) {
        self.folder = folder
    }

    /// The files of the package with another name and these parts.
    func files(for name: FeatureName, with parts: Set<String>) throws -> [TextFile] {
        let rename = { (text: String) in
            text.replacingOccurrences(of: "Weather", with: name.description)
                .replacingOccurrences(of: "weather", with: name.id)
                .replacingOccurrences(of: "WEATHER", with: name.id.uppercased())
        }
        return try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted().compactMap { path in
            let source = folder.appending(path: path)
            guard try source.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else { return nil }
            let text = Self.text(try TextFile(path: path, in: folder).text, with: parts)
            return text.allSatisfy(\.isWhitespace) ? nil : TextFile(path: rename(path), text: rename(text))
        }
    }

    /// The lines for a feature with these parts.
    private static func text(_ text: String, with parts: Set<String>) -> String {
        var isKept = true
        let lines = text.components(separatedBy: "\n").filter { line in
            let words = line.trimmingCharacters(in: .whitespaces)
            guard words.hasPrefix("//#") else { return isKept }
            isKept = holds(words.dropFirst(3).trimmingCharacters(in: .whitespaces), with: parts)
            return false
        }
        return lines.joined(separator: "\n")
    }

    private static func holds(_ condition: String, with parts: Set<String>) -> Bool {
        condition.isEmpty
            || condition.split(separator: "|").contains { all in
                all.split(separator: "&").allSatisfy { part in
                    part.hasPrefix("!") ? !parts.contains(String(part.dropFirst())) : parts.contains(String(part))
                }
            }
    }
}
