import JSON
import ProcessKit
import TOMLKit
import Testing

/// The same texts as Python's `tomllib` reads them.
struct TOMLDifferenceTests {
    /// Compares what Python makes of each text with what we do, and prints the texts about which they disagree.
    private static let comparison = """
        import datetime, json, math, sys, tomllib
        def same(theirs, ours):
            if isinstance(theirs, dict):
                return isinstance(ours, dict) and theirs.keys() == ours.keys() and all(same(theirs[k], ours[k]) for k in theirs)
            if isinstance(theirs, list):
                return isinstance(ours, list) and len(theirs) == len(ours) and all(map(same, theirs, ours))
            if isinstance(theirs, (datetime.datetime, datetime.date, datetime.time)):
                return isinstance(ours, str) and type(theirs).fromisoformat(ours) == theirs
            if isinstance(theirs, float) and not math.isfinite(theirs):
                return ours == str(theirs)
            return isinstance(theirs, bool) == isinstance(ours, bool) and theirs == ours
        wrong = []
        for text, ours in json.load(sys.stdin):
            try:
                theirs = tomllib.loads(text)
            except (tomllib.TOMLDecodeError, RecursionError):
                theirs = None
            if (theirs is None) != (ours is None) or theirs is not None and not same(theirs, ours):
                wrong.append([text, str(theirs), ours])
        print(json.dumps(wrong))
        """

    /// Pieces of texts, which are put together at random.
    private static let pieces = [
        "a", "b", "a.b", "a . c", "\"a\"", "'b'.c", "d-_1", "[a]", "[b]", "[a.b]", "[a.b.c]", "[[a]]", "[[a.b]]",
        "[ d ]", "=",
        " = ", "1", "-17", "+0", "0x1f", "0o7", "0b1", "1_000", "1__0", "01", "3.14", "1e6", "-2E-2", "1.", ".5", "inf",
        "-nan",
        "true", "false", "\"x\"", "'y'", "\"\\t\\u00e9\"", "\"\\x\"", "\"\"\"m\n\\\n  n\"\"\"", "'''o\np'''",
        "\"\"\"\"q\"\"\"\"\"", "[", "]",
        "[]", "[1, 2]", "[1,\n2,]", "{", "}", "{}", "{a = 1}", "{a.b = 1, a.c = 2}", "{a = 1,}", ",", ".", "#", "# c",
        "\n", "\n", "\n",
        "\r\n", "\r", " ", "\t", "1979-05-27", "1979-05-27T07:32:00Z", "1979-05-27 07:32:00.25+01:30", "2001-02-29",
        "07:32:00", "07:32", "é", "\u{1}",
    ]
    /// Lines that are right by themselves, so that many texts are read.
    private static let lines = [
        "a = 1", "b = \"x\"", "a.b = 2", "a.c.d = 3", "b.a = {c = 1}", "c = [1, {d = 2}]", "[a]", "[b]", "[a.b]",
        "[a.b.c]", "[b.c]",
        "[[a]]", "[[b]]", "[[a.b]]", "[[c.d]]", "[c]", "d = 1979-05-27", "", "# x", "c.d = []",
    ]

    /// Texts by a generator that gives the same ones each time.
    private static func texts(_ count: Int) -> [String] {
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15
        func random(_ bound: Int) -> Int {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Int(state % UInt64(bound))
        }
        return (0..<count).map { number in
            if number % 2 == 0 {
                return (0...random(6)).map { _ in lines[random(lines.count)] }.joined(separator: "\n")
            }
            let start = lines[random(lines.count)] + "\n"
            return start + "k = " + (0...random(8)).map { _ in pieces[random(pieces.count)] }.joined()
        }
    }

    @Test("Thousands of texts are read or refused as Python's reader does")
    func agrees() async throws {
        let cases = Self.texts(4_000).map { text -> JSON in
            do throws(TOMLError) {
                return [.string(text), try TOMLDocument(parsing: Array(text.utf8), name: "x").value]
            } catch {
                return [.string(text), .null]
            }
        }
        let read = cases.count { $0[1] != .null }
        #expect((1_000...3_000).contains(read), "The texts should be of both kinds.")
        var command = Command("python3", ["-c", Self.comparison], environment: ["PATH": "/usr/bin:/bin"])
        command.input = .bytes(Array(JSON.array(cases).text().utf8))
        let done = try await Launcher.standalone.run(command, timeout: .seconds(60))
        #expect(done.status.isSuccess, "\(String(decoding: done.errors, as: UTF8.self))")
        let wrong = try JSON(parsing: done.output).array ?? []
        for one in wrong.prefix(10) { Issue.record("\(one.text())") }
        #expect(wrong.isEmpty)
    }
}
