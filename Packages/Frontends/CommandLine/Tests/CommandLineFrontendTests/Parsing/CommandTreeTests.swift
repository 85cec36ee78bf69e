import CoreTesting
import Registry
import Testing

@testable import CommandLineFrontend

@Suite("The words of a command")
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
            // No slip of the finger: nothing near, more words, no word of letters alone, or said to be one.
            (["sample", "hello"], "sample.send hello"),
            (
                ["sample", "opne", "--file", "x"],
                "there is no command 'sample opne'; did you mean 'sample open'? "
                    + "If you mean the word itself: martlet sample -- opne"
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
        "that the default of a group would take are refused when they are nearly a verb",
        arguments: [
            (["sample", "opne"], "did you mean 'sample open'?"), (["sample", "prase"], "did you mean 'sample parse'?"),
            (["sample", "secrt"], "did you mean 'sample secret'?"),
            // What the default cannot take anyway was meant as a verb too.
            (["sample", "opne", "here"], "did you mean 'sample open'?"),
            (["docs", "mna"], "did you mean 'docs man'?"),
            // A verb of a group within.
            (["sample", "again"], "did you mean 'sample open again'?"),
        ])
    func slip(words: [String], hint: String) throws {
        #expect(try match(words).contains(hint))
        #expect(try match(words).hasPrefix("there is no command"))
    }

    @Test(
        "that the default cannot take are not offered to it",
        arguments: [["docs", "mna"], ["sample", "opne", "here"]])
    func impossible(words: [String]) throws {
        #expect(try match(words).hasSuffix("?"))
    }

    @Test("that the default of a group knows are its own") func meant() throws {
        #expect(try match(["sample", "opne"], isMeant: true) == "sample.send opne")
    }

    @Test("of a group alone need a verb")
    func group() throws {
        #expect(try match(["config"]) == "config: edit get path set show trust unset untrust validate")
        let option = "there is no option '--all' before a command of config; 'martlet help' lists the common ones"
        #expect(try match(["config", "--all"]) == option)
    }

    @Test(
        "with a slip of the finger are answered with the nearest, at every level",
        arguments: [
            (["versoin"], "there is no command 'versoin'; did you mean 'version'?"),
            (["--hlep"], "there is no option '--hlep' before a command; did you mean '--help'?"),
            (["config", "--hlep"], "there is no option '--hlep' before a command of config; did you mean '--help'?"),
            (["psot"], "there is no command 'psot'; did you mean 'post'?"),
            (["config", "shwo"], "there is no command 'config shwo'; did you mean 'config show'?"),
            (["conf"], "there is no command 'conf'; did you mean 'config'?"),
            (["quite-something-else"], "there is no command 'quite-something-else'; 'martlet help' lists the commands"),
            (["config", "frobnicate"], "there is no command 'config frobnicate'; see 'martlet help config'"),
            (
                ["--frobnicate"],
                "there is no option '--frobnicate' before a command; 'martlet help' lists the common ones"
            ),
        ])
    func typo(words: [String], message: String) throws {
        #expect(try match(words) == message)
    }
}
