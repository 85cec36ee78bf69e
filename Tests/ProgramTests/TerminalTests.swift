import Testing

@Suite("On a terminal the program", .timeLimit(.minutes(5)))
struct TerminalTests {
    @Test(
        "asks before it destroys, and only a clear yes is one",
        arguments: [
            ("y\n", "wiped", "code 0"), ("YES\n", "wiped", "code 0"),
            ("n\n", "nothing was changed", "code 1"),
            ("\n", "nothing was changed", "code 1"),
        ])
    func confirm(keys: String, answer: String, code: String) async throws {
        try await withHome { home in
            try await Conversation.with(.bench, "$M lab wipe; echo code $?", home: home) { talk in
                try await talk.wait(for: "[y/N]")
                try await talk.press(keys)
                try await talk.wait(for: code)
                #expect(talk.shown.contains("Wipe the table. Continue?") && talk.shown.contains(answer))
            }
        }
    }

    @Test("asks even when its output goes elsewhere, and not when it may not") func piped() async throws {
        try await withHome { home in
            try await Conversation.with(
                .bench, "$M lab wipe >out; echo code $?; cat out; $M lab wipe --no-input; echo end $?", home: home
            ) { talk in
                try await talk.wait(for: "[y/N]")
                try await talk.press("y\n")
                try await talk.wait(for: "code 0")
                try await talk.wait(for: "end 6")
                #expect(talk.shown.contains("wiped"))
            }
        }
    }

    @Test("ends a question with its own mark and no other") func mark() async throws {
        try await withHome { home in
            try await Conversation.with(.bench, "$M --color never lab ask; echo code $?", home: home) { talk in
                let asked = try await talk.wait(for: "What is your name? ")
                #expect(!asked.contains("?:"))
                try await talk.press("Ada\n")
                try await talk.wait(for: "hello Ada")
                try await talk.wait(for: "code 0")
            }
        }
    }

    @Test("takes a secret without showing it") func secret() async throws {
        try await withHome { home in
            try await Conversation.with(.bench, "$M lab login; echo code $?", home: home) { talk in
                try await talk.wait(for: "The access token")
                try await talk.press("hunter2\n")
                try await talk.wait(for: "code 0")
                #expect(talk.shown.contains("has 7 characters"))
                #expect(!talk.shown.contains("hunter2"))
            }
        }
    }

    @Test("puts the terminal back when it is interrupted at a secret") func interrupted() async throws {
        try await withHome { home in
            let script =
                "trap : INT; stty -g >before; $M lab login; echo code $?; stty -g >after; cmp before after && echo same"
            try await Conversation.with(.bench, script, home: home) { talk in
                try await talk.wait(for: "The access token")
                try await talk.press("\u{03}")
                try await talk.wait(for: "code 130")
                try await talk.wait(for: "same")
            }
        }
    }

    @Test("is stopped by Ctrl-Z at a question, gives the terminal back, and asks on")
    func stopped() async throws {
        try await withHome { home in
            let script =
                "set -m; stty -g >before; $M lab wipe; stty -g >stopped; cmp before stopped && echo same; fg; "
                + "echo code $?; stty -g >after; cmp before after && echo again"
            try await Conversation.with(.bench, script, home: home) { talk in
                try await talk.wait(for: "[y/N]")
                try await talk.press("\u{1A}")
                try await talk.wait(for: "same")
                try await talk.wait(for: "[y/N]")
                try await talk.press("y\n")
                try await talk.wait(for: "code 0")
                try await talk.wait(for: "again")
            }
        }
    }

    @Test("shows how far it is, and takes that away again") func progress() async throws {
        try await withHome { home in
            try await Conversation.with(.bench, "trap : INT; $M lab wait; echo code $?", home: home) { talk in
                try await talk.wait(for: "waiting for the end")
                try await talk.press("\u{03}")
                let rest = try await talk.wait(for: "code 130")
                #expect(rest.contains("\r\u{1B}[K"))
            }
            let piped = try await Program.bench.run(["lab", "wait", "--timeout", "50ms"], home: home)
            #expect(!piped.errors.contains("waiting for the end"))
            #expect(!piped.errors.contains("\u{1B}"))
        }
    }

    @Test("asks the terminal for its background when it draws the first colour, and remembers that it is not told")
    func background() async throws {
        try await withHome { home in
            let script =
                "$M help; $M version --color never; echo plain; $M features; echo first; $M features; echo second"
            try await Conversation.with(.martlet, script, home: home) { talk in
                let plain = try await talk.wait(for: "plain")
                #expect(!plain.contains("]11;?"))
                let first = try await talk.wait(for: "first")
                #expect(first.contains("\u{1B}]11;?\u{1B}\\\u{1B}[c"))
                let second = try await talk.wait(for: "second")
                #expect(!second.contains("]11;?"))
            }
        }
    }

    @Test("ends the lines of errors and notices between words") func wrapped() async throws {
        try await withHome { home in
            let script = "stty rows 24 cols 40; $M --color never runs show nosuch; $M --color never chat list; echo end"
            try await Conversation.with(.martlet, script, home: home) { talk in
                try await talk.wait(for: "end\r\n")
                let lines = talk.shown.split(whereSeparator: \.isNewline).map(String.init)
                let ends = [
                    "martlet: there is no run 'nosuch';", "'martlet runs list' shows the runs",
                    "no conversation yet; 'martlet chat'", "starts one",
                ]
                for end in ends { #expect(lines.contains(end), "\(lines)") }
            }
        }
    }

    @Test("cuts no line and colours states") func colors() async throws {
        try await withHome { home in
            try await Conversation.with(.martlet, "stty cols 60; $M features; $M help; echo end", home: home) { talk in
                try await talk.wait(for: "end\r\n")
                #expect(talk.shown.contains("\u{1B}["))
            }
            try await Conversation.with(
                .martlet, "$M features; $M versoin; echo end", home: home, adding: ["TERM": "dumb"]
            ) { talk in
                try await talk.wait(for: "end\r\n")
                #expect(!talk.shown.contains("\u{1B}"))
            }
        }
    }
}
