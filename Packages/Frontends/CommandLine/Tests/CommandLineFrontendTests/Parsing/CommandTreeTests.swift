import CoreTesting
import Registry
import Testing

@testable import CommandLineFrontend

@Suite("CommandTree")
struct CommandTreeTests {
    private func match(_ words: [String], isMeant: Bool = false) throws -> String {
        let actions = try sampleHost().composition.registry.actions
        do throws(UsageError) {
            switch try CommandTree.match(words, among: actions, isMeant: { _, _ in isMeant }) {
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
        "The words of a command lead to the action and leave its arguments",
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
            // These are not slips: no verb is similar, the word is not made of letters only, or it follows `--`.
            (["sample", "hello"], "sample.send hello"),
            (
                ["sample", "opne", "--file", "x"],
                "there is no command 'sample opne'; did you mean 'sample open'? "
                    + "To pass it as an argument: martlet sample -- opne"
            ),
            (["sample", "Opne"], "sample.send Opne"),
            (["sample", "./opne"], "sample.send ./opne"),
            (["sample", "--", "opne"], "sample.send -- opne"),
            (["post", "opne"], "sample.send opne"),
        ])
    func found(words: [String], expected: String) throws {
        #expect(try match(words) == expected)
    }

    @Test(
        "A word that is nearly a verb is not passed to the group's default action",
        arguments: [
            (["sample", "opne"], "did you mean 'sample open'?"), (["sample", "prase"], "did you mean 'sample parse'?"),
            (["sample", "secrt"], "did you mean 'sample secret'?"),
            // The default action cannot take these, so a verb was meant.
            (["sample", "opne", "here"], "did you mean 'sample open'?"),
            (["docs", "mna"], "did you mean 'docs man'?"),
            // A verb of a nested group.
            (["sample", "again"], "did you mean 'sample open again'?"),
        ])
    func slip(words: [String], hint: String) throws {
        #expect(try match(words).contains(hint))
        #expect(try match(words).hasPrefix("there is no command"))
    }

    @Test(
        "A hint to pass a word as an argument is not shown if the default action cannot take it",
        arguments: [["docs", "mna"], ["sample", "opne", "here"]])
    func impossible(words: [String]) throws {
        #expect(try match(words).hasSuffix("?"))
    }

    @Test("A word that the group's default action knows is passed to it") func meant() throws {
        #expect(try match(["sample", "opne"], isMeant: true) == "sample.send opne")
    }

    @Test("A group without a verb is an error that lists the verbs")
    func group() throws {
        #expect(try match(["config"]) == "config: edit get path set show trust unset untrust validate")
        let option = "unknown option '--all' before a command of config; 'martlet help' lists the common options"
        #expect(try match(["config", "--all"]) == option)
    }

    @Test(
        "A typing mistake is answered with the nearest command, at every level",
        arguments: [
            (["versoin"], "there is no command 'versoin'; did you mean 'version'?"),
            (["--hlep"], "unknown option '--hlep' before a command; did you mean '--help'?"),
            (["config", "--hlep"], "unknown option '--hlep' before a command of config; did you mean '--help'?"),
            (["psot"], "there is no command 'psot'; did you mean 'post'?"),
            (["config", "shwo"], "there is no command 'config shwo'; did you mean 'config show'?"),
            (["conf"], "there is no command 'conf'; did you mean 'config'?"),
            (["quite-something-else"], "there is no command 'quite-something-else'; 'martlet help' lists the commands"),
            (["config", "frobnicate"], "there is no command 'config frobnicate'; see 'martlet help config'"),
            (
                ["--frobnicate"],
                "unknown option '--frobnicate' before a command; 'martlet help' lists the common options"
            ),
        ])
    func typo(words: [String], message: String) throws {
        #expect(try match(words) == message)
    }
}
