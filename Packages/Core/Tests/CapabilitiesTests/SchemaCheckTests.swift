import Capabilities
import CoreTesting
import JSON
import Testing

@Suite("Schema check")
struct SchemaCheckTests {
    static let server = Schema.record([
        .init("name", "What it is called", .string),
        .init("port", "Where it listens", .integer(1...65_535)),
        .init("tags", "Words", .optional(.array(.choice(["test", "live"])))),
        .init("limits", "Limits by name", .optional(.map(.duration))),
    ])

    private func problems(_ schema: Schema, _ json: JSON) -> [String] {
        schema.problems(in: json).map(\.description)
    }

    @Test("A fitting value has no problems")
    func fits() {
        #expect(problems(Self.server, ["name": "web", "port": 80, "tags": ["live"], "limits": ["read": 5]]).isEmpty)
        #expect(problems(Self.server, ["name": "web", "port": 80, "tags": nil]).isEmpty)
    }

    @Test("All problems are found at once, each with its path")
    func everything() {
        let value: JSON = [
            "name": 1, "port": 70_000, "tags": ["test", "life", 3], "limits": ["read": "soon", "write": -1], "prot": 80,
        ]
        #expect(
            problems(Self.server, value) == [
                "name: needs text, not an integer",
                "port: must be from 1 to 65535, not 70000",
                "tags.1: needs one of test, live, not 'life'; did you mean 'live'?",
                "tags.2: needs one of test, live, not an integer",
                "limits.read: needs a duration such as 250ms, 30s or 1m30s, not 'soon'",
                "limits.write: must not be negative",
                "prot: is not known here; did you mean 'port'?",
            ])
    }

    @Test("Of a million problems the first are listed, and one sentence says that there are more")
    func capped() {
        let name = String(repeating: "é\u{301}", count: 100_000)
        let wrong: [(Schema, JSON)] = [
            (.array(Self.server), .array([JSON](repeating: 1, count: 1_000_000))),
            (.array(.array(.string)), .array([JSON](repeating: .array([1, 2, 3]), count: 300_000))),
            (.map(.integer(nil)), .object(JSONObject((0..<200_000).map { ("\(name.prefix(300))\($0)", "x") }))),
            (Self.server, .object(JSONObject((0..<200_000).map { ("unknown\($0)", 1) }))),
            (.record([.init("a", "", .map(.map(.string)))]), ["a": .object([name: .object([name: 1, "b": 2])])]),
            (.array(.choice(["one"])), .array([JSON](repeating: .string(name), count: 50))),
        ]
        for (schema, value) in wrong {
            let found = schema.problems(in: value)
            #expect(found.count <= SchemaProblems.limit + 1)
            #expect(found.reduce(0) { $0 + $1.description.utf8.count } < 1 << 14)
            if found.count > SchemaProblems.limit {
                #expect(found.last?.description == "has more problems than the 20 listed")
            }
        }
    }

    @Test("Missing members, and nulls that are not allowed, are reported")
    func missing() {
        #expect(problems(Self.server, [:]) == ["name: is missing", "port: is missing"])
        #expect(problems(Self.server, ["name": nil, "port": 1]) == ["name: needs text, not null"])
    }

    @Test("Paths go from the outside in")
    func paths() {
        let schema = Schema.map(.array(Self.server))
        let found = schema.problems(in: ["rack": [["name": "a", "port": 1], ["name": "b", "port": "x"]]])
        #expect(found.map(\.path) == [["rack", "1", "port"]])
        #expect(found.first?.under("site").path == ["site", "rack", "1", "port"])
    }

    @Test(
        "A problem names the kind of the given value",
        arguments: [
            (.boolean, 1, "needs true or false, not an integer"),
            (.integer(nil), 1.5, "needs a whole number, not one with a fraction"),
            (.integer(nil), .big("99999999999999999999"), "is too large"),
            (.integer(nil), 1e23, "is too large"),
            (.number(nil), "1", "needs a number, not a string"),
            (.number(0...1), 2, "must be from 0.0 to 1.0, not 2.0"),
            (.string, false, "needs text, not a boolean"),
            (.path(.read), nil, "needs text, not null"),
            (.url, "ftp:/x", "needs a URL such as https://example.com"),
            (.time, 5, "needs text, not an integer"),
            (.secret, ["s3cret"], "needs text, not an array"),
            (.duration, nil, "needs a duration such as 30s or 1m30s, not null"),
            (.duration, 1e300, "is too long for a duration"),
            (.size(nil), -1, "must not be negative"),
            (.size(1024...2048), 1, "must be from 1.0 KiB to 2.0 KiB, not 1 B"),
            (.size(1024...2048), "3KiB", "must be from 1.0 KiB to 2.0 KiB, not 3.0 KiB"),
            (.size(nil), 1.5, "needs a size such as 64KiB, not a number"),
            (.array(.any), [:], "needs a list, not an object"),
            (.map(.any), [], "needs an object, not an array"),
            (.record([]), "x", "needs an object, not a string"),
        ] as [(Schema, JSON, String)])
    func kinds(schema: Schema, json: JSON, message: String) {
        #expect(problems(schema, json) == [message])
    }

    @Test("A problem never repeats the text of a secret")
    func secrets() {
        let schema = Schema.record([.init("token", "Access token", .secret)])
        #expect(problems(schema, ["token": 1]) == ["token: needs text, not an integer"])
        #expect(problems(schema, ["token": "s3cret"]).isEmpty)
    }

    @Test("The check accepts exactly what the type can then read", arguments: seeds)
    func agreesWithTypes(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let samples: [JSON] = [
            nil, true, 0, -1, 5, 1.5, 1e300, -0.5, "", "5", "5s", "soon", "1KiB", "metric", [], [1], ["a"], [:],
            ["a": 1], .big("99999999999999999999"), "2026-11-20T09:30:00Z", "2026-02-30T09:30:00Z",
        ]
        func agree<Value: InputValue>(_ type: Value.Type, _ json: JSON) throws {
            let isRead = thrownMessage { () throws(ValueError) in try Value(json: json) } == nil
            try #require(Value.schema.problems(in: json).isEmpty == isRead, "\(type) from \(json)")
        }
        for _ in 0..<200 {
            let sample = samples.randomElement(using: &generator) ?? nil
            let other = samples.randomElement(using: &generator) ?? nil
            for json in [sample, [sample, other], ["x": sample, "y": other]] {
                try agree(Bool.self, json)
                try agree(Int?.self, json)
                try agree(Double.self, json)
                try agree([String].self, json)
                try agree(Units.self, json)
                try agree([Duration].self, json)
                try agree([String: ByteCount].self, json)
                try agree([Timestamp?].self, json)
                try agree(PathValue.self, json)
                try agree(ReadPath.self, json)
                try agree(HostValue.self, json)
                try agree(SecretName.self, json)
                try agree(JSON.self, json)
            }
        }
    }
}
