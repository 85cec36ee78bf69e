import Capabilities
import JSON
import Registry
import Testing

@testable import CommandLineFrontend

@Suite("A secret on the command line")
struct SecretWordsTests {
    @Test(
        "is named by where it comes from",
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

    @Test("may be left out, because it is asked for later")
    func absent() throws {
        #expect(try ArgumentParser.parse([], for: SampleFeature.secretive).secrets.isEmpty)
    }

    @Test(
        "is refused as a word, without repeating it",
        arguments: [["--token", "hunter2"], ["--token=hunter2"]])
    func word(words: [String]) {
        let message = parsed(words, SampleFeature.secretive)
        #expect(message.contains("--token-stdin") && message.contains("--token-env"))
        #expect(!message.contains("hunter2"))
    }

    @Test("is not repeated when it was typed behind the words of the command")
    func behind() {
        let message = parsed(["hunter2"], SampleFeature.secretive)
        #expect(message.contains("never taken from a word of the command line") && !message.contains("hunter2"))
    }

    @Test(
        "needs a sensible source",
        arguments: [
            (["--token-env"], "--token-env needs the name of a variable"),
            (["--token-env="], "--token-env needs the name of a variable"),
            (["--token-fd", "x"], "--token-fd needs the number of a descriptor"),
            (["--token-fd=-1"], "--token-fd needs the number of a descriptor"),
            (["--token-stdin=x"], "--token-stdin is no option of sample secret"),
            (["--token-file=x"], "--token-file is no option of sample secret"),
        ])
    func badSource(words: [String], message: String) {
        #expect(parsed(words, SampleFeature.secretive).hasPrefix(message))
    }

    @Test("with a slip in its name is suggested as it can be given, and an option that means nothing there is not")
    func slip() {
        #expect(parsed(["--tokn-stdin"], SampleFeature.secretive).contains("did you mean '--token-stdin'?"))
        // The first would be refused as well, and the second does nothing behind a command.
        for (word, useless) in [("--tokne", "'--token'"), ("--versoin", "'--version'")] {
            let message = parsed([word], SampleFeature.secretive)
            #expect(message.contains("\(word) is no option") && !message.contains(useless), "\(message)")
        }
    }

    @Test("is read from the variable, without a trace of it in the error when it is not set")
    func variable() throws {
        let source = ArgumentParser.SecretSource.variable("KEY")
        #expect(try source.read(["KEY": "hunter2"]) == "hunter2")
        #expect(throws: UsageError.answers("the variable KEY that should hold the secret is not set")) {
            try source.read([:])
        }
    }
}
