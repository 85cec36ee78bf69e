import Capabilities
import CoreTesting
import JSON
import MCPKit
import RPCKit
import Registry
import ServeTesting
import Synchronization
import Testing

@testable import ServeFrontend

@Suite("Actions as tools", .timeLimit(.minutes(5)))
struct ToolTests {
    /// What models are offered: with nothing else allowed, a host has no more.
    static let offered = [
        "lab_add", "lab_approve", "lab_color", "lab_count", "lab_echo", "lab_edit", "lab_fail", "lab_leak", "lab_long",
        "lab_name", "lab_nothing", "lab_trip", "lab_trust", "lab_unlock", "lab_wait",
    ]

    @Test("A host sees what models are offered, as tools with schemas and hints", arguments: Era.allCases)
    func listed(era: Era) async throws {
        let tools = try await ServedLab().host(era) { try await $0.tools() }
        #expect(tools.map(\.name).sorted() == Self.offered)
        let add = try #require(tools.first { $0.name == "lab_add" })
        #expect(add.title == "Add two numbers" && add.summary == "Add two numbers.\n\nNothing is remembered.")
        #expect(add.input["properties"]?["a"]?["type"] == "integer" && add.input["required"] == ["a"])
        #expect(add.output?["properties"]?["terms"]?["items"]?["type"] == "integer")
        #expect(add.hints == MCPTool.Hints(readsOnly: true, destroys: false, isIdempotent: true, reachesOut: false))
        // What gives nothing promises nothing, and what is no object is promised in the modern era only.
        #expect(tools.first { $0.name == "lab_nothing" }?.output == nil)
        #expect(tools.first { $0.name == "lab_echo" }?.output == (era == .modern ? ["type": "string"] : nil))
    }

    @Test(
        "Each thing that is allowed adds its actions and no others",
        arguments: [
            ([.reads], ["lab_file", "lab_inner", "lab_maybe"]),
            ([.writes], ["lab_bump", "lab_clear", "lab_file", "lab_inner", "lab_maybe"]),
            ([.destroys], ["lab_bump", "lab_clear", "lab_file", "lab_inner", "lab_maybe", "lab_wipe"]),
            ([.sends], ["lab_fetch", "lab_file", "lab_inner", "lab_maybe"]),
            (
                [.writes, .sends],
                ["lab_bump", "lab_clear", "lab_fetch", "lab_file", "lab_inner", "lab_maybe", "lab_post"]
            ),
            ([.approves], []),
        ] as [([Allowance], [String])])
    func allowed(allows: [Allowance], more: [String]) async throws {
        let tools = try await ServedLab(allowing: allows).host { try await $0.tools() }
        #expect(tools.map(\.name).sorted() == (Self.offered + more).sorted())
        if let clear = tools.first(where: { $0.name == "lab_clear" }) {
            #expect(
                clear.hints == MCPTool.Hints(readsOnly: false, destroys: true, isIdempotent: nil, reachesOut: false))
        }
        // Only the schema of the tool that has an optional secret shows whether secrets are left out.
        if let maybe = tools.first(where: { $0.name == "lab_maybe" }) { #expect(maybe.input["properties"] == [:]) }
    }

    @Test("What shows conversations is a tool only where they are exposed")
    func conversations() async throws {
        let all = Allowance.allCases
        for (exposes, isThere) in [([.actions], false), ([.actions, .conversations], true)] as [([Exposure], Bool)] {
            for allows in [[], all] {
                let lab = try ServedLab(exposing: exposes, allowing: allows)
                let tools = try await lab.host { try await $0.tools() }
                #expect(tools.contains { $0.name == "lab_talk" } == isThere)
                let answer = try? await ServedLab(exposing: exposes, allowing: allows).host {
                    try await $0.call("lab_talk")
                }
                #expect((answer?.text == "said") == isThere)
            }
        }
    }

    @Test("Results have text and structure, and failures say what to do", arguments: Era.allCases)
    func results(era: Era) async throws {
        let user = HostUser { _ in .decline }
        try await ServedLab().host(era, user) { client async throws in
            _ = try await client.tools()
            let sum = try await client.call("lab_add", ["a": 2, "b": 3])
            #expect(sum.text == #"{"sum":5,"terms":[2,3]}"# && sum.structured == ["sum": 5, "terms": [2, 3]])
            #expect(!sum.isError)
            #expect(try await client.call("lab_echo", ["text": "hi"]).text == "hi")
            #expect(try await client.call("lab_nothing") == MCPResult("done"))
            let failed = try await client.call("lab_fail")
            #expect(failed.isError && failed.text == "the lab is closed; come back tomorrow [lab.failed]")
            #expect(failed.code == "lab.failed")
            let wrong = try await client.call("lab_add", ["a": "x", "c": 1])
            #expect(wrong.isError && wrong.code == "usage.arguments" && wrong.text.contains("a needs a whole number"))
            #expect(await code { try await client.call("lab.add", ["a": 1]) } == RPCError.invalidParams)
            #expect(await code { try await client.call("nothing") } == RPCError.invalidParams)
        }
        // Whatever was promised was kept.
        #expect(user.problems.filter { !$0.hasSuffix("was closed") }.isEmpty)
    }

