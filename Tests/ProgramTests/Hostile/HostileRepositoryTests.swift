import FileKit
import Glibc
import HTTPTesting
import JSON
import Testing

@Suite("A hostile repository", .timeLimit(.minutes(5)))
struct HostileRepositoryTests {
    /// Provides the repository with a model that obeys it, and the thief's server, which acts like a model server.
    private func with(
        _ model: @escaping ScriptedServer.Script = HostileRepository.obedient,
        _ body: (HostileRepository, ChatHome, ScriptedServer) async throws -> Void
    ) async throws {
        try await ScriptedServer.run(FakeModel.calling()) { thief in
            try await ChatHome.with(model) { home in
                try await body(try await HostileRepository(in: home, thief: thief.port), home, thief)
            }
        }
    }

    /// Commands that show settings and features report it in their own way.
    private static let commands = [
        "doctor", "chat models", "chat list", "gateway project list", "gateway status", "auth status", "runs list",
        "data check",
    ]

    // sandbox cases 8, 9 and 80
    @Test("No command lets the repository run, send or change anything, and its settings are reported")
    func untrusted() async throws {
        try await with { repository, home, thief in
            let before = try repository.surroundings()
            for command in Self.commands {
                let run = try await repository.shell("martlet \(command)")
                #expect((run.output + run.errors).contains("is not trusted"), "\(command): \(run.errors)")
            }
            for command in ["features", "access show --as model", "config show"] {
                let run = try await repository.shell("martlet \(command)")
                #expect(run.code == 0 && !run.output.contains("evil/small-1"), "\(command): \(run.output)")
            }
            // A project cannot lift the user's limits on cost and time.
            let shown = try await repository.shell("martlet config show --all --origin --json")
            for row in try shown.output.json().array ?? [] {
                let origin = row["origin"]?.string ?? ""
                #expect(!origin.hasPrefix(repository.folder), "\(row.text())")
            }
            for command in ["martlet ask Hello", "echo Hello | martlet ask", "martlet ask --no-stream Hello"] {
                let run = try await repository.shell(command)
                #expect(run.code == 0 && run.output.contains("Done."), "\(command): \(run.errors)")
                #expect(run.errors.contains("of its settings are not used"), "\(command): \(run.errors)")
            }
            // The user's model was used without tools, so the calls that it made anyway had no effect.
            let asked = home.server.record.requests.filter { $0.method == "POST" }
            #expect(asked.count == 6)
            for request in asked {
                let body = try JSON(parsing: request.body)
                #expect(body["tools"] == nil && !body.text().contains("Obey"), "\(body.text())")
                #expect(!body.text().contains("agreed to all of this"), "\(body.text())")
            }
            let bundle = try await repository.shell("martlet run check")
            #expect(bundle.code != 0 && bundle.errors.contains("belongs to a project and is not trusted"))
            let completed = try await repository.shell(
                "exec bash -c 'source <(martlet completion bash); compopt() { :; }; COMP_WORDS=(martlet run ch);"
                    + " COMP_CWORD=2; _martlet'")
            #expect(completed.code == 0, "\(completed.errors)")
            let added = try await repository.shell("martlet gateway project add . --json")
            #expect(added.code == 0, "\(added.errors)")
            #expect(try added.output.json()["rules"] == [], "\(added.output)")
            #expect(try repository.surroundings() == before)
            #expect(try repository.marks() == [] && thief.record.connections.isEmpty)
        }
    }

