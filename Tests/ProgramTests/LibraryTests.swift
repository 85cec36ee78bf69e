import FileKit
import JSON
import ProcessKit
import Testing

@Suite("The libraries of the program", .timeLimit(.minutes(5)))
struct LibraryTests {
    @Test(
        "are not all loaded by a command that sends nothing",
        arguments: [["version"], ["help"], ["config", "show"], ["features"], ["chat", "list"]])
    func unsent(_ words: [String]) async throws {
        try await withHome { home in
            let run = try await Program.martlet.run(
                words, home: home, adding: ["LD_DEBUG": "files", "LD_DEBUG_OUTPUT": "\(home)/loader"])
            #expect(run.code == 0, "\(run.errors)")
            let loaded = try Files.list(home).filter { $0.name.hasPrefix("loader") }.map {
                String(decoding: try Files.read("\(home)/\($0.name)", limit: 1 << 24), as: UTF8.self)
            }.joined()
            #expect(loaded.contains("libsqlite3.so"))
            #expect(!loaded.contains("libcurl.so"), "\(words) opens libcurl")
            #expect(!loaded.contains("libcmark-gfm"), "\(words) opens libcmark-gfm")
            // A database that is made has digests of the steps in it.
            if words != ["chat", "list"] { #expect(!loaded.contains("libcrypto.so"), "\(words) opens libcrypto") }
        }
    }

    @Test(
        "are few: the runtime is in the released program, with what it needs, and nothing is exported",
        .enabled(if: Environment.snapshot()["MARTLET_TEST_PROGRAMS"] != nil, "for the released program only"))
    func linked() async throws {
        try await withHome { home in
            let run = try await Program.martlet.shell("readelf --wide --dynamic --dyn-syms $M", home: home)
            #expect(run.output.contains("[libsqlite3.so.0]"), "\(run.errors)")
            for name in ["libcurl", "libssl", "libcrypto", "libcmark-gfm", "libstdc++", "libgcc_s", "libswift"] {
                #expect(!run.output.contains("[\(name)"), "\(name) is linked")
            }
            // Every library would be looked for there first; `make build` has --disable-local-rpath.
            #expect(!run.output.contains("PATH)"), "libraries are looked for beside the program")
            // What the C library wants to see, such as `environ`, is left.
            let exported = run.output.split(separator: "\n").filter {
                $0.contains(" DEFAULT ") && !$0.contains(" UND ")
            }
            #expect(exported.count < 100, "\(exported.count) symbols, such as \(exported.prefix(3))")
        }
    }

    @Test("that cannot be opened are told by the commands that need them, and by the doctor")
    func broken() async throws {
        try await withHome { home in
            try write("not a library", to: "\(home)/lib/libcurl.so.4")
            let variables = ["LD_LIBRARY_PATH": "\(home)/lib"]
            let version = try await Program.martlet.run(["version", "--json"], home: home, adding: variables)
            #expect(version.code == 0 && version.output.contains("libcurl"), "\(version.errors)")
            let ask = try await Program.martlet.run(
                ["ask", "--model", "openai/x", "Hello"], home: home,
                adding: variables.merging(["OPENAI_API_KEY": "none"]) { $1 })
            #expect(ask.code == 2, "\(ask.errors)")
            #expect(ask.errors.contains("libcurl cannot be used: ") && ask.errors.contains("apt install libcurl4"))
            let doctor = try await Program.martlet.run(["doctor", "--json"], home: home, adding: variables)
            let row = try doctor.output.json().array?.first { $0["id"] == "host.libraries" }
            #expect(row?["state"] == "failed", "\(doctor.output)")
            #expect(row?["found"]?.string?.contains("libcurl cannot be used") == true)
        }
    }

    @Test("that draw Markdown are told by the doctor where they cannot be opened")
    func withoutMarkdown() async throws {
        try await withHome { home in
            let notes = try await Program.martlet.shell("readelf --wide --string-dump=.note.dlopen $M", home: home)
            let name = try #require(notes.output.firstMatch(of: /libcmark-gfm-extensions\.so[^"]*/)).output
            try write("not a library", to: "\(home)/lib/\(name)")
            let variables = ["LD_LIBRARY_PATH": "\(home)/lib"]
            let version = try await Program.martlet.run(["version"], home: home, adding: variables)
            #expect(version.code == 0 && version.output.contains("libcmark-gfm"), "\(version.errors)")
            let doctor = try await Program.martlet.run(["doctor", "--json"], home: home, adding: variables)
            let row = try doctor.output.json().array?.first { $0["id"] == "host.libraries" }
            #expect(row?["state"] == "failed", "\(doctor.output)")
            #expect(row?["found"]?.string?.contains("libcmark-gfm cannot be used") == true, "\(doctor.output)")

            // On a terminal with colours the answer is printed as it is, and a bundle does not need the library at all.
            try write("name: b\nsteps: [{action: run.expect, with: {that: true}}]\n", to: "\(home)/b.yaml")
            let line = "$M run b.yaml; $M ask 'repeat: **bold**' --no-save; echo the end"
            let terminal = variables.merging(["TERM": "xterm-256color"]) { $1 }
            try await Conversation.with(.martlet, line, home: home, adding: terminal) { terminal in
                let shown = try await terminal.wait(for: "the end")
                #expect(shown.contains("**bold**") && shown.contains("1 ok"), "\(shown)")
                #expect(!shown.contains("Fatal error"), "\(shown)")
            }
        }
    }

    @Test("of OpenSSL are told too where they cannot be opened, by commands that cannot go on without them")
    func withoutOpenSSL() async throws {
        try await withHome { home in
            try write("not a library", to: "\(home)/lib/libssl.so.3")
            let variables = ["LD_LIBRARY_PATH": "\(home)/lib"]
            let version = try await Program.martlet.run(["version"], home: home, adding: variables)
            #expect(version.code == 0 && version.output.contains("libssl"), "\(version.errors)")
            let doctor = try await Program.martlet.run(["doctor", "--json"], home: home, adding: variables)
            let row = try doctor.output.json().array?.first { $0["id"] == "host.libraries" }
            #expect(row?["state"] == "failed", "\(doctor.output) \(doctor.errors)")
            #expect(row?["found"]?.string?.contains("libssl cannot be used") == true, "\(doctor.output)")
            let token = try await Program.martlet.run(["gateway", "token"], home: home, adding: variables)
            #expect(token.code == 127, "\(token.output)")
            #expect(token.errors.contains("libssl cannot be used: ") && token.errors.contains("apt install libssl3"))
        }
    }
}
