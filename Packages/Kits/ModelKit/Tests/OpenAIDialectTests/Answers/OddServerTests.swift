import Capabilities
import DialectTesting
import JSON
import ModelKit
import OpenAIDialect
import Testing

@Suite("Unusual servers")
struct OddServerTests {
    private func chunk(_ delta: String, finish: String = "null") -> String {
        #"{"id":"c","model":"m","choices":[{"index":0,"delta":\#(delta),"finish_reason":\#(finish)}]}"#
    }

    private func texts(_ pieces: [String]) -> [String] {
        pieces.map { chunk(#"{"content":\#(JSON.string($0).text())}"#) } + [chunk("{}", finish: #""stop""#), "[DONE]"]
    }

    @Test(
        "Reasoning between tags in the text is reasoning, however it is split",
        arguments: [
            ["<think>hm</think>\n\nYes."], ["<th", "ink>h", "m</thi", "nk>", "\n\n", "Yes."],
            Array("\n<think>hm</think>Yes.").map(String.init),
        ])
    func thinkTags(_ pieces: [String]) throws {
        let reading = try hear(data: texts(pieces)).reading
        #expect(reading.reasoning == "hm" && reading.text == "Yes." && reading.finish == .stop)
    }

    @Test(
        "Text that mentions such tags stays text",
        arguments: [["Use ", "<think>x</think>"], ["<thin", " air>"], ["<thi"], ["<"]])
    func textAboutTags(_ pieces: [String]) throws {
        let reading = try hear(data: texts(pieces)).reading
        #expect(reading.text == pieces.joined() && reading.reasoning.isEmpty)
    }

    @Test("Reasoning that never ends is reasoning, and not text")
    func endlessThoughts() throws {
        let reading = try hear(data: texts(["<think>hm", " hm</th"])).reading
        #expect(reading.reasoning == "hm hm</th" && reading.text.isEmpty && reading.finish == .stop)
    }

    @Test("A character split over two chunks is whole")
    func surrogates() throws {
        let pieces = [#"{"content":"A "}"#, #"{"content":"bird \ud83d"}"#, #"{"content":"\udc26 and \\ud83d"}"#]
        let data = pieces.map { chunk($0) } + [chunk("{}", finish: #""stop""#)]
        #expect(try hear(data: data).reading.text == #"A bird 🐦 and \ud83d"#)
    }

    @Test("The name of a tool may come in pieces, or again with each piece of the input")
    func names() throws {
        func call(_ name: String?, _ input: String) -> String {
            let name = name.map { #""name":"\#($0)","# } ?? ""
            return chunk(
                #"{"tool_calls":[{"index":0,"function":{\#(name)"arguments":\#(JSON.string(input).text())}}]}"#)
        }
        let end = [chunk("{}", finish: #""tool_calls""#), "[DONE]"]
        #expect(
            try hear(data: [call("read_", ""), call("file", ""), call(nil, "{}")] + end).reading.calls == [
                "call_1 read_file {}"
            ])
        #expect(try hear(data: [call("read", "{"), call("read", "}")] + end).reading.calls == ["call_1 read {}"])
    }

    @Test("The older form of a call is a call")
    func functionCall() throws {
        let data = [
            chunk(#"{"function_call":{"name":"read","arguments":"{\"a\":"}}"#),
            chunk(#"{"function_call":{"arguments":"1}"}}"#), chunk("{}", finish: #""function_call""#), "[DONE]",
        ]
        let reading = try hear(data: data).reading
        #expect(reading.calls == [#"call_1 read {"a":1}"#] && reading.finish == .calls)
    }

    @Test("Calls may come after the finish reason, and count once if they are repeated")
    func lateCalls() throws {
        let call = #"{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}]}"#
        let late = [chunk("{}", finish: #""tool_calls""#), chunk(call), "[DONE]"]
        #expect(try hear(data: late).reading.calls == ["a read {}"])
        let twice = [chunk(call), chunk("{}", finish: #""tool_calls""#), chunk(call), "[DONE]"]
        #expect(try hear(data: twice).reading.calls == ["a read {}"])
    }

    @Test(
        "A proxy's error in the middle of a stream is a failure",
        arguments: [#"{"detail":"upstream is gone"}"#, #"{"message":"upstream is gone"}"#])
    func midstream(_ words: String) throws {
        let reading = try hear(data: [chunk(#"{"content":"half"}"#), words, "[DONE]"]).reading
        #expect(reading.failure == "model.failed" && reading.words == "upstream is gone" && reading.text == "half")
    }

    @Test(
        "Finish reasons are understood in capitals too",
        arguments: [
            ("MAX_TOKENS", ChatAnswer.Finish.length), ("model_length", .length), ("STOP", .stop), ("SAFETY", .refused),
        ])
    func words(_ word: String, _ finish: ChatAnswer.Finish) throws {
        let data = [chunk(#"{"content":"ok"}"#, finish: #""\#(word)""#), "[DONE]"]
        #expect(try hear(data: data).reading.finish == finish)
    }

    @Test("Only finish reasons that clients know are written")
    func wordsOut() {
        let answer = ChatAnswer(
            start: ChatStart(), message: Message(.assistant, "ok"), finish: .other("abort"), usage: Usage())
        let reply = OpenAIWriter(id: "x", created: 1, model: "m").reply(answer)
        #expect(reply["choices"]?[0]?["finish_reason"] == "stop")
    }

    @Test("A request for any JSON object is written as such, for servers without schemas")
    func jsonObject() throws {
        let body = #"{"model":"m","messages":[{"role":"user","content":"a"}],"response_format":{"type":"json_object"}}"#
        let request = try OpenAIRequest(parsing: Array(body.utf8))
        #expect(try OpenAIDialect().body(of: request.chat)["response_format"] == ["type": "json_object"])
    }

    @Test("A message without content is sent unchanged")
    func emptyMessages() throws {
        let messages: JSON = [["role": "user", "content": ""], ["role": "tool", "tool_call_id": "a", "content": "b"]]
        let request = try OpenAIRequest(["model": "m", "messages": messages])
        #expect(try OpenAIDialect(.compatible).body(of: request.chat)["messages"]?.array?.count == 2)
    }
}