    @Test("A tool that a host is not offered cannot be called, and can where it is allowed")
    func refused() async throws {
        try await ServedLab().host { client async throws in
            for tool in ["lab_inner", "lab_bump", "lab_wipe", "lab_fetch", "lab_rights", "lab_hidden", "mcp_serve"] {
                #expect(await code { try await client.call(tool) } == RPCError.invalidParams, "\(tool)")
            }
        }
        let lab = try ServedLab(allowing: [.writes])
        try await lab.host { client async throws in
            #expect(try await client.call("lab_inner").text == "inner")
            #expect(try await client.call("lab_bump").structured == 1)
            // What destroys only with a flag is refused with it, in words that fit a host.
            let all = try await client.call("lab_clear", ["all": true])
            #expect(all.code == "access.denied" && !all.text.contains("permissions."), "\(all.text)")
            #expect(try await client.call("lab_clear").isError == false)
        }
        #expect(lab.state.counts.destroyed == 0 && lab.state.counts.written == 2)
    }

    @Test("What changes the rights of others is done by no host, whatever it is allowed")
    func rights() async throws {
        let lab = try ServedLab(exposing: Exposure.allCases, allowing: Allowance.allCases)
        try await lab.host(.modern, HostUser.sayingYes()) { client async throws in
            #expect(await code { try await client.call("lab_rights") } == RPCError.invalidParams)
            #expect(try await client.tools().allSatisfy { !$0.name.hasPrefix("mcp_") && $0.name != "lab_login" })
        }
        #expect(lab.state.counts.granted == 0)
    }

    @Test("Files are opened below the folders that are given, and nowhere else")
    func folders() async throws {
        try await TemporaryDirectory.run { folder in
            try await ServedLab(allowing: [.reads]).host { client async throws in
                #expect(try await client.call("lab_file", ["file": .string(folder + "/a")]).code == "access.denied")
            }
            try await ServedLab(allowing: [.reads], folders: [folder]).host { client async throws in
                #expect(try await client.call("lab_file", ["file": .string(folder + "/a")]).text == folder + "/a")
                #expect(try await client.call("lab_file", ["file": "/etc/passwd"]).code == "access.denied")
                let up = try await client.call("lab_file", ["file": .string(folder + "/../x")])
                #expect(up.code == "access.denied")
                // The standard input belongs to the host, which speaks the protocol there.
                #expect(try await client.call("lab_file", ["file": "-"]).code == "usage.arguments")
            }
        }
    }

    @Test("Secrets do not leave, and are not taken", arguments: Era.allCases)
    func secrets(era: Era) async throws {
        let user = HostUser { _ in .decline }
        try await ServedLab(allowing: [.reads]).host(era, user) { client async throws in
            if era == .legacy { try await client.setLogLevel(.info) }
            let told = Mutex([MCPProgress]())
            let leak = try await client.call("lab_leak")
            #expect(leak.structured == ["text": "the secret is ‹redacted›", "words": ["‹redacted›", "nothing"]])
            #expect(!leak.text.contains(LabSecret.text))
            let count = try await client.call("lab_count", ["to": 3]) { step in told.withLock { $0.append(step) } }
            #expect(count.text == "1 2 3 ")
            let steps = told.withLock { $0 }
            #expect(steps.map(\.value) == [1, 2, 3] && steps.allSatisfy { $0.total == 3 })
            #expect(steps.allSatisfy { $0.message == "counting ‹redacted›" })
            if era == .legacy {
                try await user.wait { !$0.logs.isEmpty }
                #expect(user.logs.first?.data == "counted with ‹redacted›")
            }
            let given = try await client.call("lab_maybe", ["password": "x"])
            #expect(given.isError && given.code == "usage.arguments")
            #expect(try await client.call("lab_maybe").text == "out")
        }
    }

