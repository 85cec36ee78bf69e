import JSON

/// The streams of a scripted server, in OpenAI's format.
enum Answers {
    static let first = chunk(#"{"role":"assistant","content":""}"#)
    static let end = chunk("{}", finish: "stop") + usage + done
    static let callEnd = chunk("{}", finish: "tool_calls") + usage + done
    static let usage =
        #"data: {"id":"c1","model":"small-1","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}}"# + "\n\n"
    static let done = "data: [DONE]\n\n"

    /// An end without usage.
    static let silentEnd = chunk("{}", finish: "stop") + done

    /// A whole answer.
    static func say(_ text: String) -> String { first + piece(text) + end }

    static func piece(_ text: String) -> String { chunk("{\"content\":\(JSON.string(text).text())}") }

    /// An answer that calls these tools.
    static func call(_ names: String..., input: JSON = [:]) -> String {
        let calls = names.enumerated().map { index, name in
            chunk(
                "{\"tool_calls\":[{\"index\":\(index),\"id\":\"call_\(index)\",\"type\":\"function\",\"function\":"
                    + "{\"name\":\"\(name)\",\"arguments\":\(JSON.string(input.text()).text())}}]}")
        }
        return first + calls.joined() + callEnd
    }

    static func error(_ message: String) -> String {
        #"{"error":{"message":\#(JSON.string(message).text()),"type":"error","code":null}}"#
    }

    static func think(_ text: String) -> String { chunk("{\"reasoning_content\":\(JSON.string(text).text())}") }

    /// The end of an answer that was cut off at its limit.
    static let cutEnd = chunk("{}", finish: "length") + usage + done

    /// The end of an answer for this reason.
    static func end(by reason: String) -> String { chunk("{}", finish: reason) + usage + done }

    private static func chunk(_ delta: String, finish: String? = nil) -> String {
        "data: {\"id\":\"c1\",\"model\":\"small-1\",\"choices\":[{\"index\":0,\"delta\":\(delta),\"finish_reason\":"
            + "\(finish.map { "\"\($0)\"" } ?? "null")}]}\n\n"
    }
}
