import Capabilities
import JSON
import Registry
import Testing

@testable import CommandLineFrontend

@Suite("Words for parameters")
struct KindsTests {
    private static func accepting<Value: InputValue>(_ type: Value.Type) -> Action {
        Action("sample.kind", "Take one value", .reads, .option("value", "The value", as: Value?.self)) { _, _ in
            Nothing()
        }
    }

    @Test(
        "A word becomes a value of the parameter's type",
        arguments: [
            (accepting(String.self), "x", #""x""#),
            (accepting(Int.self), "-12", "-12"),
            (accepting(Double.self), "2.5", "2.5"),
            (accepting(Bool.self), "YES", "true"),
            (accepting(Bool.self), "off", "false"),
            (accepting(SampleFeature.Shade.self), "dark", #""dark""#),
            (accepting(ReadPath.self), "a/b", #""a/b""#),
            (accepting(Duration.self), "1m30s", #""1m30s""#),
            (accepting(ByteCount.self), "64KiB", #""64KiB""#),
            (accepting(Timestamp.self), "2026-11-20T10:00:00Z", #""2026-11-20T10:00:00Z""#),
            (accepting([String: Int].self), #"{"a":1}"#, #"{"a":1}"#),
            (accepting([String: Int].self), "{a: 1}", #"{"a":1}"#),
            (accepting(JSON.self), "[1, true]", "[1,true]"),
            (accepting(JSON.self), "just text", #""just text""#),
            (accepting([Int].self), "4", "[4]"),
        ])
    func good(action: Action, word: String, json: String) {
        #expect(parsed(["--value=\(word)"], action) == "{\"value\":\(json)}")
    }

    @Test(
        "A word for a time may be an age or a day",
        arguments: [
            ("2h", #"{"value":"2026-11-22T08:30:00Z"}"#),
            ("2026-11-22T01:00:00Z", #"{"value":"2026-11-22T01:00:00Z"}"#),
            (
                "tomorrow",
                "--value needs a time such as 2h (ago), yesterday, 2026-11-20 or 2026-11-20T09:30:00Z, not 'tomorrow'"
            ),
        ])
    func time(word: String, expected: String) throws {
        let now = try #require(Timestamp(iso8601: "2026-11-22T10:30:00Z"))
        do throws(ArgumentsFailure) {
            let arguments = try ArgumentParser.parse(["--value", word], for: Self.accepting(Timestamp.self), now: now)
                .arguments
            #expect(JSON.object(arguments).text() == expected)
        } catch {
            #expect(error.message == expected)
        }
    }

    @Test(
        "A word of another type is refused with the parameter's name",
        arguments: [
            (accepting(Int.self), "1.5", "a whole number"),
            (accepting(Int.self), "99999999999999999999", "a whole number"),
            (accepting(Double.self), "nan", "a number"), (accepting(Bool.self), "2", "true or false"),
            (accepting(SampleFeature.Shade.self), "grey", "light, dark"), (accepting(ReadPath.self), "", "path"),
            (accepting(Duration.self), "5 apples", "a duration such as"),
            (accepting(ByteCount.self), "big", "a size such as"),
            (accepting(Timestamp.self), "tomorrow", "time"), (accepting([String: Int].self), "{a:x}", "JSON"),
            (accepting([String: Int].self), #"{"a":"x"}"#, "a whole number"),
            (accepting([Int].self), "x", "a whole number"),
        ])
    func bad(action: Action, word: String, hint: String) {
        let message = parsed(["--value=\(word)"], action)
        #expect(message.hasPrefix("--value"))
        #expect(message.contains(hint), "\(message)")
    }
}
