import Capabilities
import CoreTesting
import FileKit
import HostKit
import JSON
import Testing

@Suite("The data on this machine")
struct DataActionsTests {
    private func withStores(_ body: (inout Bench) async throws -> Void) async throws {
        try await withBench(StoreFeature.self) { bench in
            bench.options.settings = ["store.folder=\(bench.home)/kept"]
            try bench.write("one two", to: "\(bench.home)/kept/first")
            try bench.write("three", to: "\(bench.home)/kept/second")
            try await body(&bench)
        }
    }

    @Test("is listed, also where there is none yet") func list() async throws {
        try await withStores { bench in
            try Files.remove("\(bench.home)/kept/second")
            let rows = try await bench.perform("data.list").json
            #expect(rows[0]?["id"] == "store.first")
            #expect(rows[0]?["size"] == 7)
            #expect(rows[1]?["id"] == "store.second")
            #expect(rows[1]?["size"] == nil)
        }
    }

    @Test("is checked, and damage ends with 1") func check() async throws {
        try await withStores { bench in
            let sound = try await bench.perform("data.check")
            #expect(sound.exit == .done)
            #expect(sound.json[1] == ["store": "store.second", "state": "ok", "damage": []])
            try bench.write("damage", to: "\(bench.home)/kept/first")
            let damaged = try await bench.perform("data.check", ["stores": ["store.first"]])
            #expect(damaged.exit == .failed)
            #expect(damaged.json == [["store": "store.first", "state": "damaged", "damage": ["a damaged word"]]])
            #expect(bench.output.progress.contains { $0.activity.contains("store.first") })
        }
    }

    @Test("is saved into a new folder and comes back from there, when the person agrees") func backupAndRestore()
        async throws
    {
        try await withStores { bench in
            let folder = "\(bench.home)/saved"
            try await bench.perform("data.backup", ["folder": .string(folder)])
            try bench.write("other", to: "\(bench.home)/kept/first")

            let unasked = await failure { try await bench.perform("data.restore", ["folder": .string(folder)]) }
            #expect(unasked?.exit == .unanswered)
            bench.answers = ["confirm.data.restore": false]
            let declined = await failure { try await bench.perform("data.restore", ["folder": .string(folder)]) }
            #expect(declined?.code == "interaction.declined")
            #expect(try bench.read("\(bench.home)/kept/first") == "other")

            bench.answers = ["confirm.data.restore": true]
            let rows = try await bench.perform("data.restore", ["folder": .string(folder)]).json
            #expect(rows.array?.count == 2)
            #expect(try bench.read("\(bench.home)/kept/first") == "one two")
        }
    }

    @Test("is never saved over an older copy") func notEmpty() async throws {
        try await withStores { bench in
            try bench.write("precious", to: "\(bench.home)/saved/store.first.backup")
            let problem = await failure {
                try await bench.perform("data.backup", ["folder": .string(bench.home + "/saved")])
            }
            #expect(problem?.message.contains("is not empty") == true)
            #expect(try bench.read("\(bench.home)/saved/store.first.backup") == "precious")
        }
    }

    @Test("is not restored from where no copy is") func noCopy() async throws {
        try await withStores { bench in
            try bench.write("x", to: "\(bench.home)/saved/store.first.backup")
            for arguments: JSONObject in [
                ["folder": .string(bench.home + "/nowhere")],
                ["folder": .string(bench.home + "/saved"), "stores": ["store.first", "store.second"]],
            ] {
                let problem = await failure { try await bench.perform("data.restore", arguments, isAgreed: true) }
                #expect(problem?.code == "host.no-file")
            }
            #expect(try bench.read("\(bench.home)/kept/first") == "one two")
        }
    }

    @Test("gives back what it does not need") func compact() async throws {
        try await withStores { bench in
            let rows = try await bench.perform("data.compact").json
            #expect(rows == [["store": "store.first", "freed": 1], ["store": "store.second", "freed": 0]])
        }
    }

    @Test("of a store that is not there is refused with the nearest") func unknown() async throws {
        try await withStores { bench in
            let problem = await failure { try await bench.perform("data.check", ["stores": ["store.frist"]]) }
            #expect(problem?.message.contains("did you mean 'store.first'?") == true)
            #expect(problem?.exit == .usage)
        }
    }
}
