import Capabilities
import FileKit
import HostKit
import Registry
import Testing
import WorkspaceSupport

@testable import CommandLineFrontend

/// What the documents say about commands and types, held against the sources.
@Suite("The documents", .timeLimit(.minutes(10)))
struct DocumentTests {
    private static func documents() throws -> [String] {
        let workspace = Workspace.current
        return try ["README.md"] + workspace.files(in: "docs", ending: ".md")
            + workspace.files(in: "Packages", ending: "/README.md")
    }

    @Test("Every command in the README and the guides exists, with the options that are shown")
    func commands() throws {
        let workbench = Product.workbench()
        let tree = CommandTree(workbench.registry.actions)
        let settings = SettingOption.all(workbench.host)
        let verbatim = VerbatimWords(workbench.host.composition.features.map(\.manifest))
        let now = Timestamp(microseconds: 1_764_000_000_000_000)
        var count = 0
        for document in try Self.documents() {
            for command in Commands.all(in: try Workspace.current.text(document)) where command.first != "weather" {
                let taken = CommonOptions.take(from: command, settings: settings, verbatim: verbatim)
                #expect(taken.failure == nil, "\(document): \(command.joined(separator: " "))")
                // The page of help, and what is only the program's name.
                guard !taken.words.isEmpty else { continue }
                if let screen = ScreenCommand(taken.words, workbench.registry) {
                    #expect(throws: Never.self, "\(document): martlet \(command.joined(separator: " "))") {
                        try ArgumentParser.parse(screen.rest, for: screen.action, now: now)
                    }
                    continue
                }
                #expect(throws: Never.self, "\(document): martlet \(command.joined(separator: " "))") {
                    guard case .action(let action, let rest) = try tree.match(taken.words) else { return }
                    _ = try ArgumentParser.parse(rest, for: action, now: now)
                }
                count += 1
            }
        }
        #expect(count >= 45)
    }

    @Test(
        "Every type that the walks and the architecture name exists",
        arguments: ["docs/WALKS.md", "docs/ARCHITECTURE.md"])
    func types(document: String) throws {
        let workspace = Workspace.current
        var declared: Set<Substring> = []
        for file in try ["Packages", "Apps"].flatMap({ try workspace.files(in: $0, ending: ".swift") }) {
            for match in try workspace.text(file).matches(
                of: /(?:struct|class|enum|actor|protocol|typealias|library\(name:|target\(name:|name:) "?(\w+)/)
            {
                declared.insert(match.output.1)
            }
        }
        let named = try workspace.text(document).matches(of: /`([A-Z]\w+)(?:[.`(<]|\.\w+`)/).map(\.output.1)
        #expect(named.count > 10)
        for name in Set(named) { #expect(declared.contains(name), "\(document) names \(name)") }
    }

    /// A line with only a folder is above each table. A row has a file and, at the beginning of its sentence, the type.
    @Test("Every file in the tables of the walks exists, and declares the type beside it")
    func files() throws {
        let workspace = Workspace.current
        var (folder, count) = (Substring(), 0)
        for line in try workspace.text("docs/WALKS.md").split(separator: "\n") {
            if let heading = line.wholeMatch(of: /`([\w\/]+)`/) { folder = heading.output.1 }
            guard let row = line.wholeMatch(of: /\| ([\w\/+]+\.swift) \| (.+) \|/) else { continue }
            let file = "\(folder)/\(row.output.1)"
            let type = try #require(row.output.2.prefixMatch(of: /`(\w+)`/), "\(file) has no type").output.1
            try #require(Files.exists("\(workspace.root)/\(file)"), "there is no \(file)")
            let declaration = try Regex("\\b(?:struct|class|enum|actor|protocol|extension|func|let) \(type)\\b")
            #expect(try workspace.text(file).contains(declaration), "\(file) has no \(type)")
            count += 1
        }
        #expect(count > 200)
    }
}

/// The commands in a document: lines of its blocks that begin with `martlet`, or have it after a pipe.
private enum Commands {
    static func all(in text: String) -> [[String]] {
        var commands: [[String]] = []
        var isInBlock = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                isInBlock.toggle()
                continue
            }
            guard isInBlock else { continue }
            for part in parts(of: line.hasPrefix("$ ") ? line.dropFirst(2) : line) where part.first == "martlet" {
                commands.append(Array(part.dropFirst()))
            }
        }
        return commands
    }

    /// The words of a line of shell, for each of the commands that pipes and the like join; comments and redirections end it.
    private static func parts(of line: Substring) -> [[String]] {
        var parts: [[String]] = [[]]
        var word = ""
        var (quote, isWord): (Character?, Bool) = (nil, false)
        func end() {
            if isWord { parts[parts.count - 1].append(word) }
            (word, isWord) = ("", false)
        }
        for character in line {
            if let open = quote {
                if character == open { quote = nil } else { word.append(character) }
            } else if character == "\"" || character == "'" {
                (quote, isWord) = (character, true)
            } else if character == "#", !isWord {
                break
            } else if "<>".contains(character) {
                break
            } else if "|;&()`".contains(character) || character == "\\" {
                end()
                parts.append([])
            } else if character.isWhitespace {
                end()
            } else {
                word.append(character)
                isWord = true
            }
        }
        end()
        return parts
    }
}
