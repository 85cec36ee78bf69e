import FileKit
import Testing

/// The commands of the README, and what it shows of their output.
enum Readme {
    /// A block of commands, or a single command in a sentence. Its commands have a home and a folder in common.
    struct Passage: Sendable, CustomTestStringConvertible {
        /// The folder of the repository in which the commands are run; empty for its root.
        let folder: String
        var lines: [Line]

        var testDescription: String { lines.map(\.command).joined(separator: "; ") }
    }

    /// A line with a command.
    struct Line: Sendable {
        /// The text as it stands in the README, with its comment.
        var text: String
        /// The lines of output that the README shows.
        var shown: [String] = []
        /// The exit code that the README shows as `(exit code 3)`.
        var code: Int32 = 0

        /// The text without its comment.
        var command: String {
            String(text.prefixMatch(of: /.*?(?=\s+#\s|\s*$)/)?.output ?? text[...])
        }
    }

    static let root = #filePath.split(separator: "/").dropLast(4).map { "/\($0)" }.joined()

    /// All passages, in the order of the README.
    static func passages() throws -> [Passage] {
        let parts = try parts()
        var passages: [Passage] = []
        for (index, part) in parts.enumerated() {
            guard index % 2 == 1 else {
                passages += commands(inSentences: part)
                continue
            }
            switch language(part) {
            case "sh": passages.append(Passage(folder: "", lines: commands(part)))
            case "console":
                let next = index + 1 < parts.count ? parts[index + 1] : ""
                passages.append(Passage(folder: folder(namedIn: next), lines: transcript(part)))
            default: break
            }
        }
        return passages.filter { !$0.lines.isEmpty }
    }

    /// The languages of the blocks; empty for a block without one.
    static func languages() throws -> [String] {
        try parts().enumerated().filter { $0.offset % 2 == 1 }.map { language($0.element) }
    }

    /// Sentences and blocks in turn; a block begins with its language.
    private static func parts() throws -> [Substring] {
        let text = String(decoding: try Files.read("\(root)/README.md", limit: 1 << 20), as: UTF8.self)
        return text.split(separator: "\n```", omittingEmptySubsequences: false)
    }

    private static func language(_ block: Substring) -> String { String(block.prefix { !$0.isNewline }) }

    private static func body(_ block: Substring) -> [Substring] { block.split(separator: "\n").dropFirst().map { $0 } }

    /// The commands of a block, one a line. A backslash at the end of a line continues it.
    private static func commands(_ block: Substring) -> [Line] {
        var lines: [Line] = []
        for line in body(block) where !line.hasPrefix("#") {
            if let last = lines.last, last.text.hasSuffix("\\") {
                lines[lines.count - 1].text += "\n\(line)"
            } else {
                lines.append(Line(text: String(line)))
            }
        }
        return lines
    }

    /// The commands of a transcript, which begin with a dollar sign, each with the output below it. A line with only an
    /// ellipsis stands for lines that are left out.
    private static func transcript(_ block: Substring) -> [Line] {
        var lines: [Line] = []
        for line in body(block) where line != "…" {
            if line.hasPrefix("$ ") {
                lines.append(Line(text: String(line.dropFirst(2))))
            } else if let code = line.wholeMatch(of: /\(exit code (\d+)\)/) {
                lines[lines.count - 1].code = Int32(code.output.1) ?? 0
            } else if !lines.isEmpty {
                lines[lines.count - 1].shown.append(String(line))
            }
        }
        return lines
    }

    /// The commands that sentences contain as code, each a passage.
    private static func commands(inSentences part: Substring) -> [Passage] {
        part.replacing("\n", with: " ").matches(of: /`((?:martlet|make|swift|git|curl)(?: [^`]*)?)`/).map {
            Passage(folder: "", lines: [Line(text: String($0.output.1))])
        }
    }

    /// The folder that the first paragraph names.
    private static func folder(namedIn part: Substring) -> String {
        let paragraph = part.split(separator: "\n\n").first ?? ""
        let names = paragraph.matches(of: /`([\w.\/-]+)`/).map { String($0.output.1) }
        return names.first { Files.exists("\(root)/\($0)") } ?? ""
    }
}
