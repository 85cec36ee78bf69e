import Capabilities
import JSON
import Registry
import Testing

@testable import CommandLineFrontend

@Suite("Secrets on the command line")
struct SecretWordsTests {
    @Test(
        "A secret is given by its source",
        arguments: [
            (["--token-stdin"], ArgumentParser.SecretSource.standardInput),
            (["--token-env", "KEY"], .variable("KEY")), (["--token-env=KEY"], .variable("KEY")),
            (["--token-fd", "3"], .descriptor(3)), (["--token-fd=0"], .descriptor(0)),
        ])
    func source(words: [String], source: ArgumentParser.SecretSource) throws {
        let parsed = try ArgumentParser.parse(words, for: SampleFeature.secretive)
        #expect(parsed.secrets == ["token": source])
        #expect(parsed.arguments.isEmpty)
    }

    @Test("A secret may be omitted, because it is asked for later")
    func absent() throws {
        #expect(try ArgumentParser.parse([], for: SampleFeature.secretive).secrets.isEmpty)
    }

    @Test(
        "A secret as a word is refused without repeating it",
        arguments: [["--token", "hunter2"], ["--token=hunter2"]])
    func word(words: [String]) {
        let message = parsed(words, SampleFeature.secretive)
        #expect(message.contains("--token-stdin") && message.contains("--token-env"))
        #expect(!message.contains("hunter2"))
    }

    @Test("A secret typed as an extra argument is not repeated")
    func behind() {
        let message = parsed(["hunter2"], SampleFeature.secretive)
        #expect(message.contains("never taken from the command line") && !message.contains("hunter2"))
    }

    @Test(
        "A secret with an invalid source is refused",
        arguments: [
            (["--token-env"], "--token-env needs the name of a variable"),
            (["--token-env="], "--token-env needs the name of a variable"),
            (["--token-fd", "x"], "--token-fd needs the number of a descriptor"),
            (["--token-fd=-1"], "--token-fd needs the number of a descriptor"),
            (["--token-stdin=x"], "--token-stdin is not an option of sample secret"),
            (["--token-file=x"], "--token-file is not an option of sample secret"),
        ])
    func badSource(words: [String], message: String) {
        #expect(parsed(words, SampleFeature.secretive).hasPrefix(message))
    }

    @Test("A misspelt secret option suggests a valid form, and no option that is useless there")
    func slip() {
        #expect(parsed(["--tokn-stdin"], SampleFeature.secretive).contains("did you mean '--token-stdin'?"))
        // The first suggestion would be refused too, and the second has no effect after a command.
        for (word, useless) in [("--tokne", "'--token'"), ("--versoin", "'--version'")] {
            let message = parsed([word], SampleFeature.secretive)
            #expect(message.contains("\(word) is not an option") && !message.contains(useless), "\(message)")
        }
    }

    @Test("A secret is read from a variable, and the error for a missing one does not contain it")
    func variable() throws {
        let source = ArgumentParser.SecretSource.variable("KEY")
        #expect(try source.read(["KEY": "hunter2"]) == "hunter2")
        #expect(throws: UsageError.answers("the environment variable KEY for the secret is not set")) {
            try source.read([:])
        }
    }
}
