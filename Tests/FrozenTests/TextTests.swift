import Capabilities
import CoreTesting
import HostKit
import JSON
import Registry
import Testing
import WorkspaceSupport

@testable import CommandLineFrontend

@Suite("Texts that the program prints about itself", .timeLimit(.minutes(10)))
struct TextTests {
    /// The words of every page of help: the program, its groups, its actions, its settings.
    private static func pages() -> [[String]] {
        let actions = Product.workbench().registry.actions.all.filter { !$0.isHidden }
        var pages: Set<[String]> = [[], ["settings"], ["settings", "chat.model"]]
        for action in actions {
            let words = action.id.split(separator: ".").map(String.init)
            for count in words.indices { pages.insert(Array(words[...count])) }
        }
        return pages.sorted { $0.joined(separator: " ") < $1.joined(separator: " ") }
    }

    @Test("Every page of help is as it was reviewed") func help() async throws {
        let text = try await Product.withSession { session, _ in
            var text = ""
            for words in Self.pages() {
                let arguments: JSONObject = ["command": .array(words.map { .string($0) })]
                let page = try await session.perform("help", arguments, as: Product.person, output: RecordingOutput())
                    .json
                text += "$ martlet \((["help"] + words).joined(separator: " "))\n\(page.string ?? "")\n"
            }
            return text
        }
        try FrozenText("help.txt").expect(text)
    }

    @Test(
        "The reference and the manual page are as they were reviewed",
        arguments: [
            ("docs.markdown", "reference.md"), ("docs.man", "martlet.1"),
        ])
    func documents(id: String, file: String) async throws {
        let text = try await Product.withSession { session, _ in
            try await session.perform(id, as: Product.person, output: RecordingOutput()).json.string
        }
        try FrozenText(file).expect(try #require(text))
    }

    /// What the first version of these texts was full of, with what to write instead.
    private static let tics: [(words: String, instead: String)] = [
        ("beforehand", "first, or in advance"), ("of its own", "its, or separate"), (" anew", "again"),
        ("somebody", "who it is"), ("whoever", "who it is"), (" shall ", "should, or will"), (" is no ", "is not a"),
    ]

    @Test("No page of help has a phrase that readers stumble over") func plain() throws {
        // The texts are being written beside this.
        if FrozenFile.isRefreshing { return }
        for file in ["help.txt", "reference.md", "martlet.1"] {
            for (number, line) in try FrozenText(file).kept().split(separator: "\n", omittingEmptySubsequences: false)
                .enumerated()
            {
                for tic in Self.tics where line.replacing("is no longer", with: "").contains(tic.words) {
                    Issue.record("\(file):\(number + 1): \"\(tic.words)\" (write \(tic.instead)): \(line)")
                }
            }
        }
    }
}