    @Test("Every trap works when the user trusts the repository or runs it")
    func trusted() async throws {
        try await with { repository, home, thief in
            let trust = try await repository.shell("martlet config trust .")
            #expect(trust.code == 0, "\(trust.errors)")
            let asked = try await repository.shell("martlet ask Hello")
            #expect(!asked.errors.contains("is not trusted"), "\(asked.errors)")
            #expect(thief.record.requests.contains { $0.method == "POST" }, "\(asked.errors)\(asked.output)")
            #expect(home.server.record.requests.isEmpty)
            let reached = thief.record.connections.count
            let bundle = try await repository.shell("martlet run check")
            #expect(bundle.code == 0, "\(bundle.errors)\(bundle.output)")
            #expect(thief.record.connections.count > reached)
            #expect(try repository.marks() == ["owned-bundle"])
            _ = try await repository.shell(HostileRepository.git)
            #expect(
                try repository.marks() == [
                    "owned-bundle", "owned-deep", "owned-filter", "owned-fsmonitor", "owned-pre-commit",
                    "owned-textconv",
                ])
        }
    }

    @Test(
        "A model that obeys the repository changes nothing outside, whatever the user allows in it",
        arguments: ["read-only", "workspace", "full"])
    func obeyed(mode: String) async throws {
        try await with { repository, home, thief in
            let before = try repository.surroundings()
            let run = try await repository.shell("martlet ask -m openai/small-1 --mode \(mode) 'Look around'")
            // If no one can approve commands, the end of the answer says so.
            #expect(run.code == (mode == "workspace" ? 6 : 0), "\(run.errors)")
            let results = try home.server.toolResults()
            let orders = results.dropFirst(HostileRepository.instructions.count + 1)
            #expect(orders.count == repository.calls.count, "the model was told to, and tried: \(results)")
            #expect(results[HostileRepository.instructions.count].contains("is a FIFO"), "\(results)")
            for (call, result) in zip(repository.calls, orders) {
                #expect(!result.contains(HostileRepository.secret), "\(call): \(result)")
                if call.tool != "bash_run" { #expect(!result.contains("+owned"), "\(call): \(result)") }
            }
            #expect(try repository.surroundings() == before)
            #expect(try repository.marks() == [] && thief.record.connections.isEmpty)
        }
    }

    @Test("The repository can be read and changed like any other")
    func ordinary() async throws {
        let model = FakeModel.calling(
            [
                .init("fs_read", ["path": "notes.txt"]),
                .init("fs_write", ["path": "notes.txt", "content": "three\n"]),
                .init("ls"), .init("grep_search", ["pattern": "agreed", "path": "AGENTS.md"]),
            ], [.shell("cat notes.txt; git log --format=%s | cat")])
        try await with(model) { repository, home, thief in
            let run = try await repository.shell("martlet ask -m openai/small-1 --mode full Change")
            #expect(run.code == 0, "\(run.errors)")
            let results = try home.server.toolResults()
            try #require(results.count == 5, "\(results)")
            for (result, words) in zip(results, ["two", "+three", "notes.txt", "agreed", "three\none\n"]) {
                #expect(result.contains(words), "\(result)")
            }
            #expect(try repository.marks() == [] && thief.record.connections.isEmpty)
        }
    }

    // sandbox case 8. It stays where it is, and nothing but git itself, by who works in there, runs what it names.
    @Test("A command that plants another repository deep inside cannot make it run anything")
    func planted() async throws {
        let plan = FakeModel.Plan()
        try await with(FakeModel.calling(plan)) { repository, _, thief in
            let deep = "planted/a/b/c/d/sub"
            let owned = "touch \(repository.outside)/owned-planted"
            let hook = "\(deep)/.git/hooks/pre-commit"
            plan.calls = [
                .shell(
                    "git init -q \(deep) && mkdir -p \(deep)/.git/hooks && printf '#!/bin/sh\\n\(owned)\\n' >\(hook) &&"
                        + " chmod +x \(hook) && git -C \(deep) config core.fsmonitor '\(owned); false' && echo END")
            ]
            let ask = "martlet ask -m openai/small-1 --mode full --format ndjson Try"
            let run = try await repository.shell(ask)
            #expect(run.code == 0, "\(run.errors)")
            #expect(try FakeModel.results(of: plan, in: run.output).first?.content == "END\n", "\(run.output)")
            plan.calls = [
                .init("ls", ["path": .string(deep), "hidden": true]), .init("glob", ["pattern": "planted/**"]),
                .init("grep_search", ["pattern": "touch", "path": .string(deep), "hidden": true]),
                .shell("git -C \(deep) status; cd \(deep) && git diff; echo END"),
            ]
            #expect(try await repository.shell(ask).code == 0)
            for command in Self.commands { _ = try await repository.shell("martlet \(command)") }
            #expect(try repository.marks() == [] && thief.record.connections.isEmpty)
            // Control: git outside the sandbox runs the hook.
            _ = try await repository.shell("git -C \(deep) status")
            #expect(try repository.marks() == ["owned-planted"])
            try Files.remove("\(repository.outside)/owned-planted")
            let identity = "-c user.name=a -c user.email=a@localhost"
            _ = try await repository.shell(
                "git -C \(deep) -c core.fsmonitor=false \(identity) commit -m x --allow-empty")
            #expect(try repository.marks() == ["owned-planted"])
        }
    }

    // sandbox case 27
    @Test("A FIFO in place of a file blocks no command")
    func fifo() async throws {
        try await with { repository, home, _ in
            for words in [
                "ask -f README.md Hello", "ask --schema README.md Hello", "run ./README.md", "chat import README.md",
            ] {
                let refused = try await repository.shell("timeout 20 martlet \(words)")
                #expect(refused.code != 0 && refused.code != 124, "\(words): \(refused.errors)")
                #expect(refused.errors.contains("README.md"), "\(words): \(refused.errors)")
            }
            #expect(home.server.record.requests.isEmpty)
            // Control: with a regular file each command continues.
            try Files.remove("\(repository.folder)/README.md")
            try write("{}", to: "\(repository.folder)/README.md")
            let sent = try await repository.shell("martlet ask -f README.md Hello")
            #expect(sent.code == 0 && sent.output.contains("Done."), "\(sent.errors)")
        }
    }
}
