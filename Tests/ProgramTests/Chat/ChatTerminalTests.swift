import HTTPTesting
import Synchronization
import Testing

@Suite("Conversation on a terminal", .timeLimit(.minutes(5)))
struct ChatTerminalTests {
    @Test("Markdown is drawn, and commands are understood")
    func console() async throws {
        try await ChatHome.with(answer: "It is **bold** and\n\n- one\n- two\n") { home in
            try await Conversation.with(
                .martlet, "$M chat; echo code $?", home: home.path, adding: home.variables
            ) { talk in
                try await talk.wait(for: "/help lists the commands")
                try await talk.press("hello\r")
                try await talk.wait(for: "bold")
                try await talk.wait(for: "two")
                #expect(!talk.shown.contains("**bold**"))
                try await talk.press("/save\r")
                try await talk.wait(for: "saved as ")
                try await talk.press("/nwe\r")
                try await talk.wait(for: "did you mean")
                try await talk.press("/quit\r")
                try await talk.wait(for: "code 0")
            }
            #expect(try await home.stored() == ["user: hello", "assistant: It is **bold** and\n\n- one\n- two\n"])
        }
    }

    @Test(
        "The conversation continues after Ctrl-C, and keeps the answer and the text typed ahead",
        arguments: [false, true])
    func stop(isTypedAhead: Bool) async throws {
        try await ChatHome.with { connection in
            guard connection.number == 0 else { return try connection.answer(streaming: ["Better."]) }
            try connection.begin(["This is too long"])
            try connection.stall()
        } _: { home in
            try await Conversation.with(
                .martlet, "trap : INT; $M chat; echo code $?", home: home.path, adding: home.variables
            ) { talk in
                try await talk.wait(for: "/help lists the commands")
                try await talk.press("hello\r")
                try await talk.wait(for: "too long")
                if isTypedAhead { try await talk.press("short please\r") }
                try await talk.press("\u{3}")
                try await home.server.until { $0.connections.first?.peerLeft == true }
                if !isTypedAhead { try await talk.press("short please\r") }
                try await talk.wait(for: "Better.")
                try await talk.press("/quit\r")
                try await talk.wait(for: "code 0")
            }
            #expect(
                try await home.stored() == [
                    "user: hello", "assistant: This is too long (stopped)", "user: short please", "assistant: Better.",
                ])
        }
    }

    @Test("Text typed during an answer is not shown, and becomes the next message")
    func typedMeanwhile() async throws {
        let isTyped = Signal()
        try await ChatHome.with { connection in
            guard connection.number == 0 else { return try connection.answer(streaming: ["Better."]) }
            try connection.begin(["First part.\n\n"])
            while !isTyped.isGiven { try connection.pause(.milliseconds(2)) }
            try connection.send(
                ScriptedConnection.piece("Second part.\n\n")
                    + "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
        } _: { home in
            try await Conversation.with(
                .martlet,
                "tty >tty; stty -g >before; $M chat; echo code $?; stty -g >after; cmp before after && echo same",
                home: home.path, adding: home.variables
            ) { talk in
                try await talk.wait(for: "/help lists the commands")
                try await talk.press("hello\r")
                try await talk.wait(for: "First part.")
                let modes = try await home.shell("stty -a -F $(cat tty)").output
                // Ctrl-C works as usual; typed text waits for the next message, and need not be a whole line.
                for mode in [" -echo ", " -icanon ", "isig "] { #expect(modes.contains(mode), "\(modes)") }
                try await talk.press("typed ahead\r")
                isTyped.give()
                let between = try await talk.wait(for: "Second part.")
                #expect(!between.contains("typed"), "\(between)")
                try await talk.wait(for: "Better.")
                try await talk.press("/quit\r")
                try await talk.wait(for: "code 0")
                try await talk.wait(for: "same")
            }
            #expect(
                try await home.stored() == [
                    "user: hello", "assistant: First part.\n\nSecond part.\n\n", "user: typed ahead",
                    "assistant: Better.",
                ])
        }
    }

    @Test(
        "Prepared messages are sent, and then the conversation ends",
        arguments: ["\"one\"", "[\"one\", \"two\", \"/save\"]", "[\"one\", \"/quit\", \"two\"]"])
    func answers(given: String) async throws {
        try await ChatHome.with(answer: "Yes.") { home in
            try write("{\"chat.message\": \(given)}", to: "\(home.path)/answers.json")
            try await Conversation.with(
                .martlet, "$M chat --answers answers.json; echo code $?", home: home.path, adding: home.variables
            ) { talk in
                try await talk.wait(for: "code 0")
            }
            let expected = given.contains("save") ? ["one", "two"] : ["one"]
            #expect(try await home.stored() == expected.flatMap { ["user: \($0)", "assistant: Yes."] })
        }
    }

    @Test("The conversation ends with the input")
    func end() async throws {
        try await ChatHome.with(answer: "Yes.") { home in
            try await Conversation.with(
                .martlet, "$M chat; echo code $?", home: home.path, adding: home.variables
            ) { talk in
                try await talk.wait(for: "/help lists the commands")
                try await talk.press("\u{4}")
                try await talk.wait(for: "code 0")
            }
            #expect(home.server.record.requests.isEmpty)
        }
    }

    @Test("The model may use Martlet's own read-only actions without a question")
    func tools() async throws {
        try await ChatHome.with { connection in
            let isFirst = connection.number == 0
            guard isFirst else { return try connection.answer(streaming: ["You run the test."]) }
            try connection.receiveRequest()
            let call = #"{"index":0,"id":"c","type":"function","function":{"name":"version","arguments":"{}"}}"#
            try connection.send(
                "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
                    + "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"tool_calls\":[\(call)]},"
                    + "\"finish_reason\":null}]}\n\n"
                    + "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n"
                    + "data: [DONE]\n\n")
        } _: { home in
            let run = try await home.martlet("ask", "--tools", "Which version?")
            #expect(run.code == 0 && run.output == "You run the test.\n", "\(run.errors)")
            #expect(run.errors == "version\n", "\(run.errors)")
            let second = home.server.record.requests.last.map { String(decoding: $0.body, as: UTF8.self) } ?? ""
            #expect(second.contains(#""role":"tool""#) && second.contains("libcurl"), "\(second.suffix(600))")
        }
    }
}

/// Something that one side of a test waits for.
private final class Signal: Sendable {
    private let given = Atomic(false)

    var isGiven: Bool { given.load(ordering: .acquiring) }

    func give() { given.store(true, ordering: .releasing) }
}
