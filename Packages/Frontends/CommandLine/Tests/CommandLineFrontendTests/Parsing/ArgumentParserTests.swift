import Capabilities
import JSON
import Registry
import Testing

@testable import CommandLineFrontend

/// The parsed arguments as one line of JSON, or every problem on its own line.
func parsed(_ words: [String], _ action: Action = SampleFeature.parsed) -> String {
    do throws(ArgumentsFailure) {
        return JSON.object(try ArgumentParser.parse(words, for: action).arguments).text()
    } catch {
        return error.message
    }
}

@Suite("ArgumentParser")
struct ArgumentParserTests {
    @Test(
        "Arguments are taken by position and by name",
        arguments: [
            (["a"], #"{"first":"a"}"#),
            (["a", "1", "2"], #"{"first":"a","rest":[1,2]}"#),
            (["a", "--name", "b"], #"{"first":"a","name":"b"}"#),
            (["--name=b", "a"], #"{"name":"b","first":"a"}"#),
            (["--name=", "a"], #"{"name":"","first":"a"}"#),
            (["--name=b=c", "a"], #"{"name":"b=c","first":"a"}"#),
            (["-n", "b", "a"], #"{"name":"b","first":"a"}"#),
            (["-nb", "a"], #"{"name":"b","first":"a"}"#),
            (["-n=b", "a"], #"{"name":"b","first":"a"}"#),
            (["--name=-b", "a"], #"{"name":"-b","first":"a"}"#),
            (["--name", "-", "a"], #"{"name":"-","first":"a"}"#),
            (["--name", "-7", "a"], #"{"name":"-7","first":"a"}"#),
            (["a", "--all"], #"{"first":"a","all":true}"#),
            (["a", "--all=false"], #"{"first":"a","all":false}"#),
            (["a", "--no-all"], #"{"first":"a","all":false}"#),
            (["a", "--no-wrap"], #"{"first":"a","wrap":false}"#),
            (["a", "-ab"], #"{"first":"a","all":true,"brief":true}"#),
            (["a", "-abn", "x"], #"{"first":"a","all":true,"brief":true,"name":"x"}"#),
            (["a", "-abnx"], #"{"first":"a","all":true,"brief":true,"name":"x"}"#),
            (["a", "-t", "x", "--tag", "y", "--tag=z"], #"{"first":"a","tag":["x","y","z"]}"#),
            (["a", "--all", "--all"], #"{"first":"a","all":true}"#),
            (["-"], #"{"first":"-"}"#),
            (["--", "--all"], #"{"first":"--all"}"#),
            (["--", "--", "1"], #"{"first":"--","rest":[1]}"#),
            (["a", "-5", "-6"], #"{"first":"a","rest":[-5,-6]}"#),
            (["-5"], #"{"first":"-5"}"#),
            (["-0.1"], #"{"first":"-0.1"}"#),
            (["--name", "-.5", "-1e3"], #"{"name":"-.5","first":"-1e3"}"#),
            (["a", "-c", "3"], #"{"first":"a","count":3}"#),
            (["", "--name", ""], #"{"first":"","name":""}"#),
        ])
    func taken(words: [String], json: String) {
        #expect(parsed(words) == json)
    }

    @Test(
        "Members of a map are taken by name, or as an object",
        arguments: [
            (
                ["--env", "A=b=c", "--env", "B=", "-H", "Accept=a, b"],
                #"{"env":{"A":"b=c","B":""},"header":{"Accept":"a, b"}}"#
            ),
            (["--header", "X=1", "--env={\"A\":\"b\"}"], #"{"header":{"X":"1"},"env":{"A":"b"}}"#),
            (["--header", "{X: 1}"], #"{"header":{"X":1}}"#),
            (["--env", "A=b", "--env", "A=b"], #"{"env":{"A":"b"}}"#),
            (["--env", "A=b", "--env", "A=c"], "--env.A is given twice"),
            (["--header", "Accept: very-secret"], "--header needs NAME=VALUE, or an object in JSON"),
            (["--env", "=x"], "--env needs NAME=VALUE, or an object in JSON"),
        ])
    func maps(words: [String], json: String) {
        let action = Action(
            "sample.map", "Take maps", .reads, .option("env", "Variables", as: [String: String].self),
            .option("header", "Headers", as: [String: JSON].self, short: "H")
        ) { _, _, _ in Nothing() }
        #expect(parsed(words, action) == json)
    }

    @Test(
        "Invalid arguments are reported with what is expected",
        arguments: [
            ([], "first is missing: The first word"),
            (["a", "b"], "rest needs a whole number, not 'b'"),
            (["a", "--name"], "--name needs a value: A name"),
            (["a", "--name", "-b"], "--name needs a value: A name; write --name=-b if this is the value"),
            (["a", "--name", "--"], "--name needs a value: A name"),
            (["a", "-n"], "-n needs a value: A name"),
            (["a", "--name=x", "--name=y"], "--name is given twice"),
            (["a", "--all", "--no-all"], "--no-all is given twice"),
            (["a", "--no-all=yes"], "--no-all takes no value"),
            (["a", "--all=perhaps"], "--all needs true or false, not 'perhaps'"),
            (["a", "--nmae=x"], "--nmae is not an option of sample parse; did you mean '--name'?"),
            (["a", "--jsno"], "--jsno is not an option of sample parse; did you mean '--json'?"),
            (["a", "--zzzzzzzz"], "--zzzzzzzz is not an option of sample parse"),
            (["a", "-x"], "-x is not an option of sample parse"),
            (["a", "-aq"], "-q cannot be part of -aq; write it separately"),
            (["a", "--no-name"], "--no-name is not an option of sample parse; did you mean '--name'?"),
            (["a", "--shade", "drak"], "--shade needs one of light, dark, not 'drak'; did you mean 'dark'?"),
        ])
    func wrong(words: [String], message: String) {
        #expect(parsed(words) == message)
    }

    @Test("All problems are reported at once, and none twice")
    func everything() {
        #expect(
            parsed(["--count", "ten", "--nmae=x", "-x", "--shade=blue", "--all", "--no-all"]).split(separator: "\n")
                == [
                    "--count needs a whole number, not 'ten'",
                    "--nmae is not an option of sample parse; did you mean '--name'?",
                    "-x is not an option of sample parse",
                    "--shade needs one of light, dark, not 'blue'",
                    "--no-all is given twice",
                    "first is missing: The first word",
                ])
    }

    @Test("Unexpected arguments are reported")
    func tooMany() {
        #expect(parsed(["a", "b"], SampleFeature.send) == "unexpected argument 'b'")
        #expect(parsed(["b"], SampleFeature.opened) == "unexpected argument 'b'; sample open again takes no arguments")
    }

    @Test("Numbers outside the range are refused with the range", arguments: ["0", "10", "-1"])
    func range(count: String) {
        let message = parsed(["a", "--count=\(count)"])
        #expect(message.hasPrefix("--count "))
        #expect(message.contains("1") && message.contains("9"))
    }
}
