import FileKit
import HTTPTesting
import JSON
import Testing

@Suite("Lines of a turn for programs", .timeLimit(.minutes(5)))
struct ChatLinesTests {
    /// Prints the number of every line that does not match the schema, with the problem.
    private static let validator = """
        import json, sys
        from jsonschema import Draft202012Validator
        schema = json.load(open("schema.json"))
        Draft202012Validator.check_schema(schema)
        validator = Draft202012Validator(schema)
        count = 0
        for number, line in enumerate(open("lines.ndjson"), 1):
            count += 1
            for error in validator.iter_errors(json.loads(line)):
                print(number, line.strip(), error.message)
        print("lines:", count)
        """

    @Test("The lines match their published schema by an independent validator")
    func schema() async throws {
        try await ChatHome.with { connection in
            let isBroken = connection.number > 1
            guard connection.number > 0 else {
                try connection.receiveRequest()
                let call = #"{"index":0,"id":"c","type":"function","function":{"name":"version","arguments":"{}"}}"#
                return try connection.send(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
                        + "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"tool_calls\":[\(call)],"
                        + "\"reasoning_content\":\"Hm.\"},\"finish_reason\":null}]}\n\n"
                        + "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n"
                        + "data: [DONE]\n\n")
            }
            if isBroken { try connection.begin(["Hel"]) } else { try connection.answer(streaming: ["Hel", "lo"]) }
        } _: { home in
            let schema = try await home.martlet("chat", "events", "--json")
            #expect(schema.code == 0, "\(schema.errors)")
            let good = try await home.martlet("ask", "--tools", "--format", "ndjson", "Which version?")
            #expect(good.code == 0, "\(good.errors)")
            let bad = try await home.martlet("ask", "--format", "ndjson", "Hi")
            #expect(bad.code == 4)
            let types = try (good.output + bad.output).lines.map { try $0.json()["type"]?.string ?? "" }
            #expect(
                Set(types) == ["init", "reasoning", "tool_use", "tool_result", "message", "error", "result"])
            #expect(types.suffix(2) == ["error", "result"])
            try write(schema.output, to: "\(home.path)/schema.json")
            try write(good.output + bad.output, to: "\(home.path)/lines.ndjson")
            try write(Self.validator, to: "\(home.path)/validate.py")
            guard try await home.shell("python3 -c 'import jsonschema' 2>/dev/null").code == 0 else { return }
            let check = try await home.shell("python3 validate.py")
            #expect(check.output == "lines: \(types.count)\n", "\(check.output)\(check.errors)")
            // The same validator finds an invalid line.
            try write("{\"type\":\"result\"}\n", to: "\(home.path)/lines.ndjson")
            #expect(try await home.shell("python3 validate.py").output.lines.count > 1)
        }
    }

    @Test("The usage totals are printed as CSV")
    func usage() async throws {
        try await ChatHome.with({ connection in
            try connection.begin(["Yes"])
            try connection.send(
                "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":9,"
                    + "\"completion_tokens\":2}}\n\ndata: [DONE]\n\n")
        }) { home in
            for _ in 0..<2 { #expect(try await home.martlet("ask", "Hi", "-m", "openai/house").code == 0) }
            let csv = try await home.martlet("chat", "usage", "--format", "csv")
            let rows = csv.output.replacing("\r\n", with: "\n").lines
            #expect(rows.count == 2, "\(csv.output)\(csv.errors)")
            #expect(rows.first?.hasPrefix("group,title,answers,input_tokens,output_tokens") == true)
            #expect(rows.last?.hasPrefix("small-1,,2,18,4") == true)
        }
    }
}
