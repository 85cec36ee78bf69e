import CoreTesting
import Registry
import Testing

@testable import CommandLineFrontend

@Suite("The words of a command")
struct CommandTreeTests {
    private func match(_ words: [String]) throws -> String {
        let actions = try sampleHost().composition.registry.actions
        do throws(UsageError) {
            switch try CommandTree.match(words, among: actions) {
            case .action(let action, let rest): return ([action.id] + rest).joined(separator: " ")
            case .group(let node):
                return node.path.joined(separator: " ") + ": "
                    + node.visible.compactMap(\.path.last).joined(separator: " ")
            }
        } catch {
            return error.message
        }
    }

    @Test(
        "find the action and leave its arguments",
        arguments: [
            (["version"], "version"),
            (["config", "set", "a", "b"], "config.set a b"),
            (["sample", "parse", "x"], "sample.parse x"),
            (["sample", "anna"], "sample.send anna"),
            (["sample"], "sample.send"),
            (["sample", "--file", "x"], "sample.send --file x"),
            (["post", "anna"], "sample.send anna"),
            (["sample", "open"], "sample.open"),
            (["sample", "open", "here"], "sample.open here"),
            (["sample", "open", "again"], "sample.open.again"),
            (["docs"], "docs.markdown"),
            (["completion", "words", "--", "a"], "completion.words -- a"),
            (["sample", "internal"], "sample.internal"),
        ])
    func found(words: [String], expected: String) throws {
        #expect(try match(words) == expected)
    }

    @Test("of a group alone need a verb")
    func group() throws {
        #expect(try match(["config"]) == "config: edit get path set show trust unset untrust validate")
        #expect(try match(["config", "--all"]) == "there is no option '--all' before a command of config")
    }

    @Test(
        "with a slip of the finger are answered with the nearest, at every level",
        arguments: [
            (["versoin"], "there is no command 'versoin'; did you mean 'version'?"),
            (["psot"], "there is no command 'psot'; did you mean 'post'?"),
            (["config", "shwo"], "there is no command 'config shwo'; did you mean 'config show'?"),
            (["conf"], "there is no command 'conf'; did you mean 'config'?"),
            (["quite-something-else"], "there is no command 'quite-something-else'; 'martlet help' lists the commands"),
            (
                ["--frobnicate"],
                "there is no option '--frobnicate' before a command; 'martlet help' lists the common ones"
            ),
        ])
    func typo(words: [String], message: String) throws {
        #expect(try match(words) == message)
    }
}