    @Test("A result that is too large is refused with the name of the limit")
    func large() async throws {
        try await ServedLab(settings: "{serve: {'result-limit': '2KiB'}}").host { client async throws in
            let long = try await client.call("lab_long", ["bytes": 5_000])
            #expect(
                long.code == "serve.too-large" && long.text.contains("serve.result-limit is 2.0 KiB"), "\(long.text)")
            #expect(try await client.call("lab_long", ["bytes": 2_000]).text.utf8.count == 2_000)
        }
    }

    @Test("Progress that comes too often is left out, and what needs a terminal is refused")
    func bounds() async throws {
        try await ServedLab().host { client in
            let told = Mutex(0)
            let count = try await client.call("lab_count", ["to": 2_000]) { _ in told.withLock { $0 += 1 } }
            #expect(count.text.hasSuffix(" 2000 ") && (1..<1_000).contains(told.withLock { $0 }))
            #expect(try await client.call("lab_edit").code == "serve.not-for-hosts")
        }
    }

    // MARK: Ends

    @Test("A call that is cancelled ends its action, and so does a host that is gone", arguments: Era.allCases)
    func cancelled(era: Era) async throws {
        let lab = try ServedLab()
        try await lab.host(era) { client async throws in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { _ = try await client.call("lab_wait") }
                try await lab.state.wait { $0.waiting == 1 }
                group.cancelAll()
            }
            try await lab.state.wait { $0.cancelled == 1 }
            #expect(try await client.call("lab_echo", ["text": "on"]).text == "on")
        }
        do {
            try await lab.host(era) { client async throws in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { _ = try await client.call("lab_wait") }
                    try await lab.state.wait { $0.waiting == 2 }
                    client.close()
                    try await group.waitForAll()
                }
            }
            Issue.record("the call went on")
        } catch let error as MCPError {
            #expect(error.kind == .closed)
        }
        try await lab.state.wait { $0.cancelled == 2 }
    }

    @Test("An action that takes too long is cancelled, and the limit is named")
    func late() async throws {
        let lab = try ServedLab(settings: "{serve: {'call-limit': '20s'}}")
        try await lab.host { client async throws in
            async let result = client.call("lab_wait")
            try await lab.state.wait { $0.waiting == 1 }
            await lab.test.clock.waitForSleepers()
            lab.test.clock.advance(by: .seconds(21))
            #expect(try await result.code == "host.timed-out")
        }
        try await lab.state.wait { $0.cancelled == 1 }
    }

    @Test("Rights that are withdrawn end with the next call")
    func withdrawn() async throws {
        let lab = try ServedLab()
        try await lab.host { client async throws in
            #expect(try await client.call("lab_echo", ["text": "hi"]).text == "hi")
            lab.limits.withdraw()
            let late = try await client.call("lab_echo", ["text": "hi"])
            #expect(late.isError && late.text.contains("withdrawn"), "\(late.text)")
        }
    }

    @Test("A thousand calls are answered side by side, each with its own result", arguments: Era.allCases)
    func many(era: Era) async throws {
        try await ServedLab(settings: "{serve: {requests: 2000}}").host(era, atOnce: 2_000) { client async throws in
            let sums = try await withThrowingTaskGroup(of: Int?.self) { group in
                for number in 0..<1_000 {
                    group.addTask {
                        try await client.call("lab_add", ["a": .int(number), "b": 0]).structured?["sum"]?.int
                    }
                }
                return try await group.reduce(into: Set<Int?>()) { $0.insert($1) }
            }
            #expect(sums == Set(0..<1_000))
        }
    }

    @Test("More requests than the setting allows are refused, and the rest is answered")
    func tooMany() async throws {
        let lab = try ServedLab(settings: "{serve: {requests: 2}}")
        try await lab.host(.legacy) { client async throws in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<2 { group.addTask { _ = try await client.call("lab_wait") } }
                try await lab.state.wait { $0.waiting == 2 }
                #expect(await code { try await client.call("lab_echo", ["text": "hi"]) } == RPCError.internalError)
                group.cancelAll()
            }
            try await lab.state.wait { $0.cancelled == 2 }
        }
    }

    @Test("A host is told when the settings change what it is offered", arguments: Era.allCases)
    func changed(era: Era) async throws {
        let lab = try ServedLab()
        let user = HostUser { _ in .decline }
        try await lab.host(era, user) { client async throws in
            _ = try await client.tools()
            // Nobody says when a host of the modern era has begun to listen.
            for screens in 2... {
                try lab.test.change(settings: "{serve: {screens: \(screens)}}")
                // Nobody looks for changes of the settings while nothing is done.
                _ = try await client.call("lab_echo", ["text": "hi"])
                if try await user.hears({ $0.changes.contains(.tools) }) { break }
            }
            #expect(Set(user.changes) == [.tools])
        }
    }
}
